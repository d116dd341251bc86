/** Atomicity: all of a transaction or nothing (contract 1; spec §1.4 rule 1). */
import assert from "node:assert/strict";
import type { Write } from "../../src/model/index.ts";
import { type Clause, type ClauseGroup, everywhere, live } from "./clause.ts";
import { invalid, notJson, underway } from "./refusal.ts";
import { custom, erase, fact, id, message, set, usage } from "./samples.ts";

/** One write of every kind, each of which would be seen if it were applied. */
function everyKind(): Write[] {
  return [
    message(id(10), id(1)),
    usage(id(11), { input: 5 }),
    fact("new", true),
    fact("kept", "overwritten"),
    erase("fact.custom", "doomed"),
  ];
}

/** A last write that must be refused, after writes that are right. */
const BAD_ENDINGS = [
  { what: "an id that exists", write: message(id(1), null), refusal: invalid("duplicate_id", 5) },
  { what: "an id of its own transaction", write: usage(id(10), {}), refusal: invalid("duplicate_id", 5) },
  { what: "a parent that is missing", write: message(id(12), id(99)), refusal: invalid("missing_parent", 5) },
  { what: "a value outside JSON", write: fact("bad", Number.NaN), refusal: notJson("/writes/5/value") },
  {
    what: "a malformed write",
    write: { kind: "register", op: "rename", namespace: "fact.custom", key: "kept" },
    refusal: invalid("malformed", 5),
  },
] as const;

function refusedWhole({ what, write, refusal }: (typeof BAD_ENDINGS)[number]): Clause {
  return everywhere(
    `writes nothing of a transaction that ends with ${what}`,
    "contract 1 and 3",
    async (trial) => {
      await trial.commit(
        message(id(1), null),
        fact("kept", "old"),
        fact("doomed", 1),
        usage(id(2), { input: 1 }),
      );
      await trial.refuse({ writes: [...everyKind(), write] }, refusal);
      await trial.revisit();
      await trial.agrees();
      // What was refused left no claim on its ids either.
      await trial.commit(...everyKind());
      await trial.agrees();
    },
  );
}

export const atomicity: ClauseGroup = {
  group: "atomicity",
  clauses: [
    everywhere("applies the writes of a transaction in their order", "spec §1.4 rule 3", async (trial) => {
      await trial.commit(fact("k", "old"));
      await trial.commit(
        fact("k", "first"),
        erase("fact.custom", "k"),
        fact("k", "last"),
        fact("gone", 1),
        erase("fact.custom", "gone"),
        message(id(1), null),
        custom(id(2), id(1)),
        set("lane.leaf", "main", id(2)),
      );
      const storage = await trial.revisit();
      assert.equal((await storage.getRegister("fact.custom", "k"))?.value, "last");
      assert.equal(await storage.getRegister("fact.custom", "gone"), undefined);
      await trial.agrees();
    }),

    everywhere(
      "moves content from its register into its entry at one moment",
      "spec §1.4 rule 3, §2.2",
      async (trial) => {
        const payload = { role: "user" as const, content: "queued", timestamp: 1 };
        await trial.commit(set("pending.entry", id(1), { type: "message", payload }));
        await trial.commit(message(id(1), null, "queued"), erase("pending.entry", id(1)));
        const storage = await trial.revisit();
        assert.equal(await storage.getRegister("pending.entry", id(1)), undefined);
        assert.equal((await storage.getEntries([id(1)])).size, 1);
        await trial.agrees();
      },
    ),

    ...BAD_ENDINGS.map(refusedWhole),

    everywhere("commits a thousand writes as one", "contract 1", async (trial) => {
      const writes: Write[] = [];
      for (let number = 1; number <= 400; number++) {
        writes.push(message(id(number), number === 1 ? null : id(number - 1)));
        writes.push(usage(id(1000 + number), { input: 1 }));
        if (number % 2 === 0) writes.push(fact(`k${number}`, number));
      }
      await trial.commit(...writes);
      await trial.refuse({ writes: [fact("trace", 1), ...writes] }, invalid("duplicate_id", 1));
      await trial.revisit();
      await trial.agrees();
    }),

    live(
      "shows a transaction to concurrent readers as a whole or not at all",
      "contract 1",
      async (trial) => {
        const commits: Promise<unknown>[] = [];
        const readings: Promise<readonly [number, number]>[] = [];
        for (let batch = 0; batch < 20; batch++) {
          const base = batch * 10;
          const writes = [
            message(id(base), null),
            message(id(base + 1), id(base)),
            message(id(base + 2), id(base + 1)),
          ];
          commits.push(underway(trial.storage.commit({ writes })));
          const found = trial.storage
            .scanEntries({})
            .then((entries) => [entries.length, entries.length % 3] as const);
          readings.push(underway(found));
          await Promise.resolve();
        }
        await Promise.all(commits);
        let shown = 0;
        for (const [count, rest] of await Promise.all(readings)) {
          assert.equal(rest, 0, `a reader saw ${count} entries: a part of a transaction of three`);
          assert.ok(count >= shown, `a later read saw ${count} entries, an earlier one ${shown}`);
          shown = count;
        }
      },
    ),
  ],
};
