/** Stats: the projection equals the ledger and the count of messages, after every commit (spec §1.6; contract: getStats). */
import assert from "node:assert/strict";
import { zeroUsage } from "../../src/model/index.ts";
import { type ClauseGroup, everywhere } from "./clause.ts";
import { invalid } from "./refusal.ts";
import {
  branchSummary,
  compaction,
  custom,
  erase,
  fact,
  id,
  message,
  set,
  tokens,
  usage,
} from "./samples.ts";

const cost = (input: number) => ({
  input,
  output: input / 2,
  cacheRead: 0.125,
  cacheWrite: 0,
  total: input * 2,
});

export const stats: ClauseGroup = {
  group: "stats",
  clauses: [
    everywhere("are zero for an empty session, without optional fields", "spec §1.6", async (trial) => {
      const found = await (await trial.revisit()).getStats();
      assert.deepEqual(found, { messageCount: 0, usage: zeroUsage() });
    }),

    everywhere("count message entries and nothing else", "spec §1.6", async (trial) => {
      await trial.commit(message(id(1), null), custom(id(2), id(1)), compaction(id(3), id(2)));
      await trial.commit(branchSummary(id(4), id(3), id(1)), message(id(5), id(4)));
      const pending = { role: "user" as const, content: "queued", timestamp: 1 };
      await trial.commit(set("pending.entry", id(6), { type: "message", payload: pending }));
      assert.equal((await (await trial.revisit()).getStats()).messageCount, 2);
    }),

    everywhere("sum every amount of the ledger, costs included", "spec §1.6", async (trial) => {
      await trial.commit(
        usage(id(1), { input: 10, output: 4, cacheRead: 3, cacheWrite: 2, totalTokens: 19, cost: cost(0.5) }),
      );
      await trial.commit(
        usage(id(2), { input: 1, output: 1, cacheRead: 1, cacheWrite: 1, totalTokens: 4, cost: cost(0.25) }),
        usage(id(3), { output: 100, totalTokens: 100 }),
      );
      const found = await (await trial.revisit()).getStats();
      assert.deepEqual(
        found.usage,
        tokens({
          input: 11,
          output: 105,
          cacheRead: 4,
          cacheWrite: 3,
          totalTokens: 123,
          cost: { input: 0.75, output: 0.375, cacheRead: 0.25, cacheWrite: 0, total: 1.5 },
        }),
      );
    }),

    everywhere("sum an optional amount over the rows that have it", "spec §1.6", async (trial) => {
      await trial.commit(usage(id(1), { cacheWrite: 5, cacheWrite1h: 2 }), usage(id(2), { output: 9 }));
      await trial.commit(
        usage(id(3), { output: 7, reasoning: 6 }),
        usage(id(4), { cacheWrite: 3, cacheWrite1h: 1, reasoning: 4 }),
      );
      const { usage: sum } = await (await trial.revisit()).getStats();
      assert.deepEqual([sum.cacheWrite1h, sum.reasoning], [3, 10]);
      await trial.agrees();
    }),

    everywhere(
      "have an optional amount if any row has it, be it 0, and else not",
      "spec §1.6",
      async (trial) => {
        await trial.commit(usage(id(1), { input: 1 }));
        const before = (await trial.storage.getStats()).usage;
        assert.ok(
          !("reasoning" in before) && !("cacheWrite1h" in before),
          "no row has an optional amount yet",
        );
        await trial.commit(usage(id(2), { reasoning: 0 }));
        const after = (await (await trial.revisit()).getStats()).usage;
        assert.deepEqual(after, tokens({ input: 1, reasoning: 0 }));
      },
    ),

    everywhere("take an adjustment with its sign", "spec §1.6", async (trial) => {
      await trial.commit(usage(id(1), { input: 10, cost: cost(1) }));
      await trial.commit(usage(id(2), { input: -4, cost: cost(-0.5) }, { adjustment: true }));
      const { usage: sum } = await (await trial.revisit()).getStats();
      assert.deepEqual([sum.input, sum.cost.total], [6, 1]);
      await trial.agrees();
    }),

    everywhere(
      "hold what a number holds: a row that would take a sum beyond it is refused",
      "contract: refusals; spec §1.6",
      async (trial) => {
        const most = Number.MAX_VALUE;
        const dear = { ...zeroUsage().cost, total: most };
        await trial.commit(usage(id(1), { input: most }));
        await trial.revisit();
        await trial.refuse(
          { writes: [fact("k", 1), usage(id(2), { input: most })] },
          invalid("malformed", 1),
        );
        await trial.refuse(
          { writes: [usage(id(2), { cost: dear }), usage(id(3), { reasoning: 1, cost: dear })] },
          invalid("malformed", 1),
        );
        await trial.commit(
          usage(id(2), { input: -most }, { adjustment: true }),
          usage(id(3), { input: most }),
        );
        await trial.revisit();
        await trial.agrees();
      },
    ),

    everywhere("do not count the usage that entries carry", "spec §1.6", async (trial) => {
      await trial.commit(message(id(1), null), branchSummary(id(2), id(1), id(1)));
      assert.deepEqual((await (await trial.revisit()).getStats()).usage, zeroUsage());
    }),

    everywhere("equal the ledger after every commit and every refusal", "spec §1.6", async (trial) => {
      for (let index = 1; index <= 20; index++) {
        const amounts =
          index % 3 === 0 ? { input: index, reasoning: index } : { output: index, cost: cost(index) };
        await trial.commit(usage(id(index), amounts), message(id(100 + index), null), fact("k", index));
        await trial.refuse(
          { writes: [usage(id(50), { input: 1000 }), message(id(51), null), usage(id(index), {})] },
          invalid("duplicate_id", 2),
        );
        await trial.commit(erase("fact.custom", "k"));
        if (index % 7 === 0) await trial.revisit();
        await trial.agrees();
      }
    }),
  ],
};
