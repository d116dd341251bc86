/** Reopening: a session opened again is the session that was closed (spec §1.7, §9.3; contract). */
import assert from "node:assert/strict";
import { seededRandom } from "../../src/foundation/index.ts";
import { REGISTER_NAMESPACES, type RegisterNamespace, type Write } from "../../src/model/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { type Clause, type ClauseGroup, needing } from "./clause.ts";
import { closed, invalid, refuses } from "./refusal.ts";
import { compaction, custom, erase, fact, id, message, usage } from "./samples.ts";

/** Everything that a store answers about its session, for comparing two stores with each other. */
async function answersOf(storage: Storage): Promise<unknown> {
  const entries = await storage.scanEntries({});
  const paths = await Promise.all(entries.map((entry) => storage.scanBranch({ start: entry.id })));
  const registers = await Promise.all(
    REGISTER_NAMESPACES.map((namespace: RegisterNamespace) => storage.listRegisters(namespace)),
  );
  return { entries, paths, registers, usage: await storage.scanUsage({}), stats: await storage.getStats() };
}

function reopened(name: string, body: Clause["body"]): Clause {
  return needing(["survivesReopen"], name, "spec §1.7, §9.3", body);
}

export const reopening: ClauseGroup = {
  group: "reopening",
  clauses: [
    reopened("answers every question as the live store did before it was closed", async (trial) => {
      await trial.commit(
        message(id(1), null),
        fact("k", { a: [null] }),
        usage(id(2), { input: 1, reasoning: 1 }),
      );
      await trial.commit(
        custom(id(3), id(1)),
        compaction(id(4), id(3)),
        message(id(5), id(1)),
        erase("fact.custom", "k"),
      );
      const live = await answersOf(trial.storage);
      assert.deepEqual(await answersOf(await trial.reopen()), live);
    }),

    reopened("changes nothing by being opened: a second time is as the first", async (trial) => {
      await trial.commit(message(id(1), null), fact("k", 1));
      await trial.commit(erase("fact.custom", "k"), fact("l", null));
      const first = await answersOf(await trial.reopen());
      const second = await answersOf(await trial.reopen());
      assert.deepEqual(second, first);
      await trial.agrees();
    }),

    reopened("opens a session in which nothing was ever written, and writes its first", async (trial) => {
      await trial.reopen();
      await trial.reopen();
      await trial.agrees();
      assert.equal((await trial.commit(message(id(1), null))).firstSeq, trial.seq(1));
    }),

    reopened("opens a session that was closed before", async (trial) => {
      const { storage } = trial;
      await trial.commit(message(id(1), null));
      await storage.close();
      await trial.reopen();
      await trial.agrees();
      await refuses(() => storage.getStats(), closed);
    }),

    reopened("opens a session whose last call was refused", async (trial) => {
      await trial.commit(message(id(1), null));
      await trial.refuse({ writes: [fact("k", 1), message(id(1), null)] }, invalid("duplicate_id", 1));
      await trial.reopen();
      await trial.agrees();
    }),

    reopened("opens a session whose registers were all deleted", async (trial) => {
      await trial.commit(fact("k", 1), fact("l", "x".repeat(100_000)));
      await trial.commit(erase("fact.custom", "l"), erase("fact.custom", "k"));
      await trial.reopen();
      await trial.agrees();
      assert.deepEqual((await trial.commit(fact("k", 2))).seqs, [trial.seq(5)]);
    }),

    reopened("loses nothing over a hundred commits with a reopening after every fifth", async (trial) => {
      const random = seededRandom("conformance", "reopening");
      for (let turn = 0; turn < 100; turn++) {
        const writes: Write[] = [];
        for (let count = 1 + random.nextInt(3); count > 0; count--) {
          const number = turn * 10 + count;
          const parent =
            trial.reference.entries[random.nextInt(trial.reference.entries.length + 1)]?.id ?? null;
          const kind = random.nextInt(5);
          if (kind === 0) writes.push(usage(id(number), { input: number }));
          else if (kind === 1) writes.push(fact(`k${random.nextInt(6)}`, number));
          else if (kind === 2) writes.push(erase("fact.custom", `k${random.nextInt(6)}`));
          else writes.push(kind === 3 ? message(id(number), parent) : compaction(id(number), parent));
        }
        // Only an entry leaves a time that a reopened store can hold the clock to.
        if (turn % 5 === 4) writes.push(message(id(turn * 10 + 9), null));
        trial.clock.step(random.nextInt(2000) - 500);
        await trial.commit(...writes);
        if (turn % 5 === 4) {
          await trial.reopen();
          await trial.agrees();
        }
      }
    }),
  ],
};
