/**
 * The continuation: how a conversation must go on from a durable state, transaction by transaction forgotten and entry
 * by entry kept.
 *
 * It knows the tables of generation, tools, structural work and recovery (spec §3.7 to §3.10, §4.5) and the scenario,
 * and nothing of the state machine under test. It starts where a process died, applies the policy to what was pending
 * there, and goes on to the end of the scenario as an application would: an interrupted operation is resumed, what is
 * durable is never said again, and a call that belongs to a moment is made when the moment comes again.
 *
 * Here are the calls to an idle lane in their order, and work on the tree; a run is in `expected-run.ts`, a batch of its
 * tools in `expected-batch.ts`, what is said meanwhile in `expected-calls.ts`.
 *
 * Covered: runs with generation, retry, deferred answers, tools, queues and cancellation, and work on the tree. For
 * everything else it throws `NotCovered`.
 */
import { isStructural, type Scenario, type Stimulus, type StructuralCall } from "../../faults/index.ts";
import { normalizeRetryPolicy, type OperationState, type RunState } from "../../model/index.ts";
import { ExpectedCalls } from "./expected-calls.ts";
import { contentOf, ExpectedQueues } from "./expected-queues.ts";
import { ExpectedRun } from "./expected-run.ts";
import { ExpectedSession } from "./expected-session.ts";
import { ExpectedStructural, isStructuralEntry, type WorkEnd } from "./expected-structural.ts";
import type { Library } from "./library.ts";
import { NotCovered, openOperation, type ParsedEntry, type ParsedView, textIn } from "./parsed-view.ts";

/** What the conversation must become, and what the policy table demanded on the way. */
export interface Continued {
  readonly view: ParsedView;
  readonly demands: readonly string[];
}

/** The run that nobody cut: what it left, and what the world answers in its words. */
export interface Reference {
  readonly view: ParsedView;
  readonly library: Library;
}

/** Continues from the view at a cut; `uninterrupted` lends its words. See the header. */
export function continueFrom(scenario: Scenario, atCut: ParsedView, uninterrupted: Reference): Continued {
  const continuation = new Continuation(scenario, atCut, uninterrupted);
  continuation.run();
  return continuation.done();
}

class Continuation {
  readonly #scenario: Scenario;
  readonly #session: ExpectedSession;
  readonly #queues: ExpectedQueues;
  readonly #calls: ExpectedCalls;
  readonly #structural: ExpectedStructural;
  readonly #run: ExpectedRun;
  readonly #open: OperationState | undefined;
  /** When the open operation was accepted, as an offset in ms. */
  readonly #startedMs: number;
  readonly #demands: string[] = [];

  constructor(scenario: Scenario, atCut: ParsedView, { view: uninterrupted, library }: Reference) {
    this.#scenario = scenario;
    const session = new ExpectedSession(atCut, uninterrupted);
    const open = openOperation(atCut);
    this.#open = open?.state;
    this.#startedMs = open?.startedMs ?? 0;
    const queues = new ExpectedQueues(scenario.settings, atCut, this.#open);
    const isCancelled = this.#open?.control.status === "cancel_requested";
    const calls = new ExpectedCalls(scenario, session, queues, isCancelled);
    const demand = (what: string) => this.#demands.push(`§4.5 ${what}`);
    const policy = normalizeRetryPolicy(
      scenario.settings.retry ?? { enabled: false, maxRetries: 0, baseDelayMs: 1000 },
    );
    const structural = new ExpectedStructural(scenario, session, uninterrupted, policy, {
      demand,
      during: (moment) => calls.during(moment),
      isCancelled: () => calls.isCancelled,
    });
    this.#session = session;
    this.#queues = queues;
    this.#calls = calls;
    this.#structural = structural;
    this.#run = new ExpectedRun({ scenario, library, session, calls, demand, queues, structural, policy });
    // Work on the tree that lies ahead waits before the next entry is placed, and has not waited yet.
    if (this.#isWorkAhead(uninterrupted.entries[atCut.entries.length])) {
      session.nowMs -= structural.waitsAhead();
    }
  }

  #isWorkAhead(next: ParsedEntry | undefined): boolean {
    const [first] = this.#open === undefined ? this.#undone() : [];
    if (first !== undefined) return isStructural(first);
    return next !== undefined && isStructuralEntry(next) && !isStructuralState(this.#open);
  }

  run(): void {
    if (this.#open?.kind === "run") this.#run.resume(this.#open);
    else if (this.#open !== undefined) this.#resumeWork(this.#open);
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
    let next =
      stimuli.findLastIndex((stimulus) => !isStructural(stimulus) && this.#calls.isDone(stimulus)) + 1;
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

  /** A call to an idle lane. */
  #make(stimulus: Stimulus): void {
    switch (stimulus.call) {
      case "compact":
      case "navigateTree":
        if (stimulus.mayBeRefused) throw new NotCovered("work on a tree that may be refused");
        if (stimulus.refused === undefined) this.#work(stimulus);
        return;
      case "prompt":
        for (const item of this.#queues.takeNextRun()) this.#session.placeItem(item);
        this.#session.prompt(stimulus.text);
        this.#calls.isCancelled = false;
        this.#run.run();
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
        this.#calls.say(stimulus);
    }
  }

  /** Work on the tree of an idle lane. */
  #work(call: StructuralCall): void {
    this.#calls.isCancelled = false;
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
    if (this.#calls.isCancelled) this.#session.endWork(state.kind, { outcome: "aborted" });
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
}

function isStructuralState(state: OperationState | undefined): boolean {
  return state !== undefined && (state.kind !== "run" || state.phase.kind === "compaction");
}
