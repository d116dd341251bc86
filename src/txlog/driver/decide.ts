/**
 * From a plan to what is done about it (spec §5.4): the facts to commit, and the effect that may follow them.
 *
 * Pure but for the ids it takes. Whatever starts an effect is in `facts`, and the effect may begin only when they are on
 * disk.
 */
import { absurd, type IdGenerator } from "../../foundation/index.ts";
import { type ConfigurationSnapshot, configurationDigest } from "../configuration.ts";
import type { NewFact } from "../fact-types.ts";
import type {
  AppendSyntheticPlan,
  BlockedReason,
  CurrentProcess,
  DeclaredTool,
  FinishPlan,
  StartStepPlan,
  StartToolPlan,
  SyntheticResult,
} from "../plan.ts";
import { planRecovery } from "../planner.ts";
import { settledAnswer } from "../settled-calls.ts";
import type { CompactionState, RecoveryPoint, RunState, StepState, ToolCallState } from "../state.ts";
import { SYNTHETIC_CONTENT } from "../synthetic.ts";
import type { ModelRequest, ToolExecution } from "../world.ts";

/** The process that drives: what it would ask the model for, where it runs, and which tools it has. */
export interface ProcessDeclaration {
  readonly configuration: ConfigurationSnapshot;
  readonly environmentIdentity: string;
  readonly tools: readonly DeclaredTool[];
}

/** An effect with what is needed to record its outcome. */
export type Effect =
  | { readonly type: "request"; readonly request: ModelRequest }
  | { readonly type: "execute"; readonly execution: ToolExecution; readonly call: StartedCall };

/** Of a started call: where its result goes. */
export type StartedCall = Pick<
  ToolCallState,
  "operationId" | "stepId" | "toolStartedId" | "toolCallId" | "toolName" | "resultEntryId"
>;

export type Decision =
  | { readonly type: "idle" }
  | { readonly type: "blocked"; readonly reason: BlockedReason }
  | { readonly type: "commit"; readonly facts: readonly NewFact[] }
  | { readonly type: "effect"; readonly facts: readonly NewFact[]; readonly effect: Effect };

/** What a process must do next in a session. */
export class Decider {
  readonly #declaration: ProcessDeclaration;
  readonly #current: CurrentProcess;
  readonly #ids: IdGenerator;

  constructor(declaration: ProcessDeclaration, ids: IdGenerator) {
    this.#declaration = declaration;
    this.#ids = ids;
    this.#current = {
      configurationDigest: configurationDigest(declaration.configuration),
      environmentIdentity: declaration.environmentIdentity,
      tools: declaration.tools,
    };
  }

  decide(point: RecoveryPoint): Decision {
    const { operation } = point.state;
    if (operation.kind === "idle") return { type: "idle" };
    const plan = planRecovery(point, this.#current);
    switch (plan.type) {
      case "blocked":
        return { type: "blocked", reason: plan.reason };
      case "finish":
        return { type: "commit", facts: [finished(operation, plan)] };
      case "closeAttempt": {
        const { operationId, stepId, attemptId } = stepOf(operation);
        const { error } = plan;
        return {
          type: "commit",
          facts: [{ kind: "record", record: { type: "stepFailed", operationId, stepId, attemptId, error } }],
        };
      }
      case "appendSynthetic":
        return { type: "commit", facts: syntheticFacts(stepOf(operation), plan) };
      case "startStep":
        return this.#startStep(point, operation, plan);
      case "startTool":
        return plan.mode === "start"
          ? this.#startTool(point, stepOf(operation), plan)
          : replayTool(operation, plan);
      default:
        return absurd(plan, "plan");
    }
  }

  #startStep(point: RecoveryPoint, operation: RunState | CompactionState, plan: StartStepPlan): Decision {
    const repeated = plan.attempt === 1 ? undefined : stepOf(operation);
    const configuration = repeated?.configurationSnapshot ?? this.#declaration.configuration;
    const stepId = plan.stepId ?? this.#ids.next();
    const attemptId = this.#ids.next();
    const { operationId } = operation;
    const { stepKind, attempt, contextThroughEntryId } = plan;
    return {
      type: "effect",
      facts: [
        {
          kind: "record",
          record: {
            type: "stepAttempt",
            operationId,
            stepId,
            attemptId,
            stepKind,
            attempt,
            contextThroughEntryId,
            configurationSnapshot: configuration,
            configurationDigest: repeated?.configurationDigest ?? this.#current.configurationDigest,
          },
        },
      ],
      effect: {
        type: "request",
        request: {
          operationId,
          stepId,
          attemptId,
          attempt,
          purpose: stepKind,
          messages: messagesFor(point),
          configuration,
        },
      },
    };
  }

  #startTool(point: RecoveryPoint, step: StepState, plan: StartToolPlan): Decision {
    const { assistantEntryId, toolIndex, toolName } = plan;
    const declared = this.#declaration.tools.find((tool) => tool.name === toolName);
    const open = settledAnswer(point.state)?.open.find((call) => call.toolIndex === toolIndex);
    if (declared === undefined || open === undefined) throw new Error("a planned call is open and declared");
    const toolCallId = open.call.id;
    if (!step.configurationSnapshot.tools.some((tool) => tool.name === toolName)) {
      // The step did not offer the tool, so an intent would be refused: the model named it on its own.
      const content = SYNTHETIC_CONTENT.unknownTool;
      const result: SyntheticResult = {
        assistantEntryId,
        toolIndex,
        toolCallId,
        toolName,
        reason: "unknownTool",
        content,
      };
      return { type: "commit", facts: [syntheticFact(step, result)] };
    }
    const { operationId, stepId } = step;
    const toolStartedId = this.#ids.next();
    const resultEntryId = this.#ids.next();
    return {
      type: "effect",
      facts: [
        {
          kind: "record",
          id: toolStartedId,
          record: {
            type: "toolStarted",
            operationId,
            stepId,
            assistantEntryId,
            toolIndex,
            toolCallId,
            toolName,
            arguments: plan.arguments,
            replay: declared.replay,
            replayKey: declared.replayKey,
            environmentIdentity: this.#declaration.environmentIdentity,
            resultEntryId,
          },
        },
      ],
      effect: execute(plan, { operationId, stepId, toolStartedId, toolCallId, toolName, resultEntryId }),
    };
  }
}

/** A replay has its intent already. */
function replayTool(operation: RunState | CompactionState, plan: StartToolPlan): Decision {
  const calls = operation.kind === "run" ? operation.toolCalls : [];
  const call = calls.findLast((started) => started.toolStartedId === plan.toolStartedId);
  if (call === undefined) throw new Error("a replay has an intent");
  return { type: "effect", facts: [], effect: execute(plan, call) };
}

function execute(plan: StartToolPlan, call: StartedCall): Effect {
  const { operationId, toolStartedId, toolCallId, toolName } = call;
  const { arguments: effective, mode } = plan;
  const execution = { operationId, toolStartedId, toolCallId, toolName, arguments: effective, mode };
  return { type: "execute", execution, call };
}

/** What the model is shown: the active context, or for a summary everything that it will stand for. */
function messagesFor(point: RecoveryPoint): ModelRequest["messages"] {
  const { state, compaction } = point;
  return compaction === undefined
    ? state.activeContext.slice()
    : state.transcript.slice(0, compaction.compactedCount);
}

function stepOf(operation: RunState | CompactionState): StepState {
  if (operation.step === undefined) throw new Error("the plan concerns a step, so there is one");
  return operation.step;
}

function finished(operation: RunState | CompactionState, plan: FinishPlan): NewFact {
  const { type: _, ...outcome } = plan;
  const { operationId, kind: operationKind } = operation;
  return { kind: "record", record: { type: "operationFinished", operationId, operationKind, ...outcome } };
}

function syntheticFacts(step: StepState, plan: AppendSyntheticPlan): NewFact[] {
  return plan.results.map((result) => syntheticFact(step, result));
}

function syntheticFact(step: StepState, result: SyntheticResult): NewFact {
  const { stepId } = step;
  const { assistantEntryId, toolIndex, toolCallId, toolName, reason, content } = result;
  const message = { role: "tool", content, tool_call_id: toolCallId } as const;
  if (reason !== "interrupted") {
    const entry = { type: "message", stepId, assistantEntryId, toolIndex, message, toolName } as const;
    return { kind: "entry", entry: { ...entry, result: { type: "synthetic", reason } } };
  }
  const { toolStartedId, resultEntryId } = result;
  if (toolStartedId === undefined || resultEntryId === undefined) {
    throw new Error("an interrupted call was started");
  }
  const entry = { type: "message", stepId, message, toolName, toolStartedId } as const;
  return { kind: "entry", id: resultEntryId, entry: { ...entry, result: { type: "synthetic", reason } } };
}
