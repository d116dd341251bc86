/** The queue: one writer, transactions in the order of their commit calls (contract 4; spec §1.4 rule 6). */
import assert from "node:assert/strict";
import { rejectsWith } from "../refusal.ts";
import { type ClauseGroup, everywhere, live } from "./clause.ts";
import { invalid, notJson, underway } from "./refusal.ts";
import { erase, fact, id, message, set, usage } from "./samples.ts";

export const queue: ClauseGroup = {
  group: "queue",
  clauses: [
    everywhere(
      "commits in the order of the calls, though nobody waits in between",
      "contract 4",
      async (trial) => {
        const { storage, reference, clock } = trial;
        const calls = Array.from({ length: 100 }, (_, index) => {
          const writes = [
            message(id(index), index === 0 ? null : id(index - 1)),
            fact("last", index),
            // Sizes differ, so that a queue that is no queue has something to overtake.
            fact(`k${index}`, "x".repeat(index % 5 === 0 ? 50_000 : 1)),
          ];
          return { writes, promise: underway(storage.commit({ writes })) };
        });
        for (const { writes, promise } of calls) {
          assert.deepEqual(await promise, reference.apply(writes, clock.now()));
        }
        await trial.revisit();
        await trial.agrees();
      },
    ),

    live("confirms commits in the order of the calls", "contract 4", async (trial) => {
      const confirmed: number[] = [];
      const calls = Array.from({ length: 20 }, async (_, index) => {
        await trial.storage.commit({ writes: [fact("k", "x".repeat(((19 - index) % 4) * 20_000))] });
        confirmed.push(index);
      });
      await Promise.all(calls);
      assert.deepEqual(
        confirmed,
        Array.from({ length: 20 }, (_, index) => index),
      );
    }),

    everywhere("does not let a refusal hold up or change what is behind it", "contract 4", async (trial) => {
      const { storage, reference, clock } = trial;
      const first = [message(id(1), null)];
      const second = [message(id(2), id(1)), usage(id(3), { input: 1 })];
      const third = [set("lane.leaf", "main", id(2)), erase("fact.custom", "absent")];
      const calls = [
        storage.commit({ writes: first }),
        rejectsWith(
          storage.commit({ writes: [fact("k", 1), message(id(1), null)] }),
          invalid("duplicate_id", 1),
        ),
        storage.commit({ writes: second }),
        rejectsWith(storage.commit({ writes: [fact("k", Number.NaN)] }), notJson("/writes/0/value")),
        rejectsWith(storage.commit({ writes: [] }), invalid("empty")),
        rejectsWith(storage.commit({ writes: [message(id(4), id(99))] }), invalid("missing_parent", 0)),
        storage.commit({ writes: third }),
      ] as const;
      const answers = await Promise.all(calls);
      const committed = [first, second, third].map((writes) => reference.apply(writes, clock.now()));
      assert.deepEqual([answers[0], answers[2], answers[6]], committed);
      await trial.revisit();
      await trial.agrees();
    }),

    live(
      "judges each transaction by the state that the ones before it leave",
      "contract 3 and 4",
      async (trial) => {
        const { storage, reference, clock } = trial;
        const root = [message(id(1), null)];
        const refused = [message(id(2), id(1)), message(id(3), id(99))];
        const calls = [
          storage.commit({ writes: root }),
          rejectsWith(storage.commit({ writes: refused }), invalid("missing_parent", 1)),
          // The parent was in the refused transaction: it does not exist.
          rejectsWith(storage.commit({ writes: [message(id(4), id(2))] }), invalid("missing_parent", 0)),
          // The id was in the refused transaction: it is free.
          storage.commit({ writes: [message(id(2), id(1))] }),
          rejectsWith(storage.commit({ writes: [usage(id(2), {})] }), invalid("duplicate_id", 0)),
        ];
        await Promise.all(calls);
        reference.apply(root, clock.now());
        reference.apply([message(id(2), id(1))], clock.now());
        await trial.agrees();
      },
    ),

    live("shows a commit to every read that starts after it was confirmed", "contract 1", async (trial) => {
      const { storage } = trial;
      for (let index = 0; index < 20; index++) {
        const entryId = id(index);
        await storage.commit({
          writes: [message(entryId, null), fact("last", index), usage(id(100 + index), { input: 1 })],
        });
        const [entries, register, ledger, stats] = await Promise.all([
          storage.getEntries([entryId]),
          storage.getRegister("fact.custom", "last"),
          storage.scanUsage({ order: "desc", limit: 1 }),
          storage.getStats(),
        ]);
        assert.deepEqual(
          [entries.has(entryId), register?.value, ledger[0]?.id, stats.messageCount, stats.usage.input],
          [true, index, id(100 + index), index + 1, index + 1],
        );
      }
    }),
  ],
};
