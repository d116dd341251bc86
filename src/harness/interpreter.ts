/**
 * The interpreter: `drive` takes an operation from its durable state to where it can go no further (spec §4.1).
 *
 * Each turn of the loop asks `nextAction` and carries out its answer through `Effects`. What a commit returns is the
 * next current operation. Where a conditional commit finds that another change of the lane came first, nothing was
 * written and nothing dispatched: the operation is read again and planned again.
 *
 * The interpreter is handed two things only: `Effects`, the road to everything durable and outside, and `DriveView`,
 * which reads and changes nothing.
 */
import { absurd, admitJson } from "../foundation/index.ts";
import type {
  DeferredHandle,
  DurableStructuralPreparation,
  JsonObject,
  LaneLastResult,
} from "../model/index.ts";
import {
  type Action,
  type CapturedItem,
  type CurrentOperation,
  cancelledRequestText,
  generationKey,
  interruptedRequestText,
  isRun,
  type MissingIdentities,
  nextAction,
  type PlannerInputs,
  type SyntheticToolReason,
  syntheticResponse,
  toolCallsOf,
  toolKey,
} from "../operation/index.ts";
import { cancelSource, pollDeferred, settleCancelledPoll } from "./deferred-steps.ts";
import { outOfPlace, start } from "./dispatch.ts";
import type { DriveState } from "./drive-state.ts";
import type { EffectPlan, Effects, ToolPlan } from "./effects.ts";
import type { Settings } from "./environment.ts";
import { carryOutStructural, keepResponse } from "./structural.ts";
import type { Clearance } from "./tools.ts";

/** What the interpreter may look at. Nothing here writes, waits for the outside, or repeats an effect. */
export interface DriveView {
  plannerInputs(current: CurrentOperation, live: DriveState): Promise<PlannerInputs>;
  /** The operation as it is stored now; undefined if it was ended from outside. */
  reload(current: CurrentOperation): Promise<CurrentOperation | undefined>;
  settings(): Settings;
  mintId(): string;
  nowMs(): number;
  /** Limits of a model in tokens; undefined if the registry does not know it any more. */
  limitsOf(provider: string, modelId: string): { outputTokens: number; contextWindow: number } | undefined;
  /** Undefined: there is nothing to compact. */
  prepareThreshold(current: CurrentOperation): Promise<DurableStructuralPreparation | undefined>;
  clearCall(current: CurrentOperation, live: DriveState, sourceIndex: number): Clearance;
  storedArguments(current: CurrentOperation, sourceIndex: number): Promise<JsonObject>;
  /** The contents of queued items, in order; undefined if one of them is not queued any more. */
  queuedItems(ids: readonly string[]): Promise<readonly CapturedItem[] | undefined>;
}

/** Where a drive ends. */
export type DriveEnd =
  | { readonly kind: "finished"; readonly result: LaneLastResult }
  | { readonly kind: "deferred"; readonly current: CurrentOperation; readonly handle: DeferredHandle }
  | {
      readonly kind: "missing_identities";
      readonly current: CurrentOperation;
      readonly missing: MissingIdentities;
    }
  /** The terminal transaction came from elsewhere; the lane's last result tells. */
  | { readonly kind: "ended_elsewhere" };

/** See the module header. */
export async function drive(
  fx: Effects,
  view: DriveView,
  start: CurrentOperation,
  live: DriveState,
): Promise<DriveEnd> {
  let current = start;
  for (;;) {
    const action = nextAction(current.state, await view.plannerInputs(current, live));
    if (action.kind === "suspend") return suspensionOf(action, current, live);
    const isNormalEnd = action.kind === "finish" && action.outcome.kind === "completed" && isRun(current);
    const followUp = isNormalEnd ? await fx.beforeRunEnd(current) : undefined;
    if (followUp !== undefined) {
      const event = { kind: "run_end_followed_up", entryId: view.mintId(), message: followUp } as const;
      const next = await fx.commitTransition(current, event);
      // Otherwise something came first, an abort perhaps: the run goes on with that.
      if (next) {
        current = next;
        continue;
      }
    } else if (action.kind === "finish") {
      const result = await fx.commitTerminal(current, action.outcome);
      if (result) return { kind: "finished", result };
    } else {
      const next = await carryOut(fx, view, current, live, action);
      if (next) {
        current = next;
        continue;
      }
    }
    const reloaded = await view.reload(current);
    if (reloaded === undefined) return { kind: "ended_elsewhere" };
    current = reloaded;
  }
}

function suspensionOf(
  action: Extract<Action, { kind: "suspend" }>,
  current: CurrentOperation,
  live: DriveState,
): DriveEnd {
  if (action.reason === "missing_identities") {
    return { kind: "missing_identities", current, missing: action.missing };
  }
  const handle = live.latestAssistant?.message.deferred;
  if (handle === undefined) throw new Error("a deferred response is loaded before planning");
  return { kind: "deferred", current, handle };
}

/** Does one action. Undefined: read the operation again. */
async function carryOut(
  fx: Effects,
  view: DriveView,
  current: CurrentOperation,
  live: DriveState,
  action: Exclude<Action, { kind: "finish" | "suspend" }>,
): Promise<CurrentOperation | undefined> {
  switch (action.kind) {
    case "consume_inbox": {
      const items = await view.queuedItems(action.ids);
      const { queue } = action;
      return items && fx.commitTransition(current, { kind: "inbox_consumed", queue, items });
    }
    case "start_generation":
      return startGeneration(fx, view, current);
    case "request_assistant":
      return requestAssistant(fx, view, current, live);
    case "advance":
      return fx.commitTransition(current, action.event);
    case "settle_generation":
      return settleUnanswered(fx, view, current, action.reason);
    case "poll_deferred":
      return pollDeferred(fx, view, current, live);
    case "settle_poll":
      return settleCancelledPoll(fx, view, current);
    case "cancel_deferred":
      cancelSource(fx, current, live);
      return current;
    case "clear_tool":
      return clearTool(fx, view, current, live, action.sourceIndex);
    case "replay_tool": {
      const plan = await toolPlan(view, current, live, action.sourceIndex);
      start(fx, live, plan);
      return current;
    }
    case "settle_tool":
      return settleTool(fx, current, live, action.sourceIndex, action.reason);
    case "await_effect": {
      const running = live.running.get(action.key);
      if (running === undefined) throw new Error(`effect ${action.key} is planned and not running`);
      const output = await running;
      live.running.delete(action.key);
      if (output.kind === "cancel_deferred") return undefined;
      if (output.kind === "not_started" && owesNothing(output.plan)) return undefined;
      const settled = output.kind === "tool_raw" ? await fx.finalizeTool(output) : output;
      const next = await fx.commitSettlement(current, action.key, settled);
      if (next && output.kind === "summary") keepResponse(live, output.message);
      return next;
    }
    case "wait":
      await fx.sleep(Math.max(0, action.untilMs - view.nowMs()));
      return undefined;
    case "decide":
    case "start_summary":
    case "start_summary_attempt":
    case "request_summary":
    case "retry_summary":
    case "conclude_compaction":
    case "prepare_threshold_compaction":
      return carryOutStructural(fx, view, current, live, action);
    default:
      return absurd(action, "action");
  }
}

/** Snapshots configuration and settings; the commit fails if either changed since they were read. */
function startGeneration(
  fx: Effects,
  view: DriveView,
  current: CurrentOperation,
): Promise<CurrentOperation | undefined> {
  const phase = isRun(current) ? current.state.phase : undefined;
  if (phase?.kind !== "checkpoint" || phase.continuation.kind !== "need_assistant") throw outOfPlace(current);
  const { streamOptions, retryPolicy, revision } = view.settings();
  // Admitted once: every later state of the step shares this context, and a store need not copy it again.
  const context = admitJson({
    stepId: view.mintId(),
    triggerEntryId: phase.triggerEntryId,
    configuration: admitJson(current.configuration),
    streamOptions,
    retryPolicy,
    overflowRecoveryUsed: phase.continuation.overflowRecoveryUsed,
  });
  return fx.commitTransition(
    current,
    { kind: "generation_started", context },
    { configurationSeq: current.configurationSeq, settingsRevision: revision },
  );
}

/** Commits the intent and sends the request. */
async function requestAssistant(
  fx: Effects,
  view: DriveView,
  current: CurrentOperation,
  live: DriveState,
): Promise<CurrentOperation | undefined> {
  const phase = isRun(current) ? current.state.phase : undefined;
  if (phase?.kind !== "assistant" || phase.generation.status !== "ready") throw outOfPlace(current);
  const { provider, modelId } = phase.generation.context.configuration.model;
  const limits = view.limitsOf(provider, modelId);
  if (limits === undefined) return undefined;
  const { context, nextAttempt } = phase.generation;
  const streamOptions = await fx.beforeRequest(current.operation, {
    step: "assistant",
    attempt: nextAttempt,
    model: context.configuration.model,
    streamOptions: context.streamOptions,
  });
  const next = await fx.commitIntent(current, {
    kind: "request_intended",
    responseEntryId: view.mintId(),
    usageId: view.mintId(),
    intendedOutputLimit: limits.outputTokens,
    contextWindow: limits.contextWindow,
  });
  const pending = next && isRun(next) ? next.state.phase : undefined;
  if (next && pending?.kind === "assistant" && pending.generation.status === "effect_pending") {
    const { generation } = pending;
    const key = generationKey(generation);
    start(fx, live, {
      kind: "assistant",
      key,
      operation: next.operation,
      generation,
      streamOptions,
      leafId: next.leafId,
    });
  }
  return next;
}

/** No answer is known and none will come: a synthetic one under the reserved ids. */
function settleUnanswered(
  fx: Effects,
  view: DriveView,
  current: CurrentOperation,
  reason: "interrupted" | "cancelled",
): Promise<CurrentOperation | undefined> {
  const phase = isRun(current) ? current.state.phase : undefined;
  if (phase?.kind !== "assistant" || phase.generation.status !== "effect_pending") throw outOfPlace(current);
  const { generation } = phase;
  const { configuration, retryPolicy } = generation.context;
  const isCancelled = reason === "cancelled";
  const message = syntheticResponse({
    model: configuration.model,
    stopReason: isCancelled ? "aborted" : "error",
    errorMessage: isCancelled
      ? cancelledRequestText(generation.attempt)
      : interruptedRequestText(generation.attempt, retryPolicy.maxAttempts),
    nowMs: view.nowMs(),
  });
  return fx.commitSettlement(current, generationKey(generation), {
    kind: "assistant",
    message,
    ...(isCancelled ? {} : { isInterrupted: true }),
  });
}

/** Clears a call; then commits its intent and executes it, or keeps its refusal until its turn has come. */
async function clearTool(
  fx: Effects,
  view: DriveView,
  current: CurrentOperation,
  live: DriveState,
  sourceIndex: number,
): Promise<CurrentOperation | undefined> {
  const looked = view.clearCall(current, live, sourceIndex);
  const call = live.latestAssistant && toolCallsOf(live.latestAssistant.message)[sourceIndex];
  if (call === undefined) throw outOfPlace(current);
  const clearance = looked.kind === "cleared" ? await fx.beforeTool(current.operation, call, looked) : looked;
  if (clearance.kind === "refused") {
    const { reason } = clearance;
    const output = { kind: "tool", sourceIndex, execution: { kind: "synthetic", reason } } as const;
    live.running.set(toolKey(batchOf(current), sourceIndex), Promise.resolve(output));
    return current;
  }
  const next = await fx.commitIntent(current, {
    kind: "tool_cleared",
    sourceIndex,
    arguments: clearance.arguments,
    replay: clearance.replay,
  });
  if (next) {
    start(fx, live, planOf(next, live, { sourceIndex, arguments: clearance.arguments, isReplay: false }));
  }
  return next;
}

/** Settles a call without its tool. A refusal that waits for its turn is overtaken by that. */
function settleTool(
  fx: Effects,
  current: CurrentOperation,
  live: DriveState,
  sourceIndex: number,
  reason: SyntheticToolReason,
): Promise<CurrentOperation | undefined> {
  const key = toolKey(batchOf(current), sourceIndex);
  live.running.delete(key);
  const execution = { kind: "synthetic", reason } as const;
  return fx.commitSettlement(current, key, { kind: "tool", sourceIndex, execution });
}

async function toolPlan(
  view: DriveView,
  current: CurrentOperation,
  live: DriveState,
  sourceIndex: number,
): Promise<EffectPlan> {
  const stored = await view.storedArguments(current, sourceIndex);
  return planOf(current, live, { sourceIndex, arguments: stored, isReplay: true });
}

function planOf(
  current: CurrentOperation,
  live: DriveState,
  started: Pick<ToolPlan, "sourceIndex" | "arguments" | "isReplay">,
): ToolPlan {
  const { sourceIndex } = started;
  const batch = batchOf(current);
  const call = live.latestAssistant && toolCallsOf(live.latestAssistant.message)[sourceIndex];
  if (call === undefined) throw new Error("the response of a tool batch is loaded before planning");
  const key = toolKey(batch, sourceIndex);
  return { kind: "tool", key, operation: current.operation, batch, call, ...started };
}

/** Whether an effect that was not started owes no settlement: structural work is dropped with its operation. */
function owesNothing({ kind }: EffectPlan): boolean {
  return kind === "summary" || kind === "cancel_deferred";
}

function batchOf(current: CurrentOperation) {
  const phase = isRun(current) ? current.state.phase : undefined;
  if (phase?.kind !== "tools") throw outOfPlace(current);
  return phase.batch;
}
