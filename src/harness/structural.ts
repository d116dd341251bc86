/**
 * The interpreter at structural work: carries out what the planner wants of a compaction or of a navigation with a
 * summary (spec §3.9).
 *
 * What hooks decided and what requests answered is kept in the drive's memory, and consumed by a commit that is
 * conditional on the state. A commit that loses to another change of the lane is planned again with what is in memory;
 * no hook and no request is repeated for it. Only the bill of a request is a settlement: it is booked whatever happened
 * to the state meanwhile.
 */
import { absurd, admitJson } from "../foundation/index.ts";
import type { SettledAssistantMessage, SummaryContext, SummaryGeneration } from "../model/index.ts";
import {
  type Action,
  type CompactionConclusion,
  type Conclusion,
  type CurrentOperation,
  customInstructionsOf,
  structuralOf,
  structuralReason,
  summaryGenerationOf,
  summaryKey,
} from "../operation/index.ts";
import type { DecisionWork } from "./decision-hooks.ts";
import { outOfPlace, start } from "./dispatch.ts";
import type { DriveState, StructuralMemory } from "./drive-state.ts";
import type { Effects } from "./effects.ts";
import type { DriveView } from "./interpreter.ts";

type StructuralAction = Extract<
  Action,
  {
    kind:
      | "decide"
      | "start_summary"
      | "start_summary_attempt"
      | "request_summary"
      | "retry_summary"
      | "conclude_compaction"
      | "prepare_threshold_compaction";
  }
>;

/** Does one action. Undefined: read the operation again. */
export async function carryOutStructural(
  fx: Effects,
  view: DriveView,
  current: CurrentOperation,
  live: DriveState,
  action: StructuralAction,
): Promise<CurrentOperation | undefined> {
  switch (action.kind) {
    case "prepare_threshold_compaction": {
      const preparation = await view.prepareThreshold(current);
      if (preparation === undefined) return fx.commitTransition(current, { kind: "threshold_checked" });
      return fx.commitTransition(current, { kind: "threshold_exceeded", taskId: view.mintId(), preparation });
    }
    case "decide":
      return decide(fx, current, live);
    case "start_summary":
      return startSummary(fx, view, current);
    case "start_summary_attempt": {
      const next = await fx.commitTransition(current, { kind: "summary_attempt_started" });
      if (next) memoryOf(live, next).attempt = { attempt: attemptOf(next).attempt, responses: [] };
      return next;
    }
    case "request_summary": {
      const { context, attempt } = attemptOf(current);
      const streamOptions = await fx.beforeRequest(current.operation, {
        step: context.kind,
        attempt,
        model: context.configuration.model,
        streamOptions: { ...context.streamOptions, deferred: false },
      });
      const usageId = view.mintId();
      const next = await fx.commitIntent(current, { kind: "summary_request_intended", usageId });
      if (next) {
        const generation = attemptOf(next);
        start(fx, live, {
          kind: "summary",
          key: summaryKey(generation),
          operation: next.operation,
          customInstructions: customInstructionsOf(next.state),
          generation,
          streamOptions,
          stage: action.stage,
          preparation: memoryOf(live, next).preparation,
        });
      }
      return next;
    }
    case "retry_summary":
      return fx.commitTransition(current, {
        kind: "summary_retried",
        errorMessage: action.errorMessage,
        nowMs: view.nowMs(),
      });
    case "conclude_compaction":
      return fx.commitTransition(current, {
        kind: "compaction_concluded",
        conclusion: withIds(current, action.conclusion, () => view.mintId()),
      });
    default:
      return absurd(action, "structural action");
  }
}

/** Remembers the answer of a nested request whose usage is booked. */
export function keepResponse(live: DriveState, message: SettledAssistantMessage): void {
  live.structural?.attempt?.responses.push(message);
}

/** A conclusion with the ids of what it publishes: a generated summary's is reserved, a hook's are minted now. */
export function withIds(
  current: CurrentOperation,
  conclusion: Conclusion,
  mintId: () => string,
): CompactionConclusion {
  if (conclusion.kind !== "published") return conclusion;
  const { summary, fromHook } = conclusion;
  if (!fromHook) {
    const entryId = summaryGenerationOf(current.state)?.context.resultEntryId;
    if (entryId === undefined) throw outOfPlace(current);
    return { kind: "published", publication: { summary, entryId, fromHook } };
  }
  const entryId = mintId();
  const usage = summary.usage === undefined ? {} : { usageId: mintId() };
  return { kind: "published", publication: { summary, entryId, fromHook, ...usage } };
}

/** Asks the hooks, and remembers what they came to. */
async function decide(
  fx: Effects,
  current: CurrentOperation,
  live: DriveState,
): Promise<CurrentOperation | undefined> {
  const memory = memoryOf(live, current);
  const decision = await fx.decide(current.operation, workOf(current, memory));
  if (decision === undefined) return undefined;
  memory.decision = decision;
  return current;
}

function workOf(current: CurrentOperation, { preparation }: StructuralMemory): DecisionWork {
  const { state } = current;
  const customInstructions = customInstructionsOf(state);
  if (preparation.kind === "compaction") {
    const reason = structuralReason(state);
    if (reason === undefined) throw outOfPlace(current);
    return { kind: "compaction", reason, preparation, customInstructions };
  }
  if (state.kind !== "navigation" || state.targetId === null) throw outOfPlace(current);
  return { kind: "branch_summary", targetId: state.targetId, preparation, customInstructions };
}

/** Snapshots configuration and settings; the commit fails if either changed since they were read. */
function startSummary(
  fx: Effects,
  view: DriveView,
  current: CurrentOperation,
): Promise<CurrentOperation | undefined> {
  const structural = structuralOf(current.state);
  if (structural === undefined) throw outOfPlace(current);
  const { streamOptions, retryPolicy, revision } = view.settings();
  const reason = structuralReason(current.state);
  const context: SummaryContext = admitJson({
    taskId: structural.taskId,
    resultEntryId: view.mintId(),
    kind: current.state.kind === "navigation" ? "branch_summary" : "compaction",
    configuration: admitJson(current.configuration),
    streamOptions,
    retryPolicy,
    ...(reason === undefined ? {} : { reason }),
  });
  return fx.commitTransition(
    current,
    { kind: "summary_started", context },
    { configurationSeq: current.configurationSeq, settingsRevision: revision },
  );
}

function memoryOf(live: DriveState, current: CurrentOperation): StructuralMemory {
  const taskId = structuralOf(current.state)?.taskId;
  if (live.structural === undefined || live.structural.taskId !== taskId) throw outOfPlace(current);
  return live.structural;
}

function attemptOf(current: CurrentOperation): Extract<SummaryGeneration, { status: "effect_pending" }> {
  const generation = summaryGenerationOf(current.state);
  if (generation?.status !== "effect_pending") throw outOfPlace(current);
  return generation;
}
