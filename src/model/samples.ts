/**
 * One right value of every durable shape, typed. The tests of this room break them one field at a time, and the
 * tests of later rooms may start from them. Each call builds a fresh value, so that no test sees another's change.
 */
import type { Entry, EntryDraft } from "./entry.ts";
import type { Deferred, Generation, StructuralDecision, SummaryGeneration } from "./generation.ts";
import type { LaneConfiguration, LaneLastResult } from "./lane.ts";
import type { AgentMessage, SettledAssistantMessage } from "./message.ts";
import type { Operation } from "./operation.ts";
import type { CheckpointPhase, Control, OperationState, RunPhase, RunState } from "./operation-state.ts";
import type { DurableStructuralPreparation } from "./preparation.ts";
import type { RegisterNamespace, RegisterValues } from "./register.ts";
import { DEFAULT_COMPACTION_SETTINGS } from "./settings.ts";
import { type UsageRow, zeroUsage } from "./usage.ts";

export function sampleConfiguration(): LaneConfiguration {
  return { model: { provider: "acme", modelId: "large" }, thinkingLevel: "off", activeToolNames: ["read"] };
}

export function sampleAssistant(
  stopReason: SettledAssistantMessage["stopReason"] = "stop",
): SettledAssistantMessage {
  return {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "hm", thinkingSignature: "sig" },
      { type: "text", text: "hello" },
      { type: "toolCall", id: "call_1", name: "read", arguments: { path: "a.txt" } },
    ],
    api: "acme-messages",
    provider: "acme",
    model: "large",
    usage: zeroUsage(),
    stopReason,
    ...(stopReason === "deferred"
      ? { deferred: { provider: "acme", modelId: "large", api: "acme-messages", id: "job_1" } }
      : {}),
    timestamp: 1,
  };
}

/** One message per built-in role, and one per stop reason of an assistant. */
export function sampleMessages(): Record<string, AgentMessage> {
  return {
    "user text": { role: "user", content: "hi", timestamp: 1 },
    "user blocks": {
      role: "user",
      content: [
        { type: "text", text: "look" },
        { type: "image", data: "AAAA", mimeType: "image/png" },
      ],
      timestamp: 1,
    },
    "assistant stop": sampleAssistant("stop"),
    "assistant length": sampleAssistant("length"),
    "assistant toolUse": sampleAssistant("toolUse"),
    "assistant error": { ...sampleAssistant("error"), content: [], errorMessage: "overloaded" },
    "assistant aborted": sampleAssistant("aborted"),
    "assistant deferred": sampleAssistant("deferred"),
    toolResult: {
      role: "toolResult",
      toolCallId: "call_1",
      toolName: "read",
      content: [{ type: "text", text: "x" }],
      details: { lines: 1 },
      usage: zeroUsage(),
      isError: false,
      timestamp: 1,
    },
    bashExecution: {
      role: "bashExecution",
      command: "ls",
      output: "a",
      exitCode: 0,
      cancelled: false,
      truncated: false,
      timestamp: 1,
    },
    custom: { role: "custom", customType: "note", content: "n", display: true, timestamp: 1 },
    branchSummary: { role: "branchSummary", summary: "s", fromId: "e_1", timestamp: 1 },
    compactionSummary: { role: "compactionSummary", summary: "s", tokensBefore: 10, timestamp: 1 },
  };
}

/** One entry per type. */
export function sampleEntries(): { [Type in Entry["type"]]: Extract<Entry, { type: Type }> } {
  const placed = { id: "e_2", parentId: "e_1", seq: 7, timestamp: 1000 };
  return {
    message: { ...placed, type: "message", message: sampleAssistant(), terminate: true },
    compaction: {
      ...placed,
      type: "compaction",
      summary: "s",
      retainedTail: [sampleAssistant(), { role: "user", content: "hi", timestamp: 1 }],
      tokensBefore: 100,
      usage: zeroUsage(),
      fromHook: false,
    },
    branch_summary: { ...placed, type: "branch_summary", fromId: "e_0", summary: "s", fromHook: true },
    custom: { ...placed, type: "custom", customType: "note", data: { any: [1, null] } },
  };
}

/** An entry as it is before its commit. */
export function toDraft(entry: Entry): EntryDraft {
  const { seq: _seq, timestamp: _timestamp, ...draft } = entry;
  return draft;
}

export function sampleUsageRow(): UsageRow {
  return { id: "u_1", seq: 8, usage: zeroUsage(), entryId: "e_2", adjustment: false };
}

const request = () => ({
  configuration: sampleConfiguration(),
  streamOptions: {
    timeoutMs: 1000,
    headers: { "x-a": "b" },
    metadata: { user: "u" },
    deferred: { window: "1h" as const },
  },
});
const retryPolicy = () => ({ maxAttempts: 3, baseDelayMs: 1000 });
const step = () => ({
  stepId: "s_1",
  triggerEntryId: "e_1",
  ...request(),
  retryPolicy: retryPolicy(),
  overflowRecoveryUsed: false,
});
const task = () => ({
  taskId: "t_1",
  resultEntryId: "e_9",
  kind: "compaction" as const,
  ...request(),
  retryPolicy: retryPolicy(),
  reason: "threshold" as const,
});
const checkpoint = (): CheckpointPhase => ({
  kind: "checkpoint",
  continuation: { kind: "need_assistant", overflowRecoveryUsed: false },
  triggerEntryId: "e_1",
  thresholdCheckedTriggerEntryId: "e_1",
  skipInboxOnce: true,
});

function generations(): Record<Generation["status"], Generation> {
  return {
    ready: { status: "ready", context: step(), nextAttempt: 1 },
    effect_pending: {
      status: "effect_pending",
      context: step(),
      attempt: 1,
      responseEntryId: "e_3",
      usageId: "u_3",
      intendedOutputLimit: 4096,
      contextWindow: 200000,
    },
    retry_wait: {
      status: "retry_wait",
      context: step(),
      nextAttempt: 2,
      notBefore: 2000,
      errorMessage: "overloaded",
    },
  };
}

function summaries(): Record<SummaryGeneration["status"], SummaryGeneration> {
  return {
    ready: { status: "ready", context: task(), nextAttempt: 1 },
    effect_pending: {
      status: "effect_pending",
      context: task(),
      attempt: 1,
      request: { index: 0, usageId: "u_4" },
      usageIds: ["u_2"],
    },
    retry_wait: {
      status: "retry_wait",
      context: task(),
      nextAttempt: 2,
      notBefore: 2000,
      errorMessage: "overloaded",
    },
  };
}

const deciding = (): StructuralDecision => ({ taskId: "t_1", status: "deciding" });
const generating = (generation: SummaryGeneration): StructuralDecision => ({
  taskId: "t_1",
  status: "generating",
  generation,
});

function deferreds(): Record<Deferred["status"], Deferred> {
  const job = () => ({ stepId: "s_1", sourceEntryId: "e_3", ...request() });
  return {
    suspended: { status: "suspended", poll: 0, ...job() },
    effect_pending: { status: "effect_pending", poll: 1, responseEntryId: "e_4", usageId: "u_4", ...job() },
  };
}

/** One run phase per member of the union, and per state of its inner unions. */
function phases(): Record<string, RunPhase> {
  const structural = (decision: StructuralDecision): RunPhase => ({
    kind: "compaction",
    reason: "threshold",
    structural: decision,
    resumeAfter: checkpoint(),
  });
  const named: Record<string, RunPhase> = {
    "run checkpoint need_assistant": checkpoint(),
    "run checkpoint may_finish": {
      kind: "checkpoint",
      continuation: { kind: "may_finish", includeFinalAssistant: true },
      triggerEntryId: "e_1",
    },
    "run tools": {
      kind: "tools",
      batch: {
        assistantEntryId: "e_3",
        configuration: sampleConfiguration(),
        turnId: "s_1",
        calls: [
          { status: "completed", sourceIndex: 0, resultEntryId: "e_4", terminate: false },
          { status: "effect_pending", sourceIndex: 1, resultEntryId: "e_5", replay: "safe" },
          { status: "planned", sourceIndex: 2, resultEntryId: "e_6" },
        ],
      },
    },
    "run compaction deciding": structural(deciding()),
    "run failure_drain response": {
      kind: "failure_drain",
      error: { code: "provider_error", message: "m", details: { status: 500 } },
      provenance: { kind: "response", entryId: "e_3" },
    },
    "run failure_drain structural": {
      kind: "failure_drain",
      error: { code: "summary_failed", message: "m" },
      provenance: { kind: "structural", taskId: "t_1" },
    },
  };
  for (const generation of Object.values(generations())) {
    named[`run assistant ${generation.status}`] = { kind: "assistant", generation };
  }
  for (const deferred of Object.values(deferreds())) {
    named[`run deferred ${deferred.status}`] = { kind: "deferred", deferred };
  }
  for (const summary of Object.values(summaries())) {
    named[`run compaction generating ${summary.status}`] = structural(generating(summary));
  }
  return named;
}

/** A run in the given phase. */
export function sampleRun(
  phase: RunPhase = checkpoint(),
  control: Control = { status: "running" },
): RunState {
  return {
    kind: "run",
    control,
    settings: {
      compaction: { ...DEFAULT_COMPACTION_SETTINGS },
      steeringMode: "one-at-a-time",
      followUpMode: "all",
      toolExecution: "parallel",
    },
    phase,
    inbox: { steer: ["e_10"], followUp: [], writes: [] },
    latestAssistantEntryId: null,
  };
}

/** One operation state per member of the union, down to the innermost. */
export function sampleOperationStates(): Record<string, OperationState> {
  const named: Record<string, OperationState> = {};
  for (const [name, phase] of Object.entries(phases())) named[name] = sampleRun(phase);
  named["run cancelled"] = sampleRun(checkpoint(), {
    status: "cancel_requested",
    requestedAt: 5000,
    drainedSteer: ["e_10"],
    drainedFollowUp: [],
  });
  const running: Control = { status: "running" };
  named["compaction deciding"] = {
    kind: "compaction",
    control: running,
    customInstructions: "short",
    structural: deciding(),
  };
  for (const summary of Object.values(summaries())) {
    const structural = generating(summary);
    named[`compaction generating ${summary.status}`] = { kind: "compaction", control: running, structural };
  }
  named["navigation ready_to_commit"] = {
    kind: "navigation",
    control: running,
    targetId: null,
    summarize: false,
    phase: { kind: "ready_to_commit" },
  };
  for (const [name, structural] of [
    ["deciding", deciding()],
    ["generating", generating(summaries().ready)],
  ] as const) {
    named[`navigation summary ${name}`] = {
      kind: "navigation",
      control: running,
      targetId: "e_1",
      label: "here",
      summarize: true,
      phase: { kind: "summary", structural },
    };
  }
  return named;
}

/** One operation per intent. */
export function sampleOperations(): { [Kind in Operation["intent"]["kind"]]: Operation } {
  const accepted = { operationId: "op_1", lane: "main", sourceLeafId: null, startedAt: 1000 };
  return {
    run: { ...accepted, intent: { kind: "run", promptEntryIds: ["e_1"], resumeData: { hook: { any: 1 } } } },
    compaction: { ...accepted, intent: { kind: "compaction", customInstructions: "short" } },
    navigation: { ...accepted, intent: { kind: "navigation", targetId: null, summarize: false } },
  };
}

export function samplePreparations(): Record<
  DurableStructuralPreparation["kind"],
  DurableStructuralPreparation
> {
  const fileOps = () => ({ read: ["a"], written: [], edited: ["b"] });
  return {
    compaction: {
      kind: "compaction",
      messagesToSummarize: [{ role: "user", content: "hi", timestamp: 1 }],
      turnPrefixMessages: [],
      retainedTail: [sampleAssistant()],
      isSplitTurn: false,
      tokensBefore: 100,
      previousSummary: "before",
      fileOps: fileOps(),
      settings: { ...DEFAULT_COMPACTION_SETTINGS },
    },
    branch_summary: {
      kind: "branch_summary",
      messages: [sampleAssistant()],
      fileOps: fileOps(),
      totalTokens: 10,
    },
  };
}

/** One result per outcome. */
export function sampleLastResults(): Record<LaneLastResult["outcome"], LaneLastResult> {
  const ended = { operationId: "op_1", kind: "run" as const, leafId: "e_3" };
  return {
    completed: { ...ended, outcome: "completed", finalAssistantEntryId: "e_3", runCompletion: "assistant" },
    failed: { ...ended, outcome: "failed", error: { code: "provider_error", message: "m" } },
    declined: { operationId: "op_1", kind: "compaction", leafId: "e_3", outcome: "declined" },
    aborted: { ...ended, outcome: "aborted" },
  };
}

/** One value per namespace. */
export function sampleRegisterValues(): RegisterValues & Record<RegisterNamespace, unknown> {
  return {
    "lane.leaf": "e_1",
    "lane.config": sampleConfiguration(),
    "lane.state": { currentOperationId: "op_1", pendingNextRun: ["e_8"] },
    "lane.lastResult": sampleLastResults().completed,
    "op.meta": sampleOperations().run,
    "op.state": sampleRun(),
    "op.tool_args": { path: "a.txt" },
    "op.preparation": samplePreparations().compaction,
    "pending.entry": { type: "message", payload: { role: "user", content: "hi", timestamp: 1 } },
    "fact.name": "session",
    "fact.label": "here",
    "fact.custom": null,
  };
}
