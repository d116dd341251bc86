/**
 * The recovery planner (spec §5.3): from the state after a restart to the one thing to do next.
 *
 * It is pure and allocates no id. Whoever acts on a plan commits, and asks again; so it does not matter after which step
 * the next crash comes. The rows of the table are tried in their order, and each is named where it is decided.
 *
 * Invariants.
 * 1. Every fact that a plan leads to is accepted by the reducer in the state that the plan was made from; only for a tool
 *    that the step did not offer does the one who acts write an answer instead of the start (spec §5.4).
 * 2. A call is started only if all calls before it in its message are answered.
 * 3. `blocked` is planned only where going on could repeat an effect under another configuration, environment or policy.
 */
import { absurd } from "../foundation/index.ts";
import { isBlank } from "./facts/operation-finished.ts";
import { callsOf } from "./messages.ts";
import {
  ABORTED_ERROR,
  type BlockedReason,
  type CurrentProcess,
  EMPTY_ANSWER_ERROR,
  MODEL_ERROR,
  type RecoveryPlan,
  type SyntheticResult,
} from "./plan.ts";
import { type OpenCall, type SettledAnswer, settledAnswer } from "./settled-calls.ts";
import type { CompactionState, RecoveryPoint, RunState, StepState, ToolCallState } from "./state.ts";
import { SYNTHETIC_CONTENT, type SyntheticReason } from "./synthetic.ts";
import { parseArguments } from "./tool-arguments.ts";

export function planRecovery(point: RecoveryPoint, current: CurrentProcess): RecoveryPlan {
  const { operation } = point.state;
  if (operation.kind === "idle") return IDLE; // row 1
  const { step } = operation;
  if (operation.abortRequested) return planAbort(point, step);
  if (step === undefined) return startFirst(point, operation); // row 5
  switch (step.status) {
    case "failed":
      return { type: "finish", outcome: "failed", error: MODEL_ERROR }; // row 6
    case "attempting":
      return planOrphan(step, current);
    case "settled":
      return operation.kind === "compaction"
        ? { type: "finish", outcome: "completed", finalEntryId: operation.resultEntryId } // row 10
        : planSettledRun(point, operation, step, current);
    default:
      return absurd(step.status, "step status");
  }
}

/** Nothing to do; never written. */
const IDLE: RecoveryPlan = { type: "finish", outcome: "completed", completion: "normal" };

/** Rows 2 to 4: after an abort only closure is written. */
function planAbort(point: RecoveryPoint, step: StepState | undefined): RecoveryPlan {
  if (step?.status === "attempting") return { type: "closeAttempt", error: ABORTED_ERROR }; // row 2
  const answer = settledAnswer(point.state);
  if (answer === undefined || answer.open.length === 0) return { type: "finish", outcome: "aborted" }; // row 4
  return {
    type: "appendSynthetic", // row 3
    results: answer.open.map((open) =>
      synthetic(answer, open, open.started === undefined ? "aborted" : "interrupted"),
    ),
  };
}

function startFirst(point: RecoveryPoint, operation: RunState | CompactionState): RecoveryPlan {
  if (point.boundary === undefined)
    throw new Error("an operation has an input, so the session has a boundary");
  return {
    type: "startStep",
    stepKind: operation.kind === "run" ? "assistant" : "compaction",
    attempt: 1,
    contextThroughEntryId: point.boundary,
  };
}

/** Rows 7 to 9: a request that left with a process which did not live to see its outcome. */
function planOrphan(step: StepState, current: CurrentProcess): RecoveryPlan {
  if (step.attempt > 1) return blocked("attempts_exhausted"); // row 7
  if (step.configurationDigest !== current.configurationDigest) return blocked("configuration_changed"); // row 8
  return {
    type: "startStep", // row 9
    stepKind: step.stepKind,
    attempt: 2,
    stepId: step.stepId,
    contextThroughEntryId: step.contextThroughEntryId,
  };
}

/** Rows 11 to 24: the model has answered. */
function planSettledRun(
  point: RecoveryPoint,
  operation: RunState,
  step: StepState,
  current: CurrentProcess,
): RecoveryPlan {
  const answer = settledAnswer(point.state);
  if (answer === undefined || step.stopReason === undefined) {
    throw new Error("a settled step of a run has an answer with a stop reason");
  }
  switch (step.stopReason) {
    case "length": {
      if (callsOf(answer.message).length === 0) return EMPTY_ANSWER; // row 14
      if (answer.open.length === 0) return completed("truncated", answer.entryId); // row 12
      const results = answer.open.map((open) => synthetic(answer, open, "truncated"));
      return { type: "appendSynthetic", results }; // row 11
    }
    case "stop":
      if (isBlank(answer.message.content)) return EMPTY_ANSWER; // row 14
      return completed("normal", answer.entryId); // row 13
    case "toolUse": {
      const lowest = answer.open[0];
      if (lowest === undefined) return startFirst(point, operation); // row 15
      if (lowest.started === undefined) return planUnstarted(answer, lowest, current);
      return planPending(answer, lowest, lowest.started, step, current);
    }
    default:
      return absurd(step.stopReason, "stop reason");
  }
}

const EMPTY_ANSWER: RecoveryPlan = { type: "finish", outcome: "failed", error: EMPTY_ANSWER_ERROR };

function completed(completion: "normal" | "truncated", finalEntryId: string): RecoveryPlan {
  return { type: "finish", outcome: "completed", completion, finalEntryId };
}

/** Rows 16 to 18. */
function planUnstarted(answer: SettledAnswer, open: OpenCall, current: CurrentProcess): RecoveryPlan {
  const { name, arguments: text } = open.call.function;
  const isDeclared = current.tools.some((tool) => tool.name === name);
  const parsed = isDeclared ? parseArguments(text) : undefined;
  if (parsed === undefined) {
    const reason = isDeclared ? "invalidArguments" : "unknownTool"; // rows 17 and 16
    return { type: "appendSynthetic", results: [synthetic(answer, open, reason)] };
  }
  return {
    type: "startTool", // row 18
    mode: "start",
    assistantEntryId: answer.entryId,
    toolIndex: open.toolIndex,
    toolName: name,
    arguments: parsed,
  };
}

/** Rows 19 to 24: the effect may have happened. */
function planPending(
  answer: SettledAnswer,
  open: OpenCall,
  intent: ToolCallState,
  step: StepState,
  current: CurrentProcess,
): RecoveryPlan {
  if (intent.environmentIdentity !== current.environmentIdentity) return blocked("environment_changed"); // row 19
  const declared = current.tools.find((tool) => tool.name === intent.toolName);
  if (declared === undefined || declared.definitionDigest === "") {
    return blocked("configuration_changed"); // row 20
  }
  if (intent.replay === "never") {
    return { type: "appendSynthetic", results: [synthetic(answer, open, "interrupted")] }; // row 21
  }
  if (declared.replay !== "safe" || declared.replayKey !== intent.replayKey) {
    return blocked("replay_declaration_changed"); // row 22
  }
  if (step.configurationDigest !== current.configurationDigest) return blocked("configuration_changed"); // row 23
  return {
    type: "startTool", // row 24
    mode: "replay",
    assistantEntryId: intent.assistantEntryId,
    toolIndex: intent.toolIndex,
    toolStartedId: intent.toolStartedId,
    toolName: intent.toolName,
    arguments: intent.arguments,
  };
}

function blocked(reason: BlockedReason): RecoveryPlan {
  return { type: "blocked", reason };
}

function synthetic(answer: SettledAnswer, open: OpenCall, reason: SyntheticReason): SyntheticResult {
  const ids =
    reason === "interrupted" && open.started !== undefined
      ? { toolStartedId: open.started.toolStartedId, resultEntryId: open.started.resultEntryId }
      : {};
  return {
    assistantEntryId: answer.entryId,
    toolIndex: open.toolIndex,
    toolCallId: open.call.id,
    toolName: open.call.function.name,
    reason,
    content: SYNTHETIC_CONTENT[reason],
    ...ids,
  };
}
