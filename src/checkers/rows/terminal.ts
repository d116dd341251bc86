/**
 * Rows of the terminal transaction (spec §3.13) of a run: everything that the operation owned is deleted, the result
 * is recorded, the lane is idle. Structural operations end in `structural.ts`, because they publish content with it.
 */
import { jsonEquals } from "../../foundation/index.ts";
import type { LaneLastResult, OperationState } from "../../model/index.ts";
import { isCancelled, isOnItsLane, isRunning } from "./facts.ts";
import { type PhaseName, RUN_PHASES } from "./phase.ts";
import { type Fact, fact, type Row } from "./row.ts";
import { checkpointOf, runBefore, type Site } from "./site.ts";
import { terminalWrites } from "./steps.ts";

/** `lane.state` keeps its queue and loses its operation. */
export const leavesLaneIdle = fact("the lane is idle and keeps its queue", ({ laneBefore, laneAfter }) => {
  return jsonEquals(laneAfter, { currentOperationId: null, pendingNextRun: laneBefore?.pendingNextRun });
});

/** The result is exactly this, for the operation and the leaf that the transaction leaves. */
export function resultIs(says: string, rest: (site: Site) => object | undefined): Fact {
  return fact(`lane.lastResult is ${says}`, (site) => {
    const expected = rest(site);
    if (expected === undefined) return false;
    return jsonEquals(lastResult(site), {
      operationId: site.operationId,
      kind: site.operation?.intent.kind,
      leafId: leafAfter(site),
      ...expected,
    });
  });
}

/** The result that the transaction writes. */
export function lastResult(site: Site): LaneLastResult | undefined {
  for (const write of site.writes) {
    if (write.kind !== "register" || write.op !== "set") continue;
    if (write.namespace === "lane.lastResult" && write.key === site.lane) return write.value;
  }
  return undefined;
}

/** The lane's leaf when the transaction is through. */
export function leafAfter(site: Site): string | null | undefined {
  let { leaf } = site;
  for (const write of site.writes) {
    if (write.kind === "register" && write.op === "set" && write.namespace === "lane.leaf")
      leaf = write.value;
  }
  return leaf;
}

/** Phases with an intent under a reserved entry id, or with planned calls: they are settled before the end (spec §4.6). */
const OWES_SETTLEMENT: readonly PhaseName[] = [
  "assistant.effect_pending",
  "deferred.effect_pending",
  "tools",
];

const inboxIsEmpty = fact("the inbox is empty", ({ before }) => {
  return before?.kind === "run" && jsonEquals(before.inbox, { steer: [], followUp: [], writes: [] });
});
const writesAreApplied = fact("every deferred write is applied", ({ before }) => {
  return before?.kind === "run" && before.inbox.writes.length === 0;
});

export const TERMINAL_ROWS: readonly Row[] = [
  {
    name: "terminal.completed",
    section: "§3.13",
    says: "nothing is owed: delete, result completed, idle",
    from: ["checkpoint"],
    to: ["gone"],
    writes: terminalWrites,
    holds: [
      isOnItsLane,
      isRunning,
      inboxIsEmpty,
      resultIs("completed, with the final assistant if the checkpoint includes it", (site) => {
        const run = runBefore(site);
        const continuation = checkpointOf(run)?.continuation;
        if (continuation?.kind !== "may_finish") return undefined;
        if (!continuation.includeFinalAssistant) {
          return { outcome: "completed", runCompletion: "terminated_tools" };
        }
        return {
          outcome: "completed",
          runCompletion: "assistant",
          finalAssistantEntryId: run?.latestAssistantEntryId,
        };
      }),
      leavesLaneIdle,
    ],
  },
  {
    name: "terminal.failed",
    section: "§3.13",
    says: "the failure is drained: delete, result failed, idle",
    from: ["failure_drain"],
    to: ["gone"],
    writes: terminalWrites,
    holds: [
      isOnItsLane,
      isRunning,
      inboxIsEmpty,
      resultIs("failed, with the drained error and the newest assistant", ({ before }) => {
        if (before?.kind !== "run" || before.phase.kind !== "failure_drain") return undefined;
        return { outcome: "failed", error: before.phase.error, ...finalAssistant(before) };
      }),
      leavesLaneIdle,
    ],
  },
  {
    name: "terminal.aborted",
    section: "§3.13",
    says: "the cancellation is reconciled: delete, result aborted, idle",
    from: RUN_PHASES.filter((phase) => !OWES_SETTLEMENT.includes(phase)),
    to: ["gone"],
    writes: terminalWrites,
    holds: [
      isOnItsLane,
      isCancelled,
      writesAreApplied,
      resultIs("aborted, with the newest assistant", ({ before }) => {
        return before === undefined ? undefined : { outcome: "aborted", ...finalAssistant(before) };
      }),
      leavesLaneIdle,
    ],
  },
];

/** The member of a result that names the newest assistant, if there is one. */
export function finalAssistant(state: OperationState): { finalAssistantEntryId?: string } {
  if (state.kind !== "run" || state.latestAssistantEntryId === null) return {};
  return { finalAssistantEntryId: state.latestAssistantEntryId };
}
