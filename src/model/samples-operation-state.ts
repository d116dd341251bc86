/**
 * One right operation state per member of the union, down to the innermost, typed; `samples.ts` has the rest.
 */
import type { Deferred, Generation, StructuralDecision, SummaryGeneration } from "./generation.ts";
import type { CheckpointPhase, Control, OperationState, RunPhase, RunState } from "./operation-state.ts";
import { sampleConfiguration } from "./samples.ts";
import { DEFAULT_COMPACTION_SETTINGS } from "./settings.ts";

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
