/**
 * The continuation: how a conversation must go on from a durable state, transaction by transaction forgotten and entry
 * by entry kept.
 *
 * It knows the tables of generation, tools, structural work and recovery (spec §3.7 to §3.10, §4.5) and the scenario, and nothing of the
 * state machine under test. It starts where a process died, applies the policy to what was pending there, and goes on
 * to the end of the scenario as an application would: an interrupted operation is resumed, what is durable is never said
 * again, and a call that belongs to a moment is made when the moment comes again.
 *
 * Covered: runs with generation, retry, deferred answers, tools, queues and cancellation, and work on the tree. For
 * everything else it throws `NotCovered`.
 */

import {
  callsAt,
  declaredReplay,
  isNoting,
  isStructural,
  type MeanwhileCall,
  type Moment,
  type QueueCall,
  type Scenario,
  type Stimulus,
  type StructuralCall,
} from "../../faults/index.ts";
import {
  type CheckpointPhase,
  type NormalizedRetryPolicy,
  normalizeRetryPolicy,
  type OperationState,
  type RunState,
  type ToolBatch,
} from "../../model/index.ts";
import { isRetryableMessage } from "../rows/error-text.ts";
import { isTooLarge } from "./context-size.ts";
import { deferredAt, handleAt, type NextPoll, pollOf } from "./deferred.ts";
import { contentOf, type ExpectedQueue, ExpectedQueues } from "./expected-queues.ts";
import { ANY_ERROR, ExpectedSession, type Outcome } from "./expected-session.ts";
import { ExpectedStructural, isStructuralEntry, type WorkEnd } from "./expected-structural.ts";
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
  contextAt,
  NotCovered,
  openOperation,
  type ParsedEntry,
  type ParsedView,
  type ToolCallSource,
  textIn,
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

class Continuation {
  readonly #scenario: Scenario;
  readonly #library: Library;
  readonly #session: ExpectedSession;
  readonly #queues: ExpectedQueues;
  readonly #structural: ExpectedStructural;
  readonly #open: OperationState | undefined;
  /** When the open operation was accepted, as an offset in ms. */
  readonly #startedMs: number;
  readonly #demands: string[] = [];
  #isCancelled: boolean;
  /** Of a `resume()`: one poll, for whoever comes to need it first. */
  #hasPollPermit: boolean;

  constructor(scenario: Scenario, atCut: ParsedView, uninterrupted: ParsedView) {
    this.#scenario = scenario;
    this.#library = new Library(scenario, uninterrupted.entries);
    this.#session = new ExpectedSession(atCut, uninterrupted);
    const open = openOperation(atCut);
    this.#open = open?.state;
    this.#startedMs = open?.startedMs ?? 0;
    this.#queues = new ExpectedQueues(scenario.settings, atCut, this.#open);
    this.#structural = new ExpectedStructural(scenario, this.#session, uninterrupted, this.#policy(), {
      demand: (what) => this.#demand(what),
      during: (moment) => this.#during(moment),
      isCancelled: () => this.#isCancelled,
    });
    // Work on the tree that lies ahead waits before the next entry is placed, and has not waited yet.
    if (this.#isWorkAhead(uninterrupted.entries[atCut.entries.length])) {
      this.#session.nowMs -= this.#structural.waitsAhead();
    }
    this.#isCancelled = this.#open?.control.status === "cancel_requested";
    this.#hasPollPermit = this.#open !== undefined;
  }

  #isWorkAhead(next: ParsedEntry | undefined): boolean {
    const [first] = this.#open === undefined ? this.#undone() : [];
    if (first !== undefined) return isStructural(first);
    return next !== undefined && isStructuralEntry(next) && !isStructuralState(this.#open);
  }

  run(): void {
    if (this.#open?.kind === "run") this.#follow(this.#resume(this.#open));
    else if (this.#open !== undefined) this.#resumeWork(this.#open);
    this.#hasPollPermit = false;
    for (const stimulus of this.#undone()) this.#make(stimulus);
  }

  done(): Continued {
    return { view: this.#session.view(this.#queues), demands: this.#demands };
  }

  /**
   * The calls in order, without those before one that is done. Work on the tree says nothing; what was done of it since
   * the last that was said shows in how the lane's last operation ended.
   */
  #undone(): readonly Stimulus[] {
    const { stimuli } = this.#scenario;
    let next = stimuli.findLastIndex((stimulus) => !isStructural(stimulus) && this.#isDone(stimulus)) + 1;
    for (const [index, stimulus] of [...stimuli.entries()].slice(next)) {
      if (!isStructural(stimulus)) break;
      if (this.#isLatest(stimulus)) next = index + 1;
    }
    return stimuli.slice(next);
  }

  #isLatest(call: StructuralCall): boolean {
    const { kind, outcome, leafId = null } = this.#session.lastResult;
    if (call.refused !== undefined) return false;
    if (call.call === "compact") return kind === "compaction";
    if (kind !== "navigation" || outcome !== "completed") return kind === "navigation";
    const stands = this.#session.entries.find(({ id }) => id === leafId);
    return (call.summarize === true ? (stands?.parentId ?? null) : leafId) === this.#targetOf(call.to);
  }

  #targetOf(text: string | null): string | null {
    if (text === null) return null;
    const target = this.#session.entries.find(({ message }) => textIn(message) === text);
    if (target === undefined) throw new NotCovered("a navigation to what was never said");
    return target.id;
  }

  #isDone(call: Exclude<Stimulus, StructuralCall> | MeanwhileCall): boolean {
    if (call.call === "cancelQueued" || call.call === "abort") return false;
    if (isNoting(call)) return this.#session.isNoted(call);
    return this.#session.holds(call.text) || this.#queues.holds(call.text);
  }

  /** A call to an idle lane. */
  #make(stimulus: Stimulus): void {
    switch (stimulus.call) {
      case "compact":
      case "navigateTree":
        if (stimulus.refused === undefined) this.#work(stimulus);
        return;
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
      case "setThinkingLevel":
      case "setName":
      case "createLane":
      case "recordUsage":
        this.#session.note(stimulus);
        return;
      case "steer":
      case "followUp":
        return;
      case "nextRun":
      case "cancelQueued":
        this.#say(stimulus);
    }
  }

  /** Work on the tree of an idle lane. */
  #work(call: StructuralCall): void {
    this.#isCancelled = false;
    if (call.call === "compact") {
      this.#endWork("compaction", this.#structural.begin());
      return;
    }
    const target = this.#targetOf(call.to);
    if (call.summarize === true && target !== null) {
      this.#endWork("navigation", this.#structural.begin(target), call.label);
    } else this.#move(target, call.label);
  }

  #move(target: string | null, label: string | undefined): void {
    this.#session.moveTo(target);
    this.#endWork("navigation", { kind: "published" }, label);
  }

  /** Goes on with an operation that works on the tree. */
  #resumeWork(state: Exclude<OperationState, RunState>): void {
    if (this.#isCancelled) this.#session.endWork(state.kind, { outcome: "aborted" });
    else if (state.kind === "compaction")
      this.#endWork("compaction", this.#structural.resume(state.structural, this.#startedMs));
    else if (state.summarize) {
      const end = this.#structural.resume(state.phase.structural, this.#startedMs, state.targetId);
      this.#endWork("navigation", end, state.label);
    } else this.#move(state.targetId, state.label);
  }

  #endWork(kind: "compaction" | "navigation", end: WorkEnd, label?: string): void {
    switch (end.kind) {
      case "nothing":
        return;
      case "published":
        if (label !== undefined) this.#session.label(label);
        this.#session.endWork(kind, { outcome: "completed" });
        return;
      case "declined":
      case "aborted":
        this.#session.endWork(kind, { outcome: end.kind });
        return;
      case "failed":
        this.#session.endWork(kind, { outcome: "failed", error: end.error });
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
  #say(said: QueueCall): void {
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
        return this.#checkpoint(next);
      case "generate":
        return this.#generate(next);
      case "poll":
        return this.#poll(next);
      case "failing":
        if (this.#isCancelled) return ABORTED;
        if (this.#places("writes", "steer", "followUp")) return OWES_ASSISTANT_AT_ONCE;
        return { kind: "end", outcome: "failed", error: next.error };
    }
  }

  /** The order of spec §3.12. */
  #checkpoint(checkpoint: Checkpoint): Next {
    if (this.#isCancelled) return ABORTED;
    const { owes, skipsInbox, isSizeChecked = false, isCompacted = false } = checkpoint;
    if (!skipsInbox && this.#places("writes", "steer")) return OWES_ASSISTANT_AT_ONCE;
    if (!isSizeChecked && this.#isTooLarge()) {
      return afterWork(this.#structural.begin(), { ...checkpoint, isSizeChecked: true });
    }
    if (owes === "assistant") {
      return { kind: "generate", attempt: 1, policy: this.#policy(), isCompacted };
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
    const items = this.#queues.take(queue);
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
        return this.#resumeGeneration(phase.generation, this.#isCancelled);
      case "tools":
        return this.#resumeBatch(phase.batch);
      case "failure_drain":
        return { kind: "failing", error: phase.error };
      case "deferred":
        return this.#resumeDeferred(phase.deferred);
      case "compaction": {
        if (this.#isCancelled) return ABORTED;
        // It began right after the newest entry: its trigger, or the answer that did not fit.
        const begunMs = this.#session.entries.at(-1)?.timestamp ?? 0;
        const end = this.#structural.resume(phase.structural, begunMs);
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
          this.#demand("generation pending, cancelled: synthetic aborted under R");
          this.#session.settle(syntheticResponse("aborted", configuration.model));
          return ABORTED;
        }
        if (attempt < retryPolicy.maxAttempts) {
          this.#demand(`generation pending: attempt ${attempt + 1} of ${retryPolicy.maxAttempts}`);
          return { kind: "generate", attempt: attempt + 1, policy: retryPolicy, isCompacted };
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
  #generate({ attempt, policy, isCompacted = false }: Extract<Next, { kind: "generate" }>): Next {
    const count = new TurnCount();
    for (const entry of this.#session.entries) count.take(entry);
    this.#during({ turn: count.turn, ask: count.ask });
    if (this.#isCancelled) {
      this.#session.settle(this.#library.aborted(count.turn, count.ask));
      return ABORTED;
    }
    const reply = deferredAt(this.#library.reply(count.turn, count.ask), this.#session.nowMs);
    const { stopReason, errorMessage } = reply;
    this.#session.settle(reply);
    if (reply.isOverflow) return this.#overflow(isCompacted);
    if (stopReason === "error") {
      if (attempt >= policy.maxAttempts || !isRetryableMessage(errorMessage)) {
        return { kind: "failing", error: this.#session.failure(errorMessage) };
      }
      this.#session.nowMs += policy.baseDelayMs * 2 ** (attempt - 1);
      this.#during({ retryOf: count.turn, ask: count.ask });
      return this.#isCancelled ? ABORTED : { kind: "generate", attempt: attempt + 1, policy, isCompacted };
    }
    return this.#answered(reply, count.turn);
  }

  /** A request did not fit: its context is compacted the first time, and the run fails the second. */
  #overflow(isCompacted: boolean): Next {
    if (isCompacted || this.#scenario.settings.compaction?.enabled === false) return FAILING;
    const end = this.#structural.begin();
    if (end.kind !== "published") return end.kind === "aborted" ? ABORTED : FAILING;
    return { kind: "checkpoint", owes: "assistant", skipsInbox: false, isCompacted: true };
  }

  /** One poll: its answer is settled, and says what follows. Polls never retry. */
  #poll({ handle, notBeforeMs }: NextPoll): Next {
    const count = new TurnCount();
    for (const entry of this.#session.entries) count.take(entry);
    // Without a permit the run was suspended, and the application is asked.
    if (notBeforeMs !== undefined && !this.#isCancelled) this.#during({ suspendedAt: count.turn });
    if (this.#isCancelled) return ABORTED;
    this.#hasPollPermit = false;
    this.#session.nowMs = Math.max(this.#session.nowMs, notBeforeMs ?? 0);
    this.#during({ turn: count.turn, ask: count.ask });
    if (this.#isCancelled) {
      this.#session.settle(this.#library.aborted(count.turn, count.ask));
      return ABORTED;
    }
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
    // A poll that nobody knows the end of waits for a resume like a suspended job, and the application is asked.
    if (!this.#isCancelled) this.#during({ suspendedAt: turnOf(this.#session.entries) });
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

function isStructuralState(state: OperationState | undefined): boolean {
  return state !== undefined && (state.kind !== "run" || state.phase.kind === "compaction");
}

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
