/**
 * The continuation: how a conversation must go on from a durable state, transaction by transaction forgotten and entry
 * by entry kept.
 *
 * It knows the tables of generation, tools and recovery (spec §3.7, §3.8, §4.5) and the scenario, and nothing of the
 * state machine under test. It starts where a process died, applies the policy to what was pending there, and goes on
 * to the end of the scenario as an application would: an interrupted operation is resumed, what is durable is never said
 * again, and a call that belongs to a moment is made when the moment comes again.
 *
 * Covered: runs with generation, retry, deferred answers, tools, queues and cancellation. For everything else it throws
 * `NotCovered`.
 */

import {
  callsAt,
  declaredReplay,
  type MeanwhileCall,
  type Moment,
  type Scenario,
  type Stimulus,
} from "../../faults/index.ts";
import {
  type NormalizedRetryPolicy,
  normalizeRetryPolicy,
  type OperationState,
  type RunState,
  type ToolBatch,
} from "../../model/index.ts";
import { isOverflowMessage, isRetryableMessage } from "../rows/error-text.ts";
import { deferredAt, handleAt, type NextPoll, pollOf } from "./deferred.ts";
import { contentOf, type ExpectedQueue, ExpectedQueues } from "./expected-queues.ts";
import { ANY_ERROR, ExpectedSession, type Outcome } from "./expected-session.ts";
import {
  Library,
  type LibraryReply,
  plannedCalls,
  syntheticResponse,
  syntheticResult,
  TurnCount,
} from "./library.ts";
import {
  callsOf,
  NotCovered,
  openOperation,
  type ParsedEntry,
  type ParsedView,
  type ToolCallSource,
} from "./parsed-view.ts";

/** What the conversation must become, and what the policy table demanded on the way. */
export interface Continued {
  readonly view: ParsedView;
  readonly demands: readonly string[];
}

/** Continues from the view at a cut; `uninterrupted` lends its words. See the header. */
export function continueFrom(scenario: Scenario, atCut: ParsedView, uninterrupted: ParsedView): Continued {
  const continuation = new Continuation(scenario, atCut, uninterrupted);
  continuation.run();
  return continuation.done();
}

/** What follows in a run. */
type Next =
  | { readonly kind: "checkpoint"; readonly owes: Owed; readonly skipsInbox: boolean }
  | { readonly kind: "generate"; readonly attempt: number; readonly policy: NormalizedRetryPolicy }
  | NextPoll
  | { readonly kind: "failing"; readonly error: unknown }
  | ({ readonly kind: "end" } & Outcome);

/** What a checkpoint leads to when nothing is queued: a response, or the end. */
type Owed = "assistant" | Extract<Outcome, { outcome: "completed" }>;

class Continuation {
  readonly #scenario: Scenario;
  readonly #library: Library;
  readonly #session: ExpectedSession;
  readonly #queues: ExpectedQueues;
  readonly #open: OperationState | undefined;
  readonly #demands: string[] = [];
  #isCancelled: boolean;
  /** Of a `resume()`: one poll, for whoever comes to need it first. */
  #hasPollPermit: boolean;

  constructor(scenario: Scenario, atCut: ParsedView, uninterrupted: ParsedView) {
    this.#scenario = scenario;
    this.#library = new Library(scenario, uninterrupted.entries);
    this.#session = new ExpectedSession(atCut, uninterrupted);
    this.#open = openOperation(atCut)?.state;
    this.#queues = new ExpectedQueues(scenario.settings, atCut, this.#open);
    this.#isCancelled = this.#open?.control.status === "cancel_requested";
    this.#hasPollPermit = this.#open !== undefined;
  }

  run(): void {
    if (this.#open !== undefined) this.#follow(this.#resume(this.#open));
    this.#hasPollPermit = false;
    for (const stimulus of this.#undone()) this.#make(stimulus);
  }

  done(): Continued {
    return { view: this.#session.view(this.#queues), demands: this.#demands };
  }

  /** The calls in order, without those before one that is done. */
  #undone(): readonly Stimulus[] {
    const { stimuli } = this.#scenario;
    return stimuli.slice(stimuli.findLastIndex((stimulus) => this.#isDone(stimulus)) + 1);
  }

  #isDone(said: Stimulus | MeanwhileCall): boolean {
    if (said.call === "cancelQueued" || said.call === "abort") return false;
    return this.#session.holds(said.text) || this.#queues.holds(said.text);
  }

  /** A call to an idle lane. */
  #make(stimulus: Stimulus): void {
    switch (stimulus.call) {
      case "prompt":
        for (const item of this.#queues.takeNextRun()) this.#session.placeItem(item);
        this.#session.prompt(stimulus.text);
        this.#isCancelled = false;
        this.#follow(OWES_ASSISTANT_AT_ONCE);
        return;
      case "appendMessage":
      case "appendCustom":
        this.#session.placeItem(this.#session.item(contentOf(stimulus, this.#session.nowMs)));
        return;
      case "steer":
      case "followUp":
        return;
      case "nextRun":
      case "cancelQueued":
        this.#say(stimulus);
    }
  }

  /** The calls of a moment, as far as they are not durable. */
  #during(moment: Moment): void {
    for (const call of callsAt(this.#scenario, moment)) {
      if (call.call === "abort") this.#cancel();
      else if (!this.#isDone(call)) this.#say(call);
    }
  }

  /** The first abort; every further one changes nothing. */
  #cancel(): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    this.#queues.drain();
  }

  /** A call that queues something, or takes it back. */
  #say(said: Exclude<Stimulus, { call: "prompt" }>): void {
    const { call, text } = said;
    const isRefused = this.#isCancelled && (call === "steer" || call === "followUp");
    if (call === "cancelQueued") this.#queues.withdraw(text);
    else if (!isRefused) {
      this.#queues.add(call, this.#session.item(contentOf(said, this.#session.nowMs)));
    }
  }

  #follow(first: Next): void {
    let next = first;
    while (next.kind !== "end") next = this.#after(next);
    const { kind: _kind, ...outcome } = next;
    if (outcome.outcome === "aborted") this.#place("writes");
    this.#session.end(outcome);
    this.#queues.end();
  }

  #after(next: Exclude<Next, { kind: "end" }>): Next {
    switch (next.kind) {
      case "checkpoint":
        return this.#checkpoint(next.owes, next.skipsInbox);
      case "generate":
        return this.#generate(next.attempt, next.policy);
      case "poll":
        return this.#poll(next);
      case "failing":
        if (this.#isCancelled) return ABORTED;
        if (this.#places("writes", "steer", "followUp")) return OWES_ASSISTANT_AT_ONCE;
        return { kind: "end", outcome: "failed", error: next.error };
    }
  }

  /** The order of spec §3.12. */
  #checkpoint(owes: Owed, skipsInbox: boolean): Next {
    if (this.#isCancelled) return ABORTED;
    if (!skipsInbox && this.#places("writes", "steer")) return OWES_ASSISTANT_AT_ONCE;
    if (owes === "assistant") return { kind: "generate", attempt: 1, policy: this.#policy() };
    return this.#places("followUp") ? OWES_ASSISTANT_AT_ONCE : { kind: "end", ...owes };
  }

  /** Places what is due of the first queue that has something for the model; custom entries do not count. */
  #places(...queues: readonly ExpectedQueue[]): boolean {
    return queues.some((queue) => this.#place(queue));
  }

  /** Places what is due of a queue; answers whether the model will see it. */
  #place(queue: ExpectedQueue): boolean {
    const items = this.#queues.take(queue);
    for (const item of items) this.#session.placeItem(item);
    return items.some(({ content }) => content.type === "message");
  }

  /** Applies the policy to what was pending. */
  #resume(state: OperationState): Next {
    if (state.kind !== "run") throw new NotCovered(`a ${state.kind} operation`);
    const { phase } = state;
    this.#session.latestAssistantId = state.latestAssistantEntryId ?? undefined;
    switch (phase.kind) {
      case "checkpoint": {
        const { continuation, skipInboxOnce } = phase;
        const owes =
          continuation.kind === "need_assistant"
            ? "assistant"
            : completed(continuation.includeFinalAssistant ? "assistant" : "terminated_tools");
        return { kind: "checkpoint", owes, skipsInbox: skipInboxOnce === true };
      }
      case "assistant":
        return this.#resumeGeneration(phase.generation, this.#isCancelled);
      case "tools":
        return this.#resumeBatch(phase.batch);
      case "failure_drain":
        return { kind: "failing", error: phase.error };
      case "deferred":
        return this.#resumeDeferred(phase.deferred);
      case "compaction":
        throw new NotCovered(`the phase ${phase.kind}`);
    }
  }

  #resumeGeneration(
    generation: Extract<RunState["phase"], { kind: "assistant" }>["generation"],
    isCancelled: boolean,
  ): Next {
    const { retryPolicy, configuration } = generation.context;
    switch (generation.status) {
      case "ready":
        if (isCancelled) return ABORTED;
        return { kind: "generate", attempt: generation.nextAttempt, policy: retryPolicy };
      case "retry_wait":
        if (isCancelled) return ABORTED;
        // The view at the cut was read with the downtime of this cut, so this is when the wait is over for the reader.
        this.#session.nowMs = generation.notBefore;
        return { kind: "generate", attempt: generation.nextAttempt, policy: retryPolicy };
      case "effect_pending": {
        const { attempt } = generation;
        if (isCancelled) {
          this.#demand("generation pending, cancelled: synthetic aborted under R");
          this.#session.settle(syntheticResponse("aborted", configuration.model));
          return ABORTED;
        }
        if (attempt < retryPolicy.maxAttempts) {
          this.#demand(`generation pending: attempt ${attempt + 1} of ${retryPolicy.maxAttempts}`);
          return { kind: "generate", attempt: attempt + 1, policy: retryPolicy };
        }
        this.#demand("generation pending at the cap: synthetic error under R, the run fails");
        this.#session.settle(syntheticResponse("error", configuration.model));
        return { kind: "failing", error: ANY_ERROR };
      }
    }
  }

  #resumeBatch(batch: ToolBatch): Next {
    const at = this.#session.entries.findIndex(({ id }) => id === batch.assistantEntryId);
    const calls = callsOf(this.#session.entries[at]?.message);
    const turn = turnOf(this.#session.entries.slice(0, at));
    const terminations = batch.calls.map((call, index) => {
      const source = calls[index];
      if (source === undefined) throw new NotCovered("a batch with more calls than its response");
      if (call.status === "completed") return call.terminate;
      if (call.status === "planned") return this.#call(turn, source);
      const tool = this.#scenario.tools.find(({ name }) => name === source.name);
      const isSafeNow = tool !== undefined && declaredReplay(tool, RECOVERING_LIFE) === "safe";
      const isRunAgain = call.replay === "safe" && isSafeNow && !this.#isCancelled;
      this.#demand(
        isRunAgain
          ? `safe call pending: ${source.name} is run again with the stored arguments`
          : `call pending: ${source.name} gets an interrupted result`,
      );
      return isRunAgain ? this.#call(turn, source) : this.#session.place(syntheticResult(source));
    });
    return leaveBatch(terminations);
  }

  /** One attempt: its answer is settled, and says what follows. */
  #generate(attempt: number, policy: NormalizedRetryPolicy): Next {
    const count = new TurnCount();
    for (const entry of this.#session.entries) count.take(entry);
    this.#during({ turn: count.turn, ask: count.ask });
    if (this.#isCancelled) {
      this.#session.settle(this.#library.aborted(count.turn, count.ask));
      return ABORTED;
    }
    const reply = deferredAt(this.#library.reply(count.turn, count.ask), this.#session.nowMs);
    const { stopReason, errorMessage } = reply;
    if (isOverflowMessage(errorMessage)) throw new NotCovered("an overflow");
    this.#session.settle(reply);
    if (stopReason === "error") {
      if (attempt >= policy.maxAttempts || !isRetryableMessage(errorMessage)) {
        return { kind: "failing", error: this.#session.failure(errorMessage) };
      }
      this.#session.nowMs += policy.baseDelayMs * 2 ** (attempt - 1);
      this.#during({ retryOf: count.turn, ask: count.ask });
      return this.#isCancelled ? ABORTED : { kind: "generate", attempt: attempt + 1, policy };
    }
    return this.#answered(reply, count.turn);
  }

  /** One poll: its answer is settled, and says what follows. Polls never retry. */
  #poll({ handle, notBeforeMs = 0 }: NextPoll): Next {
    if (this.#isCancelled) return ABORTED;
    this.#hasPollPermit = false;
    this.#session.nowMs = Math.max(this.#session.nowMs, notBeforeMs);
    const count = new TurnCount();
    for (const entry of this.#session.entries) count.take(entry);
    this.#during({ turn: count.turn, ask: count.ask });
    const reply = deferredAt(this.#library.reply(count.turn, count.ask), this.#session.nowMs, handle);
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
    if (calls.length > 1 && this.#abortsWithin(calls)) {
      throw new NotCovered("a cancellation while several calls run side by side");
    }
    if (calls.length === 0) {
      return { kind: "checkpoint", owes: completed("assistant"), skipsInbox: false };
    }
    return leaveBatch(calls.map((call) => this.#call(turn, call)));
  }

  #resumeDeferred(deferred: Extract<RunState["phase"], { kind: "deferred" }>["deferred"]): Next {
    const handle = handleAt(this.#session.entries, deferred.sourceEntryId);
    if (deferred.status === "suspended") {
      // The uninterrupted run had waited when it placed its next entry; here the wait is still to come.
      this.#session.nowMs = this.#session.entries.at(-1)?.timestamp ?? 0;
      return pollOf(handle, false);
    }
    if (this.#isCancelled) {
      this.#demand("poll pending, cancelled: synthetic aborted under R");
      this.#session.settle(syntheticResponse("aborted", deferred.configuration.model));
      return ABORTED;
    }
    this.#demand(`poll ${deferred.poll} pending: polled again at the same number, under fresh ids`);
    return pollOf(handle, false);
  }

  /** Whether a call that is not the last is cancelled while others may be started beside it. */
  #abortsWithin(calls: readonly ToolCallSource[]): boolean {
    if (this.#scenario.settings.toolExecution === "sequential") return false;
    return calls.slice(0, -1).some(({ id }) => {
      return callsAt(this.#scenario, { tool: id }).some(({ call }) => call === "abort");
    });
  }

  /** A call that has not run in this life: its result is placed. Answers whether it asks for the end of the run. */
  #call(turn: number, source: ToolCallSource): boolean {
    if (this.#isCancelled) return this.#session.place(syntheticResult(source));
    if (this.#library.isExecuted(source)) this.#during({ tool: source.id });
    const result = this.#library.result(turn, source);
    // A result that comes after a cancellation stands, and asks for nothing any more.
    return this.#session.place(this.#isCancelled ? { ...result, terminate: false } : result);
  }

  #policy(): NormalizedRetryPolicy {
    return normalizeRetryPolicy(
      this.#scenario.settings.retry ?? { enabled: false, maxRetries: 0, baseDelayMs: 1000 },
    );
  }

  #demand(what: string): void {
    this.#demands.push(`§4.5 ${what}`);
  }
}

/** Whoever recovers is not the first life; what is declared changes there and never again. */
const RECOVERING_LIFE = 1;

const ABORTED: Next = { kind: "end", outcome: "aborted" };

/** What follows a prompt, or something consumed that the model will see: a response, before anything more is taken. */
const OWES_ASSISTANT_AT_ONCE: Next = { kind: "checkpoint", owes: "assistant", skipsInbox: true };

function completed(runCompletion: "assistant" | "terminated_tools"): Owed {
  return { outcome: "completed", runCompletion };
}

/** The run ends without another response only if every call asks for it. */
function leaveBatch(terminations: readonly boolean[]): Next {
  const isFinishing = terminations.every((terminate) => terminate);
  const owes = isFinishing ? completed("terminated_tools") : "assistant";
  return { kind: "checkpoint", owes, skipsInbox: false };
}

function turnOf(entries: readonly ParsedEntry[]): number {
  const count = new TurnCount();
  for (const entry of entries) count.take(entry);
  return count.turn;
}
