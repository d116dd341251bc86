/**
 * Operations for the tests of this room: one run on lane `main` whose prompt is entry `e1`, in any phase.
 */
import {
  DEFAULT_COMPACTION_SETTINGS,
  type Deferred,
  type DeferredHandle,
  type Entry,
  type GenerationContext,
  type LaneConfiguration,
  type Operation,
  type RunPhase,
  type RunState,
  type SettledAssistantMessage,
  type ToolCall,
  type ToolResultMessage,
  type Usage,
  type Write,
  zeroUsage,
} from "../../model/index.ts";
import type { CurrentOperation } from "../current.ts";
import type { PlannerInputs } from "../next-action.ts";

export const CONFIGURATION: LaneConfiguration = {
  model: { provider: "acme", modelId: "large" },
  thinkingLevel: "off",
  activeToolNames: ["read", "write", "once"],
};

export const OPERATION: Operation = {
  operationId: "O",
  lane: "main",
  sourceLeafId: null,
  startedAt: 1,
  intent: { kind: "run", promptEntryIds: ["e1"] },
};

export const USAGE: Usage = { ...zeroUsage(), input: 7, output: 3, totalTokens: 10 };

export function context(overrides: Partial<GenerationContext> = {}): GenerationContext {
  return {
    stepId: "s1",
    triggerEntryId: "e1",
    configuration: CONFIGURATION,
    streamOptions: { timeoutMs: 10 },
    retryPolicy: { maxAttempts: 3, baseDelayMs: 100 },
    overflowRecoveryUsed: false,
    ...overrides,
  };
}

export const needAssistant = (overflowRecoveryUsed = false): RunPhase => ({
  kind: "checkpoint",
  continuation: { kind: "need_assistant", overflowRecoveryUsed },
  triggerEntryId: "e1",
  skipInboxOnce: true,
});

export const mayFinish = (includeFinalAssistant = true): RunPhase => ({
  kind: "checkpoint",
  continuation: { kind: "may_finish", includeFinalAssistant },
  triggerEntryId: "R",
});

export const ready = (nextAttempt = 1): RunPhase => ({
  kind: "assistant",
  generation: { status: "ready", context: context(), nextAttempt },
});

export const pending = (attempt = 1, overrides: Partial<GenerationContext> = {}): RunPhase => ({
  kind: "assistant",
  generation: {
    status: "effect_pending",
    context: context(overrides),
    attempt,
    responseEntryId: "R",
    usageId: "U",
    intendedOutputLimit: 4096,
    contextWindow: 200_000,
  },
});

export const retryWait = (notBefore = 1000): RunPhase => ({
  kind: "assistant",
  generation: {
    status: "retry_wait",
    context: context(),
    nextAttempt: 2,
    notBefore,
    errorMessage: "overloaded",
  },
});

export const tools = (...calls: ToolCall[]): RunPhase => ({
  kind: "tools",
  batch: { assistantEntryId: "R", configuration: CONFIGURATION, turnId: "s1", calls },
});

export const planned = (sourceIndex: number): ToolCall => ({
  status: "planned",
  sourceIndex,
  resultEntryId: `r${sourceIndex}`,
});

export const started = (sourceIndex: number, replay: "never" | "safe" = "never"): ToolCall => ({
  status: "effect_pending",
  sourceIndex,
  resultEntryId: `r${sourceIndex}`,
  replay,
});

export const completed = (sourceIndex: number, terminate = false): ToolCall => ({
  status: "completed",
  sourceIndex,
  resultEntryId: `r${sourceIndex}`,
  terminate,
});

/** Names a job that a response put off. */
export const HANDLE: DeferredHandle = { provider: "acme", modelId: "large", api: "acme-messages", id: "job" };

export const deferred = (job: Deferred): RunPhase => ({ kind: "deferred", deferred: job });

export const suspended = (poll: number, sourceEntryId = "D"): Deferred => ({
  status: "suspended",
  ...job(sourceEntryId),
  poll,
});

export const polling = (poll: number, R = "R", U = "U", sourceEntryId = "D"): Deferred => ({
  status: "effect_pending",
  ...job(sourceEntryId),
  poll,
  responseEntryId: R,
  usageId: U,
});

const job = (sourceEntryId: string) => ({
  stepId: "s1",
  sourceEntryId,
  configuration: CONFIGURATION,
  streamOptions: context().streamOptions,
});

export const failureDrain = (): RunPhase => ({
  kind: "failure_drain",
  error: { code: "provider_error", message: "no" },
  provenance: { kind: "response", entryId: "R" },
});

export function run(phase: RunPhase, overrides: Partial<RunState> = {}): RunState {
  return {
    kind: "run",
    control: { status: "running" },
    settings: {
      compaction: { ...DEFAULT_COMPACTION_SETTINGS },
      steeringMode: "one-at-a-time",
      followUpMode: "one-at-a-time",
      toolExecution: "parallel",
    },
    phase,
    inbox: { steer: [], followUp: [], writes: [] },
    latestAssistantEntryId: null,
    ...overrides,
  };
}

export const CANCELLED: RunState["control"] = {
  status: "cancel_requested",
  requestedAt: 5,
  drainedSteer: ["q1"],
  drainedFollowUp: ["q2"],
};

export function current(
  state: RunState,
  overrides: Partial<CurrentOperation> = {},
): CurrentOperation<RunState> {
  return {
    operation: OPERATION,
    stateSeq: 10,
    leafId: "e1",
    configuration: CONFIGURATION,
    configurationSeq: 3,
    ...overrides,
    state,
  };
}

export function assistant(
  stopReason: SettledAssistantMessage["stopReason"],
  overrides: Partial<SettledAssistantMessage> = {},
): SettledAssistantMessage {
  return {
    role: "assistant",
    content: [{ type: "text", text: "hello" }],
    api: "acme-messages",
    provider: "acme",
    model: "large",
    usage: USAGE,
    stopReason,
    timestamp: 1,
    ...overrides,
  };
}

/** A response that asks for one call per name, `c0`, `c1`, … */
export function asks(...names: string[]): SettledAssistantMessage {
  return assistant("toolUse", {
    content: names.map((name, index) => ({ type: "toolCall", id: `c${index}`, name, arguments: {} })),
  });
}

export function result(index: number, name = "read", isError = false): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: `c${index}`,
    toolName: name,
    content: [{ type: "text", text: "ok" }],
    details: {},
    isError,
    timestamp: 1,
  };
}

export function entry(id: string, message: Extract<Entry, { type: "message" }>["message"]): Entry {
  return { type: "message", id, parentId: null, seq: 1, timestamp: 1, message };
}

/** Everything registered, nothing running, at time 500. */
export function inputs(overrides: Partial<PlannerInputs> = {}): PlannerInputs {
  return {
    nowMs: 500,
    running: new Set(),
    deferredPollsRemaining: 0,
    tools: new Map([
      ["read", { replay: "safe", executionMode: "parallel" }],
      ["write", { replay: "never", executionMode: "parallel" }],
      ["once", { replay: "never", executionMode: "sequential" }],
    ]),
    hasModel: () => true,
    ...overrides,
  };
}

/** A write in a few words, with its key or id. */
export function inWords(write: Write): string {
  switch (write.kind) {
    case "entry":
      return `entry ${write.entry.id} after ${write.entry.parentId}`;
    case "usage":
      return `usage ${write.row.id} of ${write.row.entryId}`;
    case "register":
      return `${write.op} ${write.namespace}/${write.key}`;
  }
}
