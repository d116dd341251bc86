/**
 * Validity of structural work: may this stored compaction or navigation be executed at all (spec §3.3)?
 *
 * 1. A context is that of its task, of its owner's kind, and of its owner's reason.
 * 2. An attempt is within the captured policy; it has at most two requests, each with a bill of its own, and the one
 *    that is open is the next.
 * 3. A navigation navigates what its intent asks for, and a compaction has the instructions of its intent.
 * 4. Nothing has moved yet: the lane of a structural operation stands at its source leaf, and a compaction has one. The
 *    move is part of the end.
 * 5. A run goes back from a compaction to the checkpoint that its reason makes: one that was judged at its trigger, or
 *    one that asks again after an overflow.
 */
import type {
  CompactionState,
  NavigationState,
  Operation,
  RunPhase,
  StructuralDecision,
  SummaryGeneration,
} from "../model/index.ts";
import { refuse } from "./corruption-reasons.ts";

/** Checks an operation of its own. @throws Corruption */
export function checkStructuralOperation(
  operation: Operation,
  state: CompactionState | NavigationState,
  leafId: string | null,
): void {
  const { operationId, sourceLeafId } = operation;
  if (state.kind === "navigation") checkNavigation(operation, state);
  else checkCompaction(operation, state);
  if (leafId !== sourceLeafId || (state.kind === "compaction" && sourceLeafId === null)) {
    const found = `the lane stands at ${leafId}, and the ${state.kind} began at ${sourceLeafId}`;
    refuse("source_leaf_moved", "op.meta", operationId, found);
  }
}

/** Checks a compaction inside a run. @throws Corruption */
export function checkCompactionPhase(
  operationId: string,
  { reason, structural, resumeAfter }: Extract<RunPhase, { kind: "compaction" }>,
): void {
  checkDecision(operationId, structural, "compaction", reason);
  const { continuation, triggerEntryId, thresholdCheckedTriggerEntryId } = resumeAfter;
  const agrees =
    reason === "threshold"
      ? thresholdCheckedTriggerEntryId === triggerEntryId
      : continuation.kind === "need_assistant" && continuation.overflowRecoveryUsed;
  if (!agrees) {
    const found = `a compaction for ${reason} goes back to a checkpoint that does not know of it`;
    refuse("structural_mismatch", "op.state", operationId, found);
  }
}

function checkCompaction({ operationId, intent }: Operation, state: CompactionState): void {
  if (intent.kind === "compaction" && intent.customInstructions !== state.customInstructions) {
    const found = "the state has other instructions than the intent";
    refuse("structural_mismatch", "op.state", operationId, found);
  }
  checkDecision(operationId, state.structural, "compaction", "manual");
}

function checkNavigation(operation: Operation, state: NavigationState): void {
  const { operationId, intent, sourceLeafId } = operation;
  if (intent.kind !== "navigation") return;
  const agrees =
    intent.summarize === state.summarize &&
    intent.targetId === state.targetId &&
    intent.label === state.label &&
    intent.customInstructions === (state.summarize ? state.customInstructions : undefined) &&
    state.targetId !== sourceLeafId &&
    (state.targetId !== null || state.label === undefined) &&
    (!state.summarize || sourceLeafId !== null);
  if (!agrees) {
    const found = "the state does not navigate what the intent asks for";
    refuse("navigation_mismatch", "op.state", operationId, found);
  }
  if (state.summarize) checkDecision(operationId, state.phase.structural, "branch_summary", undefined);
}

function checkDecision(
  operationId: string,
  structural: StructuralDecision,
  kind: "compaction" | "branch_summary",
  reason: "manual" | "threshold" | "overflow" | undefined,
): void {
  if (structural.status !== "generating") return;
  const { generation } = structural;
  const { context } = generation;
  if (context.taskId !== structural.taskId || context.kind !== kind || context.reason !== reason) {
    const found = `a ${kind} of task ${structural.taskId} generates a ${context.kind} of task ${context.taskId}`;
    refuse("structural_mismatch", "op.state", operationId, `${found}, for ${context.reason ?? "no reason"}`);
  }
  const attempt = generation.status === "effect_pending" ? generation.attempt : generation.nextAttempt;
  const { maxAttempts } = context.retryPolicy;
  if (attempt > maxAttempts) {
    refuse("attempt_beyond_policy", "op.state", operationId, `attempt ${attempt} of at most ${maxAttempts}`);
  }
  if (generation.status === "effect_pending") checkRequests(operationId, generation);
}

function checkRequests(
  operationId: string,
  { request, usageIds }: Extract<SummaryGeneration, { status: "effect_pending" }>,
): void {
  const billed = request === undefined ? usageIds : [...usageIds, request.usageId];
  const isNext = request === undefined || request.index === usageIds.length;
  if (isNext && billed.length <= REQUESTS_MAX && new Set(billed).size === billed.length) return;
  const found = `${billed.length} requests, the open one ${request?.index ?? "absent"}, with the bills ${billed.join(", ")}`;
  refuse("summary_requests_mismatch", "op.state", operationId, found);
}

/** Requests of one attempt: the history, and the beginning of a turn. */
const REQUESTS_MAX = 2;
