/**
 * Storage version 0 to 1: the total mapping of every register that version 0 could leave (spec §7.4). The old shapes
 * stand in `version-0.ts`.
 *
 * What has no natural successor, and the choice that was made for it:
 * - *A tool call that was started.* Version 0 stored no replay declaration. It becomes `never`: recovery gives it an
 *   error result and does not run it again.
 * - *Summarizing inside a run.* What was to be summarized is lost, so the run goes back to the checkpoint before it,
 *   which judges the size of the context again.
 * - *A summary that was being generated* for a compaction or navigation. Its request had no durable ids, so the
 *   operation goes back to before the decision; the preparation is stored.
 * - *What completes a run.* Version 0 did not say; a run that stands at its newest response, or names one in its result,
 *   was completed by that, and every other by its tools.
 * - *Options and delay of a request.* Version 0 kept neither: no options, and the default delay.
 *
 * A value that has no shape of version 0 is left as it is: it is one of version 1 already, or will be refused.
 */
import { absurd } from "../../foundation/index.ts";
import {
  DEFAULT_RETRY_POLICY,
  type GenerationContext,
  type JsonValue,
  type LaneConfiguration,
  type LaneLastResult,
  type LaneState,
  type Operation,
  type OperationState,
  type PendingEntry,
  type RegisterNamespace,
  type RunPhase,
  type ToolCall,
} from "../../model/index.ts";
import { toolArgumentsKey } from "../../operation/index.ts";
import type { Migration, RawRegister, RegisterChange } from "./migration.ts";
import {
  type Cancelled0,
  isShaped,
  LaneConfiguration0,
  LaneState0,
  LastResult0,
  Operation0,
  PendingEntry0,
  type Phase0,
  State0,
  type ToolCall0,
} from "./version-0.ts";

export const fromVersion0: Migration = {
  from: 0,
  title: "operations carry their replay declarations, retry policy and tool arguments",
  convert: (registers) => registers.flatMap(changesOf),
};

function changesOf(register: RawRegister): RegisterChange[] {
  const { namespace, key } = register;
  const value = convertedValue(register);
  const changes: RegisterChange[] =
    value === undefined ? [] : [{ namespace, key, value: value as JsonValue }];
  if (namespace === "op.state" && isShaped(State0, register.value)) {
    changes.push(...argumentChanges(key, register.value));
  }
  return changes;
}

/** The new value of a register, or undefined where it keeps the old one. */
function convertedValue({ namespace, value }: RawRegister): object | undefined {
  const convert = CONVERTERS[namespace];
  return convert === undefined ? undefined : convert(value);
}

const CONVERTERS: { readonly [N in RegisterNamespace]?: (value: unknown) => object | undefined } = {
  "lane.config": (value) => (isShaped(LaneConfiguration0, value) ? configurationOf(value) : undefined),
  "lane.state": (value) => (isShaped(LaneState0, value) ? laneStateOf(value) : undefined),
  "lane.lastResult": (value) => (isShaped(LastResult0, value) ? lastResultOf(value) : undefined),
  "op.meta": (value) => (isShaped(Operation0, value) ? operationOf(value) : undefined),
  "op.state": (value) => (isShaped(State0, value) ? stateOf(value) : undefined),
  "pending.entry": (value) => (isShaped(PendingEntry0, value) ? pendingOf(value) : undefined),
};

function configurationOf(old: LaneConfiguration0): LaneConfiguration {
  const { provider, modelId, thinkingLevel, tools } = old;
  return {
    model: { provider, modelId },
    thinkingLevel: thinkingLevel === "none" ? "off" : thinkingLevel,
    activeToolNames: tools,
  };
}

function laneStateOf({ operation, nextRun }: LaneState0): LaneState {
  return { currentOperationId: operation, pendingNextRun: nextRun };
}

function lastResultOf(old: LastResult0): LaneLastResult {
  const { operation, kind, leaf, outcome, message = "", assistant } = old;
  const result = {
    operationId: operation,
    kind,
    leafId: leaf,
    ...(assistant === undefined ? {} : { finalAssistantEntryId: assistant }),
  };
  if (outcome === "failed") return { ...result, outcome, error: { code: "unknown", message } };
  if (kind !== "run" || outcome !== "completed") return { ...result, outcome };
  return { ...result, outcome, runCompletion: assistant === undefined ? "terminated_tools" : "assistant" };
}

function pendingOf(old: PendingEntry0): PendingEntry {
  if ("message" in old) return { type: "message", payload: old.message };
  return { type: "custom", customType: old.custom, ...(old.data === undefined ? {} : { payload: old.data }) };
}

function operationOf({ operation, lane, leaf, startedAt, intent }: Operation0): Operation {
  return {
    operationId: operation,
    lane,
    sourceLeafId: leaf,
    startedAt,
    intent: intentOf(intent),
  };
}

function intentOf(old: Operation0["intent"]): Operation["intent"] {
  switch (old.kind) {
    case "run":
      return { kind: "run", promptEntryIds: old.prompts };
    case "compaction":
      return { kind: "compaction", ...instructionsOf(old.instructions) };
    case "navigation": {
      const { target: targetId, summarize } = old;
      return { kind: "navigation", targetId, summarize, ...labelOf(old.label) };
    }
    default:
      return absurd(old, "intent of version 0");
  }
}

function stateOf(old: State0): OperationState {
  const control = controlOf(old.cancelled);
  switch (old.kind) {
    case "run": {
      const { settings, inbox, latest } = old;
      const phase = phaseOf(old.phase, latest);
      return { kind: "run", control, settings, phase, inbox, latestAssistantEntryId: latest };
    }
    case "compaction": {
      const structural = { taskId: old.task, status: "deciding" } as const;
      return { kind: "compaction", control, structural, ...instructionsOf(old.instructions) };
    }
    case "navigation": {
      const { task, target } = old;
      const shared = { kind: "navigation", control, ...labelOf(old.label) } as const;
      if (task === undefined || target === null) {
        return { ...shared, summarize: false, targetId: target, phase: { kind: "ready_to_commit" } };
      }
      const structural = { taskId: task, status: "deciding" } as const;
      return { ...shared, summarize: true, targetId: target, phase: { kind: "summary", structural } };
    }
    default:
      return absurd(old, "state of version 0");
  }
}

function phaseOf(old: Phase0, latest: string | null): RunPhase {
  switch (old.kind) {
    case "checkpoint":
      if (old.next === "assistant") return needAssistant(old.trigger, old.overflowed);
      return {
        kind: "checkpoint",
        continuation: { kind: "may_finish", includeFinalAssistant: old.trigger === latest },
        triggerEntryId: old.trigger,
      };
    case "request": {
      const context = contextOf(old);
      if (old.sent === null) {
        return { kind: "assistant", generation: { status: "ready", context, nextAttempt: old.attempt } };
      }
      const { response, usage, outputLimit, contextWindow } = old.sent;
      return {
        kind: "assistant",
        generation: {
          status: "effect_pending",
          context,
          attempt: old.attempt,
          responseEntryId: response,
          usageId: usage,
          intendedOutputLimit: outputLimit,
          contextWindow,
        },
      };
    }
    case "backoff": {
      const { attempt: nextAttempt, until: notBefore, message: errorMessage } = old;
      const context = contextOf(old);
      return {
        kind: "assistant",
        generation: { status: "retry_wait", context, nextAttempt, notBefore, errorMessage },
      };
    }
    case "tools":
      return {
        kind: "tools",
        batch: {
          assistantEntryId: old.assistant,
          configuration: configurationOf(old.configuration),
          turnId: old.step,
          calls: old.calls.map(callOf),
        },
      };
    case "compacting":
      return needAssistant(old.trigger, false);
    case "draining":
      return {
        kind: "failure_drain",
        error: { code: old.code, message: old.message },
        provenance: { kind: "response", entryId: old.response },
      };
    default:
      return absurd(old, "phase of version 0");
  }
}

function needAssistant(triggerEntryId: string, overflowRecoveryUsed: boolean): RunPhase {
  return {
    kind: "checkpoint",
    continuation: { kind: "need_assistant", overflowRecoveryUsed },
    triggerEntryId,
  };
}

function contextOf(old: Extract<Phase0, { kind: "request" | "backoff" }>): GenerationContext {
  return {
    stepId: old.step,
    triggerEntryId: old.trigger,
    configuration: configurationOf(old.configuration),
    streamOptions: {},
    retryPolicy: { maxAttempts: old.maxAttempts, baseDelayMs: DEFAULT_RETRY_POLICY.baseDelayMs },
    overflowRecoveryUsed: false,
  };
}

function callOf(old: ToolCall0, sourceIndex: number): ToolCall {
  const call = { sourceIndex, resultEntryId: old.result };
  switch (old.status) {
    case "waiting":
      return { status: "planned", ...call };
    case "started":
      return { status: "effect_pending", ...call, replay: "never" };
    case "done":
      return { status: "completed", ...call, terminate: old.terminate };
    default:
      return absurd(old, "call of version 0");
  }
}

/** The arguments of started calls, which move out of the operation state. */
function argumentChanges(operationId: string, state: State0): RegisterChange[] {
  if (state.kind !== "run" || state.phase.kind !== "tools") return [];
  const { step, calls } = state.phase;
  return calls.flatMap((call, index): RegisterChange[] => {
    if (call.status !== "started") return [];
    const key = toolArgumentsKey(operationId, step, index);
    return [{ namespace: "op.tool_args", key, value: call.arguments }];
  });
}

function controlOf(cancelled: Cancelled0): OperationState["control"] {
  if (cancelled === null) return { status: "running" };
  const { at: requestedAt, steer: drainedSteer, followUp: drainedFollowUp } = cancelled;
  return { status: "cancel_requested", requestedAt, drainedSteer, drainedFollowUp };
}

function labelOf(label: string | undefined): { label?: string } {
  return label === undefined ? {} : { label };
}

function instructionsOf(customInstructions: string | undefined): { customInstructions?: string } {
  return customInstructions === undefined ? {} : { customInstructions };
}
