/** Order: what `seq` and `timestamp` promise (contract 2; spec §1.4 rules 2 and 3). */
import assert from "node:assert/strict";
import { REGISTER_NAMESPACES } from "../../src/model/index.ts";
import { type ClauseGroup, everywhere, live, needing } from "./clause.ts";
import { custom, erase, fact, id, message, usage } from "./samples.ts";

const SECOND_MS = 1000;

export const order: ClauseGroup = {
  group: "order",
  clauses: [
    live(
      "begins a session at seq 1, with registers of its creation or with nothing",
      "contract 2; spec §2.8",
      async (trial) => {
        const seqs: number[] = [];
        for (const namespace of REGISTER_NAMESPACES) {
          for (const { seq } of await trial.storage.listRegisters(namespace)) seqs.push(seq);
        }
        seqs.sort((left, right) => left - right);
        assert.deepEqual(
          seqs,
          Array.from(seqs, (_, index) => index + 1),
        );
        await trial.agrees();
        assert.equal((await trial.commit(fact("k", 1))).firstSeq, seqs.length + 1);
      },
    ),

    live("numbers every write by one more than the one before it", "contract 2", async (trial) => {
      const first = await trial.commit(message(id(1), null), usage(id(2), {}), fact("k", 1));
      assert.deepEqual(
        first.seqs,
        [1, 2, 3].map((number) => trial.seq(number)),
      );
      assert.equal(first.firstSeq, trial.seq(1));
      const second = await trial.commit(erase("fact.custom", "k"));
      assert.deepEqual([second.firstSeq, second.seqs], [trial.seq(4), [trial.seq(4)]]);
    }),

    live(
      "gives the delete of an absent register a seq of its own",
      "contract 2; spec §1.4 rule 5",
      async (trial) => {
        await trial.commit(fact("k", 1));
        const nothing = await trial.commit(erase("fact.custom", "absent"), erase("fact.label", "absent"));
        assert.deepEqual(nothing.seqs, [trial.seq(2), trial.seq(3)]);
        assert.deepEqual((await trial.commit(fact("k", 2))).seqs, [trial.seq(4)]);
        await trial.agrees();
      },
    ),

    everywhere(
      "stamps entries, usage rows and registers with the seq of their own write",
      "contract 2",
      async (trial) => {
        await trial.commit(fact("first", 1));
        await trial.commit(usage(id(1), {}), message(id(2), null), fact("k", 1), custom(id(3), id(2)));
        const storage = await trial.revisit();
        const entries = await storage.getEntries([id(2), id(3)]);
        assert.deepEqual([entries.get(id(2))?.seq, entries.get(id(3))?.seq], [trial.seq(3), trial.seq(5)]);
        assert.deepEqual(
          (await storage.scanUsage({})).map(({ seq }) => seq),
          [trial.seq(2)],
        );
        assert.equal((await storage.getRegister("fact.custom", "k"))?.seq, trial.seq(4));
      },
    ),

    live("takes no seq for a refused transaction", "contract 1 and 2", async (trial) => {
      await trial.commit(message(id(1), null));
      const refused = trial.storage.commit({ writes: [fact("k", 1), message(id(1), null)] });
      await assert.rejects(refused);
      assert.deepEqual((await trial.commit(fact("k", 2))).seqs, [trial.seq(2)]);
    }),

    everywhere(
      "gives all entries of a transaction the clock's time at its commit",
      "contract 2",
      async (trial) => {
        trial.clock.step(7 * SECOND_MS);
        const { timestamp } = await trial.commit(
          message(id(1), null),
          message(id(2), id(1)),
          custom(id(3), null),
        );
        assert.equal(timestamp, trial.clock.now());
        trial.clock.step(SECOND_MS);
        const later = await trial.commit(message(id(4), id(3)));
        const entries = await (await trial.revisit()).scanEntries({});
        assert.deepEqual(
          entries.map((entry) => entry.timestamp),
          [timestamp, timestamp, timestamp, later.timestamp],
        );
        assert.equal(later.timestamp, timestamp + SECOND_MS);
      },
    ),

    everywhere(
      "holds the timestamp at the last committed one while the clock is behind it",
      "contract 2",
      async (trial) => {
        const before = await trial.commit(message(id(1), null));
        trial.clock.step(-3600 * SECOND_MS);
        const held = await trial.commit(message(id(2), id(1)));
        assert.equal(held.timestamp, before.timestamp);
        await trial.revisit();
        trial.clock.step(SECOND_MS);
        const still = await trial.commit(message(id(3), id(2)));
        assert.equal(still.timestamp, before.timestamp);
        trial.clock.step(3600 * SECOND_MS);
        const after = await trial.commit(message(id(4), id(3)));
        assert.equal(after.timestamp, trial.clock.now());
        await trial.agrees();
      },
    ),

    live("does not let a refused transaction move the timestamp", "contract 1 and 2", async (trial) => {
      await trial.commit(message(id(1), null));
      trial.clock.step(SECOND_MS);
      await assert.rejects(trial.storage.commit({ writes: [message(id(1), null)] }));
      trial.clock.step(-SECOND_MS / 2);
      const next = await trial.commit(message(id(2), id(1)));
      assert.equal(next.timestamp, trial.clock.now());
    }),

    needing(
      ["survivesReopen"],
      "goes on counting after reopening where it stopped, trailing deletes included",
      "contract 2",
      async (trial) => {
        await trial.commit(fact("k", 1), fact("l", 1));
        await trial.commit(erase("fact.custom", "k"), erase("fact.custom", "absent"));
        await trial.reopen();
        assert.deepEqual((await trial.commit(fact("k", 2))).seqs, [trial.seq(5)]);
        await trial.agrees();
      },
    ),
  ],
};
