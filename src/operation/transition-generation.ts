/**
 * Transitions of assistant generation: start, intent, settlement, retry, recovery (spec §3.7, §4.5).
 *
 * "Settle R" is, in this order: insert entry R, `lane.leaf` = R, insert usage U, and last the next state. A response
 * without its usage, or a response without its decision, is never durable.
 *
 * Recovery of an attempt whose outcome is unknown is one of two transitions. While the captured policy allows, the
 * attempt is given up and the generation is ready again with the next number: its reserved ids never come to exist,
 * and the next attempt passes through `before_request` like every other. At the cap, a synthetic error is settled
 * under the reserved ids.
 */
import type {
  AgentMessage,
  CheckpointPhase,
  DurableStructuralPreparation,
  Generation,
  GenerationContext,
  OperationError,
  RunPhase,
  RunState,
  SettledAssistantMessage,
  Write,
} from "../model/index.ts";
import { type Classification, normalizeForStorage } from "./classification.ts";
import { type CurrentOperation, leafWrite, stateWrite, type Transition, withPhase } from "./current.ts";
import { retryNotBefore } from "./retry.ts";
import { OPERATION_ERROR_CODES } from "./synthetic.ts";
import { preparationWrite } from "./transition-structural.ts";

type PendingGeneration = Extract<Generation, { status: "effect_pending" }>;

/** A response is there: from the provider, or synthetic. */
export interface GenerationSettled {
  readonly kind: "generation_settled";
  readonly message: SettledAssistantMessage;
  readonly classification: Classification;
  readonly nowMs: number;
  /** With `tools`: one reserved id per call, followers of the response entry's id. */
  readonly resultEntryIds?: readonly string[];
  /** With the first `overflow`: the structural task, unless there is nothing to compact. */
  readonly compaction?: { readonly taskId: string; readonly preparation: DurableStructuralPreparation };
  /** The code of the failure that this response may lead to; by default it follows from the classification. */
  readonly failureCode?: string;
}

/** checkpoint `need_assistant` → ready. */
export function startGeneration(current: CurrentOperation<RunState>, context: GenerationContext): Transition {
  return moveTo(current, {
    kind: "assistant",
    generation: { status: "ready", context, nextAttempt: 1 },
  });
}

/** ready → effect_pending: the durable intent, with the ids of the settlement. */
export function intendRequest(
  current: CurrentOperation<RunState>,
  generation: Extract<Generation, { status: "ready" }>,
  reserved: Omit<PendingGeneration, "status" | "context" | "attempt">,
): Transition {
  return moveTo(current, {
    kind: "assistant",
    generation: {
      status: "effect_pending",
      context: generation.context,
      attempt: generation.nextAttempt,
      responseEntryId: reserved.responseEntryId,
      usageId: reserved.usageId,
      intendedOutputLimit: reserved.intendedOutputLimit,
      contextWindow: reserved.contextWindow,
    },
  });
}

/** retry_wait → ready, once the wait is over. */
export function endRetryWait(
  current: CurrentOperation<RunState>,
  generation: Extract<Generation, { status: "retry_wait" }>,
): Transition {
  return moveTo(current, {
    kind: "assistant",
    generation: { status: "ready", context: generation.context, nextAttempt: generation.nextAttempt },
  });
}

/** effect_pending with an unknown outcome → ready with the next attempt, which the captured policy must allow. */
export function giveUpAttempt(
  current: CurrentOperation<RunState>,
  generation: PendingGeneration,
): Transition {
  return moveTo(current, {
    kind: "assistant",
    generation: { status: "ready", context: generation.context, nextAttempt: generation.attempt + 1 },
  });
}

/** effect_pending → whatever the classification of the response says. */
export function settleGeneration(
  current: CurrentOperation<RunState>,
  generation: PendingGeneration,
  settled: GenerationSettled,
): Transition {
  const { operation, state } = current;
  const { responseEntryId: R, usageId: U } = generation;
  const { classification } = settled;
  const message = normalizeForStorage(settled.message, classification, generation.intendedOutputLimit);
  const phase = phaseAfter(generation, settled, message);
  const next: RunState = { ...withPhase(state, phase), latestAssistantEntryId: R };
  const writes: Write[] = [
    { kind: "entry", entry: { type: "message", id: R, parentId: current.leafId, message } },
    leafWrite(operation.lane, R),
    { kind: "usage", row: { id: U, usage: message.usage, entryId: R, adjustment: false } },
  ];
  if (phase.kind === "compaction" && settled.compaction) {
    const { taskId, preparation } = settled.compaction;
    writes.push(preparationWrite(operation.operationId, taskId, preparation));
  }
  writes.push(stateWrite(operation.operationId, next));
  return { writes, state: next, leafId: R };
}

function phaseAfter(
  generation: PendingGeneration,
  settled: GenerationSettled,
  message: AgentMessage & SettledAssistantMessage,
): RunPhase {
  const { context, responseEntryId } = generation;
  const { classification } = settled;
  const finish: CheckpointPhase = {
    kind: "checkpoint",
    continuation: { kind: "may_finish", includeFinalAssistant: true },
    triggerEntryId: responseEntryId,
  };
  const failure = (code: string): RunPhase => ({
    kind: "failure_drain",
    error: errorOf(settled.failureCode ?? code, message),
    provenance: { kind: "response", entryId: responseEntryId },
  });
  switch (classification.kind) {
    case "cancelled":
      return finish;
    case "overflow": {
      if (!classification.isFirst || settled.compaction === undefined) {
        return failure(OPERATION_ERROR_CODES.contextOverflow);
      }
      const resumeAfter: CheckpointPhase = {
        kind: "checkpoint",
        continuation: { kind: "need_assistant", overflowRecoveryUsed: true },
        triggerEntryId: context.triggerEntryId,
      };
      const structural = { taskId: settled.compaction.taskId, status: "deciding" } as const;
      return { kind: "compaction", reason: "overflow", structural, resumeAfter };
    }
    case "deferred":
      return {
        kind: "deferred",
        deferred: {
          status: "suspended",
          stepId: context.stepId,
          sourceEntryId: responseEntryId,
          poll: 0,
          configuration: context.configuration,
          streamOptions: context.streamOptions,
        },
      };
    case "retry": {
      const nextAttempt = generation.attempt + 1;
      const notBefore = retryNotBefore(settled.nowMs, context.retryPolicy.baseDelayMs, generation.attempt);
      const errorMessage = message.errorMessage ?? "";
      return {
        kind: "assistant",
        generation: { status: "retry_wait", context, nextAttempt, notBefore, errorMessage },
      };
    }
    case "failure":
      return failure(OPERATION_ERROR_CODES.providerError);
    case "tools":
      return toolsPhase(generation, settled);
    case "finish":
      return finish;
  }
}

function toolsPhase({ context, responseEntryId }: PendingGeneration, settled: GenerationSettled): RunPhase {
  const ids = settled.resultEntryIds ?? [];
  return {
    kind: "tools",
    batch: {
      assistantEntryId: responseEntryId,
      configuration: context.configuration,
      turnId: context.stepId,
      calls: ids.map((resultEntryId, sourceIndex) => ({ status: "planned", sourceIndex, resultEntryId })),
    },
  };
}

function errorOf(code: string, message: SettledAssistantMessage): OperationError {
  return { code, message: message.errorMessage || "the provider answered with an error and no message" };
}

function moveTo(current: CurrentOperation<RunState>, phase: RunPhase): Transition {
  const state = withPhase(current.state, phase);
  return {
    writes: [stateWrite(current.operation.operationId, state)],
    state,
    leafId: current.leafId,
  };
}
