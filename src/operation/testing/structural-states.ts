/** Structural work for the tests of this room, beside the runs of `states.ts`: one task, `t`, in any phase. */
import type {
  CompactionState,
  DurableStructuralPreparation,
  NavigationState,
  Operation,
  OperationState,
  RunPhase,
  StructuralDecision,
  SummaryContext,
  SummaryGeneration,
} from "../../model/index.ts";
import type { BranchPreparation } from "../branch-preparation.ts";
import type { CompactionPreparation } from "../compaction-preparation.ts";
import type { CurrentOperation } from "../current.ts";
import { CONFIGURATION, current, OPERATION, run } from "./states.ts";

type Changes<T> = Partial<Omit<T, "kind">>;

export function compactionPreparation(changes: Changes<CompactionPreparation> = {}): CompactionPreparation {
  return {
    kind: "compaction",
    messagesToSummarize: [],
    turnPrefixMessages: [],
    retainedTail: [{ role: "user", content: "kept", timestamp: 1 }],
    isSplitTurn: false,
    tokensBefore: 100,
    fileOps: { read: [], written: [], edited: [] },
    settings: { enabled: true, reserveTokens: 100, keepRecentTokens: 10 },
    ...changes,
  };
}

export function branchPreparation(changes: Changes<BranchPreparation> = {}): BranchPreparation {
  return {
    kind: "branch_summary",
    messages: [],
    fileOps: { read: [], written: [], edited: [] },
    totalTokens: 0,
    ...changes,
  };
}

export const deciding: StructuralDecision = { taskId: "t", status: "deciding" };

type Reason = "manual" | "threshold" | "overflow" | undefined;

export function summaryContext(reason: Reason, changes: Partial<SummaryContext> = {}): SummaryContext {
  return {
    taskId: "t",
    resultEntryId: "S",
    kind: reason === undefined ? "branch_summary" : "compaction",
    configuration: CONFIGURATION,
    streamOptions: {},
    retryPolicy: { maxAttempts: 3, baseDelayMs: 100 },
    ...(reason === undefined ? {} : { reason }),
    ...changes,
  };
}

export type GenerationOf = (context: SummaryContext) => SummaryGeneration;

export const summaryReady =
  (nextAttempt = 1): GenerationOf =>
  (context) => ({ status: "ready", context, nextAttempt });

export const summaryWait =
  (notBefore = 1000): GenerationOf =>
  (context) => ({ status: "retry_wait", context, nextAttempt: 2, notBefore, errorMessage: "overloaded" });

/** An attempt under way, with the bills of `settled` requests; with `requestId` another one is asked for. */
export const summaryPending =
  (attempt = 1, settled: readonly string[] = [], requestId?: string): GenerationOf =>
  (context) => ({
    status: "effect_pending",
    context,
    attempt,
    usageIds: [...settled],
    ...(requestId === undefined ? {} : { request: { index: settled.length, usageId: requestId } }),
  });

function decision(reason: Reason, of: GenerationOf | undefined): StructuralDecision {
  if (of === undefined) return deciding;
  return { taskId: "t", status: "generating", generation: of(summaryContext(reason)) };
}

const running = { status: "running" } as const;

/** A compaction of a caller; without a generation it is deciding. */
export const manual = (of?: GenerationOf): CompactionState => ({
  kind: "compaction",
  control: running,
  structural: decision("manual", of),
});

/** A navigation to `e0` with a summary; without a generation it is deciding. */
export const summarized = (of?: GenerationOf): NavigationState => ({
  kind: "navigation",
  control: running,
  summarize: true,
  targetId: "e0",
  phase: { kind: "summary", structural: decision(undefined, of) },
});

/** A navigation without a summary. */
export const moving = (targetId: string | null = "e0", label?: string): NavigationState => ({
  kind: "navigation",
  control: running,
  summarize: false,
  targetId,
  ...(label === undefined ? {} : { label }),
  phase: { kind: "ready_to_commit" },
});

/** A compaction inside a run; without a generation it is deciding. */
export const compacting = (reason: "threshold" | "overflow", of?: GenerationOf): RunPhase => ({
  kind: "compaction",
  reason,
  structural: decision(reason, of),
  resumeAfter: {
    kind: "checkpoint",
    continuation: { kind: "need_assistant", overflowRecoveryUsed: reason === "overflow" },
    triggerEntryId: "e1",
    ...(reason === "threshold" ? { thresholdCheckedTriggerEntryId: "e1" } : {}),
  },
});

/** The operation of a structural state, or the run of `states.ts`. */
export function operationOf(state: OperationState): Operation {
  switch (state.kind) {
    case "run":
      return OPERATION;
    case "compaction":
      return { ...OPERATION, sourceLeafId: "e1", intent: { kind: "compaction" } };
    case "navigation": {
      const { targetId, summarize, label } = state;
      const intent = { kind: "navigation", targetId, summarize, ...(label ? { label } : {}) } as const;
      return { ...OPERATION, sourceLeafId: "e1", intent };
    }
  }
}

export function currentOf(state: OperationState): CurrentOperation {
  const { state: _run, ...rest } = current(run({ ...compacting("threshold") }));
  return { ...rest, operation: operationOf(state), state };
}

export const PREPARATION: DurableStructuralPreparation = compactionPreparation({
  messagesToSummarize: [{ role: "user", content: "old", timestamp: 1 }],
});
