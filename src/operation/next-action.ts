/**
 * `nextAction(state, inputs)`: what a drive does next, from the complete durable state and a few facts of this
 * process (spec §4.1). Pure and exhaustive over the phase unions: every state that can be stored has an answer here.
 *
 * Terms. *Running*: an effect of this process whose output has not been settled. After a restart nothing runs, so a
 * durable `effect_pending` without a running effect is an attempt whose outcome is unknown, and gets the policy of
 * spec §4.5 instead of a wait.
 *
 * Invariants.
 * 1. An effect is started only from a state that is its durable intent; the one exception, clearance, has no effect
 *    outside.
 * 2. Tool results are settled in source order: an effect is awaited only for the first call that is not completed.
 */
import { absurd } from "../foundation/index.ts";
import type {
  CheckpointPhase,
  Generation,
  OperationState,
  RunState,
  SettledAssistantMessage,
  ToolBatch,
  ToolCall,
  ToolExecutionMode,
  ToolReplay,
} from "../model/index.ts";
import { toolCallsOf } from "./classification.ts";
import { shouldCompact } from "./context-size.ts";
import { nextCancelledAction } from "./next-cancelled-action.ts";
import { nextDeferredAction } from "./next-deferred-action.ts";
import {
  nextStructuralAction,
  owedToStructural,
  type StructuralAction,
  type StructuralInputs,
} from "./next-structural.ts";
import { structuralOf } from "./structural.ts";
import type { SyntheticToolReason } from "./synthetic.ts";
import { dueItems, type QueueName } from "./transition-queues.ts";
import type { TerminalOutcome } from "./transition-terminal.ts";

/** Names one effect, from durable ids alone: the same effect has the same key in every process. */
export type EffectKey = string;

/** What the planner knows of a registered tool. */
export interface ToolDeclaration {
  readonly replay: ToolReplay;
  readonly executionMode: ToolExecutionMode;
}

/** Identities that a configuration names and no registry knows. */
export interface MissingIdentities {
  readonly tools: readonly string[];
  readonly models: readonly string[];
}

/** Facts of this process and of what the state names, loaded before planning. */
export interface PlannerInputs {
  readonly nowMs: number;
  readonly running: { has(key: EffectKey): boolean };
  /** One for a `resume()`, used up by its poll; none for a fresh operation. */
  readonly deferredPollsRemaining: 0 | 1;
  /** Deferred sources whose cancellation this process has asked for; absent: none. */
  readonly deferredCancellations?: ReadonlySet<string> | undefined;
  /** The registry of tools now. */
  readonly tools: ReadonlyMap<string, ToolDeclaration>;
  /** Whether the registry resolves a model now. */
  hasModel(provider: string, modelId: string): boolean;
  /** With `tools`: the response that holds the calls. */
  readonly batchAssistant?: SettledAssistantMessage | undefined;
  /** With a checkpoint that judges its size: the estimate, and the window of the lane's model (0: unknown). */
  readonly contextSize?: { readonly tokens: number; readonly contextWindow: number } | undefined;
  /** With structural work: what it is made from, and how far this process has come with it. */
  readonly structural?: StructuralInputs | undefined;
}

/** What the drive does next. */
export type Action =
  /** Places the oldest items of a queue. */
  | { readonly kind: "consume_inbox"; readonly queue: QueueName; readonly ids: readonly string[] }
  /** Snapshots the lane's configuration and the settings, and commits the ready state. */
  | { readonly kind: "start_generation" }
  /** Prepares the request, commits its intent and sends it. */
  | { readonly kind: "request_assistant" }
  /** Commits a transition that needs no effect and no further input. */
  | {
      readonly kind: "advance";
      readonly event: { readonly kind: "retry_wait_ended" | "attempt_given_up" | "summary_attempt_given_up" };
    }
  /** Settles the pending attempt with a response that no provider gave. */
  | { readonly kind: "settle_generation"; readonly reason: "interrupted" | "cancelled" }
  /** Commits the intent of a poll, which uses up the permit, and sends it. */
  | { readonly kind: "poll_deferred" }
  /** Settles the pending poll with a response that no provider gave. */
  | { readonly kind: "settle_poll"; readonly reason: "cancelled" }
  /** Asks the provider to give a deferred job up. */
  | { readonly kind: "cancel_deferred"; readonly sourceEntryId: string }
  /** Looks the tool up, prepares and validates its arguments; then commits the intent and executes it. */
  | { readonly kind: "clear_tool"; readonly sourceIndex: number }
  /** Executes a call again whose intent is durable, with the stored arguments. */
  | { readonly kind: "replay_tool"; readonly sourceIndex: number }
  /** Settles a call with a result that no tool gave. */
  | { readonly kind: "settle_tool"; readonly sourceIndex: number; readonly reason: SyntheticToolReason }
  /** Waits for a running effect and settles it. */
  | { readonly kind: "await_effect"; readonly key: EffectKey }
  | { readonly kind: "wait"; readonly untilMs: number }
  /** Stops driving; the operation stays open. */
  | { readonly kind: "suspend"; readonly reason: "deferred" }
  | { readonly kind: "suspend"; readonly reason: "missing_identities"; readonly missing: MissingIdentities }
  /** Commits the terminal transaction. */
  | { readonly kind: "finish"; readonly outcome: TerminalOutcome }
  | StructuralAction;

/** See the module header. */
export function nextAction(state: OperationState, inputs: PlannerInputs): Action {
  const isCancelled = state.control.status === "cancel_requested";
  switch (state.kind) {
    case "run":
      return isCancelled ? nextCancelledAction(state, inputs) : nextRunAction(state, inputs);
    case "compaction":
    case "navigation": {
      const structural = structuralOf(state);
      if (state.control.status === "cancel_requested") {
        const owed = structural && owedToStructural(structural, inputs.running);
        return owed ?? { kind: "finish", outcome: { kind: "aborted" } };
      }
      if (structural === undefined) return { kind: "finish", outcome: { kind: "completed" } };
      return nextStructuralAction(state, structural, inputs);
    }
    default:
      return absurd(state, "operation state");
  }
}

/** The key of an assistant request. */
export function generationKey(generation: Extract<Generation, { status: "effect_pending" }>): EffectKey {
  return `assistant:${generation.context.stepId}:${generation.attempt}`;
}

/** The key of a tool call. */
export function toolKey(batch: ToolBatch, sourceIndex: number): EffectKey {
  return `tool:${batch.assistantEntryId}:${sourceIndex}`;
}

function nextRunAction(state: RunState, inputs: PlannerInputs): Action {
  const { phase } = state;
  switch (phase.kind) {
    case "checkpoint":
      return nextCheckpointAction(state, phase, inputs);
    case "assistant":
      return nextGenerationAction(phase.generation, inputs);
    case "tools":
      return nextToolAction(state, phase.batch, inputs);
    case "compaction":
      return nextStructuralAction(state, phase.structural, inputs);
    case "deferred":
      return nextDeferredAction(phase.deferred, inputs);
    case "failure_drain":
      return (
        consumptionOf(state, "writes", "steer", "followUp") ?? {
          kind: "finish",
          outcome: { kind: "failed" },
        }
      );
    default:
      return absurd(phase, "phase of a run");
  }
}

/** The order of the checkpoint procedure is that of spec §3.12. */
function nextCheckpointAction(state: RunState, phase: CheckpointPhase, inputs: PlannerInputs): Action {
  const drain = phase.skipInboxOnce === true ? undefined : consumptionOf(state, "writes", "steer");
  if (drain) return drain;
  const isSizeDue = phase.thresholdCheckedTriggerEntryId !== phase.triggerEntryId;
  const size = inputs.contextSize;
  if (isSizeDue && size && shouldCompact(size.tokens, size.contextWindow, state.settings.compaction)) {
    return { kind: "prepare_threshold_compaction" };
  }
  if (phase.continuation.kind === "need_assistant") return { kind: "start_generation" };
  return consumptionOf(state, "followUp") ?? { kind: "finish", outcome: { kind: "completed" } };
}

function nextGenerationAction(generation: Generation, inputs: PlannerInputs): Action {
  switch (generation.status) {
    case "ready": {
      const missing = missingIdentities(generation.context.configuration, inputs);
      return missing
        ? { kind: "suspend", reason: "missing_identities", missing }
        : { kind: "request_assistant" };
    }
    case "effect_pending": {
      const key = generationKey(generation);
      if (inputs.running.has(key)) return { kind: "await_effect", key };
      if (generation.attempt < generation.context.retryPolicy.maxAttempts) {
        return { kind: "advance", event: { kind: "attempt_given_up" } };
      }
      return { kind: "settle_generation", reason: "interrupted" };
    }
    case "retry_wait":
      if (inputs.nowMs < generation.notBefore) return { kind: "wait", untilMs: generation.notBefore };
      return { kind: "advance", event: { kind: "retry_wait_ended" } };
    default:
      return absurd(generation, "generation");
  }
}

function nextToolAction(state: RunState, batch: ToolBatch, inputs: PlannerInputs): Action {
  const assistant = inputs.batchAssistant;
  if (assistant === undefined) throw new Error("the response of a tool batch is loaded before planning");
  const sources = toolCallsOf(assistant);
  const open = batch.calls.filter(({ status }) => status !== "completed");
  const first = open[0];
  if (first === undefined) throw new Error("a tool batch whose calls are all completed is a checkpoint");
  if (assistant.stopReason === "length") {
    return { kind: "settle_tool", sourceIndex: first.sourceIndex, reason: { kind: "truncated" } };
  }
  const active = new Set(batch.configuration.activeToolNames);
  const isSequential =
    state.settings.toolExecution === "sequential" ||
    sources.some(({ name }) => active.has(name) && inputs.tools.get(name)?.executionMode === "sequential");

  const declarationOf = (call: ToolCall) => inputs.tools.get(sources[call.sourceIndex]?.name ?? "");
  const isLost = (call: ToolCall) =>
    call.status === "effect_pending" &&
    !inputs.running.has(toolKey(batch, call.sourceIndex)) &&
    !isReplayable(call, declarationOf(call));
  // Its result is known already, so nothing is gained by starting others before it is stored (spec §0.5).
  if (isLost(first)) {
    return { kind: "settle_tool", sourceIndex: first.sourceIndex, reason: { kind: "interrupted" } };
  }
  for (const call of isSequential ? [first] : open) {
    const { sourceIndex } = call;
    if (inputs.running.has(toolKey(batch, sourceIndex)) || isLost(call)) continue;
    if (call.status === "effect_pending") return { kind: "replay_tool", sourceIndex };
    // An active tool that is not registered is a missing identity; a name that is not active is the model's error.
    const name = sources[sourceIndex]?.name ?? "";
    if (!active.has(name) || inputs.tools.has(name)) return { kind: "clear_tool", sourceIndex };
    if (call === first) return missingTool(name);
    break;
  }
  return { kind: "await_effect", key: toolKey(batch, first.sourceIndex) };
}

function missingTool(name: string): Action {
  return { kind: "suspend", reason: "missing_identities", missing: { tools: [name], models: [] } };
}

/** Twice safe: when the call was started, and now (spec §4.5). */
function isReplayable(call: ToolCall, declaration: ToolDeclaration | undefined): boolean {
  return call.status === "effect_pending" && call.replay === "safe" && declaration?.replay === "safe";
}

/** What of a configuration no registry knows; undefined when everything resolves. */
export function missingIdentities(
  configuration: { model: { provider: string; modelId: string }; activeToolNames: readonly string[] },
  registries: Pick<PlannerInputs, "tools" | "hasModel">,
): MissingIdentities | undefined {
  const { provider, modelId } = configuration.model;
  const tools = configuration.activeToolNames.filter((name) => !registries.tools.has(name));
  const models = registries.hasModel(provider, modelId) ? [] : [`${provider}/${modelId}`];
  return tools.length === 0 && models.length === 0 ? undefined : { tools, models };
}

/** The consumption of the first of these queues that holds something. */
function consumptionOf(state: RunState, ...queues: readonly QueueName[]): Action | undefined {
  const queue = queues.find((name) => state.inbox[name].length > 0);
  return queue && { kind: "consume_inbox", queue, ids: dueItems(state, queue) };
}
