/**
 * `transition(current, event)`: the next complete state of an operation, and in order the writes of the one commit
 * that makes it true (spec §3.4).
 *
 * Pure: ids, times and everything that was read come in with the event. Exhaustive over events; an event that the
 * state does not have is an `IllegalTransition`, a defect of the caller. The order of writes is that of the
 * specification's rows; each `transition-*.ts` states it in its header.
 */
import { absurd } from "../foundation/index.ts";
import type { Deferred, Generation, GenerationContext, RunState, ToolBatch } from "../model/index.ts";
import { type CurrentOperation, IllegalTransition, type Transition } from "./current.ts";
import { type CancelRequested, requestCancellation } from "./transition-control.ts";
import { intendPoll, type PollIntended, type PollSettled, settlePoll } from "./transition-deferred.ts";
import {
  endRetryWait,
  type GenerationSettled,
  giveUpAttempt,
  intendRequest,
  settleGeneration,
  startGeneration,
} from "./transition-generation.ts";
import {
  admitsItem,
  consumeInbox,
  followUpAtEnd,
  type InboxConsumed,
  type ItemQueued,
  type ItemWithdrawn,
  queueItem,
  type RunEndFollowedUp,
  withdrawItem,
} from "./transition-queues.ts";
import { type StructuralEvent, structuralTransition } from "./transition-structural.ts";
import { type Finished, finish } from "./transition-terminal.ts";
import { clearTool, settleTool, type ToolCleared, type ToolSettled } from "./transition-tools.ts";

/** Everything that can happen to an open operation. */
export type OperationEvent =
  | { readonly kind: "generation_started"; readonly context: GenerationContext }
  | {
      readonly kind: "request_intended";
      readonly responseEntryId: string;
      readonly usageId: string;
      readonly intendedOutputLimit: number;
      readonly contextWindow: number;
    }
  | GenerationSettled
  | { readonly kind: "retry_wait_ended" }
  | { readonly kind: "attempt_given_up" }
  | PollIntended
  | PollSettled
  | ToolCleared
  | ToolSettled
  | ItemQueued
  | ItemWithdrawn
  | InboxConsumed
  | RunEndFollowedUp
  | CancelRequested
  | StructuralEvent
  | Finished;

/** See the module header. */
export function transition(current: CurrentOperation, event: OperationEvent): Transition {
  switch (event.kind) {
    case "generation_started": {
      const run = runOf(current, event);
      const { phase } = run.state;
      if (phase.kind !== "checkpoint" || phase.continuation.kind !== "need_assistant") {
        throw new IllegalTransition(event.kind, run.state);
      }
      return startGeneration(run, event.context);
    }
    case "request_intended": {
      const { run, generation } = generationOf(current, event, "ready");
      return intendRequest(run, generation, event);
    }
    case "generation_settled": {
      const { run, generation } = generationOf(current, event, "effect_pending");
      return settleGeneration(run, generation, event);
    }
    case "retry_wait_ended": {
      const { run, generation } = generationOf(current, event, "retry_wait");
      return endRetryWait(run, generation);
    }
    case "attempt_given_up": {
      const { run, generation } = generationOf(current, event, "effect_pending");
      return giveUpAttempt(run, generation);
    }
    case "poll_intended": {
      const { run, deferred } = deferredOf(current, event);
      return intendPoll(run, deferred, event);
    }
    case "poll_settled": {
      const { run, deferred } = deferredOf(current, event);
      if (deferred.status !== "effect_pending") throw new IllegalTransition(event.kind, run.state);
      return settlePoll(run, deferred, event);
    }
    case "tool_cleared": {
      const { run, batch } = batchOf(current, event);
      return clearTool(run, batch, event);
    }
    case "tool_settled": {
      const { run, batch } = batchOf(current, event);
      return settleTool(run, batch, event);
    }
    case "item_queued": {
      const run = runOf(current, event);
      if (!admitsItem(run.state, event.queue)) throw new IllegalTransition(event.kind, run.state);
      return queueItem(run, event);
    }
    case "item_withdrawn":
      return withdrawItem(runOf(current, event), event);
    case "run_end_followed_up": {
      const run = runOf(current, event);
      const { phase, control, inbox } = run.state;
      const mayFinish = phase.kind === "checkpoint" && phase.continuation.kind === "may_finish";
      const isQueued = inbox.steer.length + inbox.followUp.length + inbox.writes.length > 0;
      if (!mayFinish || isQueued || control.status !== "running")
        throw new IllegalTransition(event.kind, run.state);
      return followUpAtEnd(run, event);
    }
    case "inbox_consumed":
      return consumeInbox(runOf(current, event), event);
    case "threshold_checked":
    case "threshold_exceeded":
    case "summary_started":
    case "summary_attempt_started":
    case "summary_request_intended":
    case "summary_request_settled":
    case "summary_retried":
    case "summary_attempt_given_up":
    case "compaction_concluded":
      return structuralTransition(current, event);
    case "cancel_requested":
      return requestCancellation(current, event);
    case "finished":
      return finish(current, event);
    default:
      return absurd(event, "operation event");
  }
}

/** Whether the state is that of a run. */
export function isRun(current: CurrentOperation): current is CurrentOperation<RunState> {
  return current.state.kind === "run";
}

function runOf(current: CurrentOperation, event: OperationEvent): CurrentOperation<RunState> {
  if (!isRun(current)) throw new IllegalTransition(event.kind, current.state);
  return current;
}

function generationOf<Status extends Generation["status"]>(
  current: CurrentOperation,
  event: OperationEvent,
  status: Status,
): { run: CurrentOperation<RunState>; generation: Extract<Generation, { status: Status }> } {
  const run = runOf(current, event);
  const { phase } = run.state;
  if (phase.kind !== "assistant" || phase.generation.status !== status) {
    throw new IllegalTransition(event.kind, run.state);
  }
  return { run, generation: phase.generation as Extract<Generation, { status: Status }> };
}

function batchOf(
  current: CurrentOperation,
  event: OperationEvent,
): { run: CurrentOperation<RunState>; batch: ToolBatch } {
  const run = runOf(current, event);
  if (run.state.phase.kind !== "tools") throw new IllegalTransition(event.kind, run.state);
  return { run, batch: run.state.phase.batch };
}

function deferredOf(
  current: CurrentOperation,
  event: OperationEvent,
): { run: CurrentOperation<RunState>; deferred: Deferred } {
  const run = runOf(current, event);
  if (run.state.phase.kind !== "deferred") throw new IllegalTransition(event.kind, run.state);
  return { run, deferred: run.state.phase.deferred };
}
