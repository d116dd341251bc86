/**
 * A run in a continuation: what follows on what, from a state or from a prompt to the end (spec §3.7, §3.8, §3.12), and
 * what recovery makes of what was pending (spec §4.5).
 */
import type { Scenario } from "../../faults/index.ts";
import type { CheckpointPhase, NormalizedRetryPolicy, RunState, ToolBatch } from "../../model/index.ts";
import { isRetryableMessage } from "../rows/error-text.ts";
import { isTooLarge } from "./context-size.ts";
import { deferredAt, handleAt, type NextPoll, pollOf } from "./deferred.ts";
import { type BatchWorld, ExpectedBatch } from "./expected-batch.ts";
import type { ExpectedQueue, ExpectedQueues } from "./expected-queues.ts";
import { ANY_ERROR, type Outcome } from "./expected-session.ts";
import type { ExpectedStructural, WorkEnd } from "./expected-structural.ts";
import { type LibraryReply, plannedCalls, syntheticResponse, turnOf } from "./library.ts";
import { callsOf, contextAt } from "./parsed-view.ts";

/** What follows in a run. */
type Next =
  | Checkpoint
  | {
      readonly kind: "generate";
      readonly attempt: number;
      readonly policy: NormalizedRetryPolicy;
      /** A request of this turn did not fit, and its context was compacted. */
      readonly isCompacted?: boolean;
    }
  | NextPoll
  | { readonly kind: "failing"; readonly error: unknown }
  | ({ readonly kind: "end" } & Outcome);

interface Checkpoint {
  readonly kind: "checkpoint";
  readonly owes: Owed;
  readonly skipsInbox: boolean;
  /** Its size was judged before: not again. */
  readonly isSizeChecked?: boolean;
  readonly isCompacted?: boolean;
}

/** What a checkpoint leads to when nothing is queued: a response, or the end. */
type Owed = "assistant" | Extract<Outcome, { outcome: "completed" }>;

/** What a run is expected with. */
export interface RunWorld extends BatchWorld {
  readonly queues: ExpectedQueues;
  readonly structural: ExpectedStructural;
  /** Of runs that begin now; a generation that is open has its own. */
  readonly policy: NormalizedRetryPolicy;
}

/** See the module header. */
export class ExpectedRun {
  readonly #world: RunWorld;
  readonly #scenario: Scenario;
  readonly #session: RunWorld["session"];
  readonly #calls: RunWorld["calls"];
  /** Of a `resume()`: one poll, for whoever comes to need it first. */
  #hasPollPermit = false;

  constructor(world: RunWorld) {
    this.#world = world;
    this.#scenario = world.scenario;
    this.#session = world.session;
    this.#calls = world.calls;
  }

  /** A run that was accepted just now. */
  run(): void {
    this.#follow(OWES_ASSISTANT_AT_ONCE);
  }

  /** A run that was open when the process died. */
  resume(state: RunState): void {
    this.#hasPollPermit = true;
    this.#follow(this.#resume(state));
    this.#hasPollPermit = false;
  }

  #follow(first: Next): void {
    let next = first;
    while (next.kind !== "end") next = this.#after(next);
    const { kind: _kind, ...outcome } = next;
    if (outcome.outcome === "aborted") this.#place("writes");
    this.#session.end(outcome);
    this.#world.queues.end();
  }

  #after(next: Exclude<Next, { kind: "end" }>): Next {
    switch (next.kind) {
      case "checkpoint":
        return this.#checkpoint(next);
      case "generate":
        return this.#generate(next);
      case "poll":
        return this.#poll(next);
      case "failing":
        if (this.#calls.isCancelled) return ABORTED;
        if (this.#places("writes", "steer", "followUp")) return OWES_ASSISTANT_AT_ONCE;
        return { kind: "end", outcome: "failed", error: next.error };
    }
  }

  /** The order of spec §3.12. */
  #checkpoint(checkpoint: Checkpoint): Next {
    if (this.#calls.isCancelled) return ABORTED;
    const { owes, skipsInbox, isSizeChecked = false, isCompacted = false } = checkpoint;
    if (!skipsInbox && this.#places("writes", "steer")) return OWES_ASSISTANT_AT_ONCE;
    if (!isSizeChecked && this.#isTooLarge()) {
      return afterWork(this.#world.structural.begin(), { ...checkpoint, isSizeChecked: true });
    }
    if (owes === "assistant") {
      return { kind: "generate", attempt: 1, policy: this.#world.policy, isCompacted };
    }
    if (this.#places("followUp")) return OWES_ASSISTANT_AT_ONCE;
    const { runEnd } = this.#scenario;
    if (runEnd === undefined || this.#session.holds(runEnd)) return { kind: "end", ...owes };
    this.#session.followUpAtEnd(runEnd);
    return OWES_ASSISTANT_AT_ONCE;
  }

  #isTooLarge(): boolean {
    return isTooLarge(contextAt(this.#session.entries, this.#session.leafId), this.#scenario.settings);
  }

  /** Places what is due of the first queue that has something for the model; custom entries do not count. */
  #places(...queues: readonly ExpectedQueue[]): boolean {
    return queues.some((queue) => this.#place(queue));
  }

  /** Places what is due of a queue; answers whether the model will see it. */
  #place(queue: ExpectedQueue): boolean {
    const items = this.#world.queues.take(queue);
    for (const item of items) this.#session.placeItem(item);
    return items.some(({ content }) => content.type === "message");
  }

  /** Applies the policy to what was pending. */
  #resume(state: RunState): Next {
    const { phase } = state;
    this.#session.latestAssistantId = state.latestAssistantEntryId ?? undefined;
    switch (phase.kind) {
      case "checkpoint":
        return checkpointOf(phase);
      case "assistant":
        return this.#resumeGeneration(phase.generation, this.#calls.isCancelled);
      case "tools":
        return this.#resumeBatch(phase.batch);
      case "failure_drain":
        return { kind: "failing", error: phase.error };
      case "deferred":
        return this.#resumeDeferred(phase.deferred);
      case "compaction": {
        if (this.#calls.isCancelled) return ABORTED;
        // It began right after the newest entry: its trigger, or the answer that did not fit.
        const begunMs = this.#session.entries.at(-1)?.timestamp ?? 0;
        const end = this.#world.structural.resume(phase.structural, begunMs);
        // After an overflow there is no going on without a compaction.
        if (phase.reason === "overflow" && end.kind === "declined") return FAILING;
        return afterWork(end, checkpointOf(phase.resumeAfter));
      }
    }
  }

  #resumeGeneration(
    generation: Extract<RunState["phase"], { kind: "assistant" }>["generation"],
    isCancelled: boolean,
  ): Next {
    const { retryPolicy, configuration, overflowRecoveryUsed: isCompacted } = generation.context;
    switch (generation.status) {
      case "ready":
        if (isCancelled) return ABORTED;
        return { kind: "generate", attempt: generation.nextAttempt, policy: retryPolicy, isCompacted };
      case "retry_wait":
        if (isCancelled) return ABORTED;
        // The view at the cut was read with the downtime of this cut, so this is when the wait is over for the reader.
        this.#session.nowMs = generation.notBefore;
        return { kind: "generate", attempt: generation.nextAttempt, policy: retryPolicy, isCompacted };
      case "effect_pending": {
        const { attempt } = generation;
        if (isCancelled) {
          this.#world.demand("generation pending, cancelled: synthetic aborted under R");
          this.#session.settle(syntheticResponse("aborted", configuration.model));
          return ABORTED;
        }
        if (attempt < retryPolicy.maxAttempts) {
          this.#world.demand(`generation pending: attempt ${attempt + 1} of ${retryPolicy.maxAttempts}`);
          return { kind: "generate", attempt: attempt + 1, policy: retryPolicy, isCompacted };
        }
        this.#world.demand("generation pending at the cap: synthetic error under R, the run fails");
        this.#session.settle(syntheticResponse("error", configuration.model));
        return { kind: "failing", error: ANY_ERROR };
      }
    }
  }

  #resumeBatch(batch: ToolBatch): Next {
    const { entries } = this.#session;
    const at = entries.findIndex(({ id }) => id === batch.assistantEntryId);
    const { turn } = turnOf(entries.slice(0, at));
    return leaveBatch(new ExpectedBatch(this.#world, turn, callsOf(entries[at]?.message)).resume(batch));
  }

  /** One attempt: its answer is settled, and says what follows. */
  #generate({ attempt, policy, isCompacted = false }: Extract<Next, { kind: "generate" }>): Next {
    const count = turnOf(this.#session.entries);
    this.#calls.during({ turn: count.turn, ask: count.ask });
    if (this.#calls.isCancelled) {
      this.#session.settle(this.#world.library.aborted(count.turn, count.ask));
      return ABORTED;
    }
    const reply = deferredAt(this.#world.library.reply(count.turn, count.ask), this.#session.nowMs);
    const { stopReason, errorMessage } = reply;
    this.#session.settle(reply);
    if (reply.isOverflow) return this.#overflow(isCompacted);
    if (stopReason === "error") {
      if (attempt >= policy.maxAttempts || !isRetryableMessage(errorMessage)) {
        return { kind: "failing", error: this.#session.failure(errorMessage) };
      }
      this.#session.nowMs += policy.baseDelayMs * 2 ** (attempt - 1);
      this.#calls.during({ retryOf: count.turn, ask: count.ask });
      return this.#calls.isCancelled
        ? ABORTED
        : { kind: "generate", attempt: attempt + 1, policy, isCompacted };
    }
    return this.#answered(reply, count.turn);
  }

  /** A request did not fit: its context is compacted the first time, and the run fails the second. */
  #overflow(isCompacted: boolean): Next {
    if (isCompacted || this.#scenario.settings.compaction?.enabled === false) return FAILING;
    const end = this.#world.structural.begin();
    if (end.kind !== "published") return end.kind === "aborted" ? ABORTED : FAILING;
    return { kind: "checkpoint", owes: "assistant", skipsInbox: false, isCompacted: true };
  }

  /** One poll: its answer is settled, and says what follows. Polls never retry. */
  #poll({ handle, notBeforeMs }: NextPoll): Next {
    const count = turnOf(this.#session.entries);
    // Without a permit the run was suspended, and the application is asked.
    if (notBeforeMs !== undefined && !this.#calls.isCancelled)
      this.#calls.during({ suspendedAt: count.turn });
    if (this.#calls.isCancelled) return ABORTED;
    this.#hasPollPermit = false;
    this.#session.nowMs = Math.max(this.#session.nowMs, notBeforeMs ?? 0);
    this.#calls.during({ turn: count.turn, ask: count.ask });
    if (this.#calls.isCancelled) {
      this.#session.settle(this.#world.library.aborted(count.turn, count.ask));
      return ABORTED;
    }
    const reply = deferredAt(this.#world.library.reply(count.turn, count.ask), this.#session.nowMs, handle);
    this.#session.settle(reply);
    if (reply.stopReason === "error") {
      return { kind: "failing", error: this.#session.failure(reply.errorMessage) };
    }
    return this.#answered(reply, count.turn);
  }

  /** What follows on an answer that is no error. */
  #answered(reply: LibraryReply, turn: number): Next {
    const { deferred } = reply.message;
    if (reply.stopReason === "deferred" && deferred) return pollOf(deferred, this.#hasPollPermit);
    const calls = plannedCalls(reply);
    if (calls.length === 0) {
      return { kind: "checkpoint", owes: completed("assistant"), skipsInbox: false };
    }
    return leaveBatch(new ExpectedBatch(this.#world, turn, calls).run());
  }

  #resumeDeferred(deferred: Extract<RunState["phase"], { kind: "deferred" }>["deferred"]): Next {
    const handle = handleAt(this.#session.entries, deferred.sourceEntryId);
    if (deferred.status === "suspended") {
      // The uninterrupted run had waited when it placed its next entry; here the wait is still to come.
      this.#session.nowMs = this.#session.entries.at(-1)?.timestamp ?? 0;
      return pollOf(handle, false);
    }
    // A poll that nobody knows the end of waits for a resume like a suspended job, and the application is asked.
    if (!this.#calls.isCancelled) this.#calls.during({ suspendedAt: turnOf(this.#session.entries).turn });
    if (this.#calls.isCancelled) {
      this.#world.demand("poll pending, cancelled: synthetic aborted under R");
      this.#session.settle(syntheticResponse("aborted", deferred.configuration.model));
      return ABORTED;
    }
    this.#world.demand(`poll ${deferred.poll} pending: polled again at the same number, under fresh ids`);
    return pollOf(handle, false);
  }
}

const ABORTED: Next = { kind: "end", outcome: "aborted" };

/** What follows a prompt, or something consumed that the model will see: a response, before anything more is taken. */
const OWES_ASSISTANT_AT_ONCE: Next = { kind: "checkpoint", owes: "assistant", skipsInbox: true };

const FAILING: Next = { kind: "failing", error: ANY_ERROR };

/** What follows on work inside a run: the checkpoint that it began at, unless it failed. */
function afterWork(end: WorkEnd, checkpoint: Checkpoint): Next {
  if (end.kind === "aborted") return ABORTED;
  return end.kind === "failed" ? { kind: "failing", error: end.error } : checkpoint;
}

function checkpointOf(phase: CheckpointPhase): Checkpoint {
  const { continuation, skipInboxOnce, thresholdCheckedTriggerEntryId, triggerEntryId } = phase;
  const owesAssistant = continuation.kind === "need_assistant";
  return {
    kind: "checkpoint",
    owes: owesAssistant
      ? "assistant"
      : completed(continuation.includeFinalAssistant ? "assistant" : "terminated_tools"),
    skipsInbox: skipInboxOnce === true,
    isSizeChecked: thresholdCheckedTriggerEntryId === triggerEntryId,
    isCompacted: owesAssistant && continuation.overflowRecoveryUsed,
  };
}

function completed(runCompletion: "assistant" | "terminated_tools"): Owed {
  return { outcome: "completed", runCompletion };
}

/** The run ends without another response only if every call asks for it. */
function leaveBatch(isFinishing: boolean): Next {
  const owes = isFinishing ? completed("terminated_tools") : "assistant";
  return { kind: "checkpoint", owes, skipsInbox: false };
}
