/** Closing: seals at once, drains what was admitted, happens once (contract: close; spec §1.5). */
import assert from "node:assert/strict";
import type { Storage } from "../../src/storage/index.ts";
import { type ClauseGroup, live, needing } from "./clause.ts";
import { closed, refuses, underway } from "./refusal.ts";
import { fact, id, message } from "./samples.ts";

const CALLS: Readonly<Record<string, (storage: Storage) => Promise<unknown>>> = {
  commit: (storage) => storage.commit({ writes: [fact("late", 1)] }),
  "commit of a value outside JSON": (storage) => storage.commit({ writes: [fact("late", Number.NaN)] }),
  "commit of nothing": (storage) => storage.commit({ writes: [] }),
  getEntries: (storage) => storage.getEntries([id(1)]),
  "getEntries of nothing": (storage) => storage.getEntries([]),
  getRegister: (storage) => storage.getRegister("fact.custom", "k"),
  listRegisters: (storage) => storage.listRegisters("fact.custom"),
  scanBranch: (storage) => storage.scanBranch({ start: id(1) }),
  "scanBranch of an unknown start": (storage) => storage.scanBranch({ start: id(99) }),
  scanBranchStructure: (storage) => storage.scanBranchStructure({ start: id(1) }),
  scanEntries: (storage) => storage.scanEntries({}),
  scanUsage: (storage) => storage.scanUsage({}),
  getStats: (storage) => storage.getStats(),
};

export const closing: ClauseGroup = {
  group: "closing",
  clauses: [
    live("refuses every commit and every read afterwards", "contract: close", async (trial) => {
      await trial.commit(message(id(1), null), fact("k", 1));
      await trial.storage.close();
      for (const call of Object.values(CALLS)) await refuses(() => call(trial.storage), closed);
    }),

    live("seals at the call, not when it has finished", "contract: close", async (trial) => {
      await trial.commit(message(id(1), null));
      const closing = underway(trial.storage.close());
      for (const call of Object.values(CALLS)) await refuses(() => call(trial.storage), closed);
      await closing;
    }),

    live(
      "is idempotent: every call resolves, and none before the store is closed",
      "contract: close",
      async (trial) => {
        const settled: string[] = [];
        const commit = trial.storage
          .commit({ writes: [fact("k", "x".repeat(100_000))] })
          .then(() => settled.push("commit"));
        const closings = [1, 2, 3].map(() => trial.storage.close().then(() => settled.push("close")));
        await Promise.all([commit, ...closings]);
        assert.deepEqual(settled, ["commit", "close", "close", "close"]);
        await trial.storage.close();
      },
    ),

    live(
      "drains what was admitted: every commit called before it is confirmed",
      "contract: close",
      async (trial) => {
        const commits = Array.from({ length: 30 }, (_, index) =>
          underway(trial.storage.commit({ writes: [message(id(index), null), fact("last", index)] })),
        );
        const closing = underway(trial.storage.close());
        const results = await Promise.all(commits);
        await closing;
        assert.deepEqual(
          results.map(({ firstSeq }) => firstSeq),
          results.map((_, index) => trial.seq(index * 2 + 1)),
        );
      },
    ),

    live("closes a session in which nothing was ever written", "contract: close", async (trial) => {
      await trial.storage.close();
      await refuses(() => trial.storage.getStats(), closed);
    }),

    needing(["survivesReopen"], "has on the medium what it drained", "contract: close", async (trial) => {
      const { storage, reference, clock } = trial;
      const commits = Array.from({ length: 30 }, (_, index) => {
        const writes = [message(id(index), index === 0 ? null : id(index - 1)), fact("last", index)];
        reference.apply(writes, clock.now());
        return storage.commit({ writes });
      });
      await Promise.all([storage.close(), ...commits]);
      await trial.reopen();
      await trial.agrees();
    }),
  ],
};
