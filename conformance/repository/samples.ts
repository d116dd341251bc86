/**
 * A session to fork and rewrite: two branches under a shared beginning, two lanes beside `main`, every kind of fact, a
 * ledger, and an open operation with queued content on one lane.
 *
 *     1 ── 2 ── 3 ── 4 ── 5      main stands at 5; 3 is a compaction
 *          └─── 6 ── 7           `side` stands at 7, which summarizes the branch left at 5
 *
 * `busy` stands at 2 and runs an operation.
 */
import type { LaneConfiguration, Operation, OperationState, Write } from "../../src/model/index.ts";
import { newLaneWrites, type Session } from "../../src/session/index.ts";
import { branchSummary, compaction, custom, fact, id, message, set, usage } from "../storage/samples.ts";

export const configuration = (modelId: string): LaneConfiguration => ({
  model: { provider: "acme", modelId },
  thinkingLevel: "off",
  activeToolNames: ["read"],
});

/** See the module header. */
export async function grow(session: Session): Promise<void> {
  await session.commit({
    writes: [
      message(id(1), null, "the beginning"),
      message(id(2), id(1), "shared"),
      set("fact.label", id(2), "fork here"),
    ],
  });
  await session.commit({
    writes: [
      compaction(id(3), id(2)),
      usage(id(30), { input: 3, output: 1 }, { entryId: id(3) }),
      custom(id(4), id(3), "note", { n: 4 }),
      message(id(5), id(4), "the end of main"),
      usage(id(31), { input: 5 }, { entryId: id(5) }),
      set("lane.leaf", "main", id(5)),
      set("lane.config", "main", configuration("main-model")),
      set("fact.label", id(5), "end"),
    ],
  });
  await session.commit({
    writes: [
      message(id(6), id(2), "another way"),
      branchSummary(id(7), id(6), id(5)),
      usage(id(32), { input: 7 }),
      ...newLaneWrites("side", id(7), configuration("side-model")),
      set("fact.label", id(7), "side"),
      set("fact.name", "", "the name"),
      fact("null", null),
      fact("list", [1, { a: "b" }]),
      set("lane.lastResult", "side", {
        operationId: id(40),
        kind: "run",
        leafId: id(7),
        finalAssistantEntryId: id(6),
        outcome: "completed",
      }),
    ],
  });
}

/** What only a session that runs something has. */
export function openOperationWrites(): Write[] {
  const operation: Operation = {
    operationId: id(50),
    lane: "busy",
    sourceLeafId: id(2),
    startedAt: 1,
    intent: { kind: "navigation", targetId: id(1), summarize: false },
  };
  const state: OperationState = {
    kind: "navigation",
    control: { status: "running" },
    targetId: id(1),
    summarize: false,
    phase: { kind: "ready_to_commit" },
  };
  return [
    ...newLaneWrites("busy", id(2), configuration("busy-model")),
    set("op.meta", id(50), operation),
    set("op.state", id(50), state),
    set("pending.entry", id(51), {
      type: "message",
      payload: { role: "user", content: "queued", timestamp: 1 },
    }),
    set("lane.state", "busy", { currentOperationId: id(50), pendingNextRun: [id(51)] }),
  ];
}
