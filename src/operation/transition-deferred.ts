/**
 * Transitions of a deferred job: the intent of a poll, and its settlement (spec §3.2).
 *
 * The order of writes is that of a generation: an intent is the state alone, a settlement is entry R, `lane.leaf` = R,
 * usage U, and last the next state. Every settled poll is durable, a pending one too: its response is the next source.
 *
 * Recovery is the intent again: a poll of a lost process is replaced by one with fresh ids at the same number, and the
 * ids of the old one never come to exist.
 */
import type {
  Deferred,
  DeferredHandle,
  RunPhase,
  RunState,
  SettledAssistantMessage,
  Write,
} from "../model/index.ts";
import { type CurrentOperation, leafWrite, stateWrite, type Transition, withPhase } from "./current.ts";
import { isOverflowMessage } from "./overflow-patterns.ts";
import { normalizePoll, type PollClassification } from "./poll-classification.ts";
import { OPERATION_ERROR_CODES } from "./synthetic.ts";

/** A poll may start. */
export interface PollIntended {
  readonly kind: "poll_intended";
  readonly responseEntryId: string;
  readonly usageId: string;
}

/** The answer to a poll is there: from the provider, or synthetic. */
export interface PollSettled {
  readonly kind: "poll_settled";
  readonly message: SettledAssistantMessage;
  readonly classification: PollClassification;
  /** The handle that was polled. */
  readonly source: DeferredHandle;
  /** With `tools`: one reserved id per call, followers of the response entry's id. */
  readonly resultEntryIds?: readonly string[];
}

type PendingPoll = Extract<Deferred, { status: "effect_pending" }>;

/** suspended k → effect_pending k+1; effect_pending k of a lost process → effect_pending k with fresh ids. */
export function intendPoll(
  current: CurrentOperation<RunState>,
  deferred: Deferred,
  { responseEntryId, usageId }: PollIntended,
): Transition {
  const { stepId, sourceEntryId, configuration, streamOptions } = deferred;
  const poll = deferred.status === "suspended" ? deferred.poll + 1 : deferred.poll;
  const state = withPhase(current.state, {
    kind: "deferred",
    deferred: {
      status: "effect_pending",
      stepId,
      sourceEntryId,
      poll,
      responseEntryId,
      usageId,
      configuration,
      streamOptions,
    },
  });
  return {
    writes: [stateWrite(current.operation.operationId, state)],
    state,
    leafId: current.leafId,
  };
}

/** effect_pending → whatever the classification of the answer says. */
export function settlePoll(
  current: CurrentOperation<RunState>,
  deferred: PendingPoll,
  settled: PollSettled,
): Transition {
  const { operation, state } = current;
  const { responseEntryId: R, usageId: U } = deferred;
  const message = normalizePoll(settled.message, settled.classification, settled.source);
  const next: RunState = {
    ...withPhase(state, phaseAfter(deferred, settled, message)),
    latestAssistantEntryId: R,
  };
  const writes: Write[] = [
    { kind: "entry", entry: { type: "message", id: R, parentId: current.leafId, message } },
    leafWrite(operation.lane, R),
    { kind: "usage", row: { id: U, usage: message.usage, entryId: R, adjustment: false } },
    stateWrite(operation.operationId, next),
  ];
  return { writes, state: next, leafId: R };
}

function phaseAfter(
  { stepId, poll, responseEntryId, configuration, streamOptions }: PendingPoll,
  { classification, resultEntryIds = [] }: PollSettled,
  message: SettledAssistantMessage,
): RunPhase {
  switch (classification.kind) {
    case "pending":
      return {
        kind: "deferred",
        deferred: {
          status: "suspended",
          stepId,
          sourceEntryId: responseEntryId,
          poll,
          configuration,
          streamOptions,
        },
      };
    case "mismatch":
    case "failure": {
      const errorMessage =
        message.errorMessage || "the provider answered a poll with an error and no message";
      const code = isOverflowMessage(errorMessage)
        ? OPERATION_ERROR_CODES.contextOverflow
        : OPERATION_ERROR_CODES.providerError;
      return {
        kind: "failure_drain",
        error: { code, message: errorMessage },
        provenance: { kind: "response", entryId: responseEntryId },
      };
    }
    case "tools":
      return {
        kind: "tools",
        batch: {
          assistantEntryId: responseEntryId,
          configuration,
          turnId: stepId,
          calls: resultEntryIds.map((resultEntryId, sourceIndex) => ({
            status: "planned",
            sourceIndex,
            resultEntryId,
          })),
        },
      };
    case "cancelled":
    case "finish":
      return {
        kind: "checkpoint",
        continuation: { kind: "may_finish", includeFinalAssistant: true },
        triggerEntryId: responseEntryId,
      };
  }
}
