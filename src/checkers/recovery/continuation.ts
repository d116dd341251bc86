/**
 * The continuation: how a conversation must go on from a durable state, transaction by transaction forgotten and entry
 * by entry kept.
 *
 * It knows the tables of generation, tools and recovery (spec §3.7, §3.8, §4.5) and the scenario, and nothing of the
 * state machine under test. It starts where a process died, applies the policy to what was pending there, and goes on
 * to the end of the scenario as an application would: an interrupted operation is resumed, a prompt that was accepted
 * is never given again, one that was not is given.
 *
 * Covered: runs with generation, retry, tools and cancellation. For everything else it throws `NotCovered`.
 */

import { declaredReplay, type Scenario } from "../../faults/index.ts";
import {
  type NormalizedRetryPolicy,
  normalizeRetryPolicy,
  type OperationState,
  type RunState,
  type ToolBatch,
} from "../../model/index.ts";
import { isOverflowMessage, isRetryableMessage } from "../rows/error-text.ts";
import { ANY_ERROR, ExpectedSession, type Outcome } from "./expected-session.ts";
import { Library, plannedCalls, syntheticResponse, syntheticResult, TurnCount } from "./library.ts";
import { callsOf, NotCovered, openOperation, type ParsedEntry, type ParsedView } from "./parsed-view.ts";

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
  | { readonly kind: "generate"; readonly attempt: number; readonly policy: NormalizedRetryPolicy }
  | ({ readonly kind: "end" } & Outcome);

class Continuation {
  readonly #scenario: Scenario;
  readonly #atCut: ParsedView;
  readonly #library: Library;
  readonly #session: ExpectedSession;
  readonly #demands: string[] = [];

  constructor(scenario: Scenario, atCut: ParsedView, uninterrupted: ParsedView) {
    this.#scenario = scenario;
    this.#atCut = atCut;
    this.#library = new Library(scenario, uninterrupted.entries);
    this.#session = new ExpectedSession(atCut, uninterrupted);
  }

  run(): void {
    const open = openOperation(this.#atCut);
    if (open !== undefined) this.#follow(this.#resume(open.state));
    for (const { call, text } of this.#scenario.stimuli.slice(this.#session.promptCount)) {
      if (call !== "prompt") throw new NotCovered(`the stimulus ${String(call)}`);
      this.#session.prompt(text);
      this.#follow(this.#afresh());
    }
  }

  done(): Continued {
    return { view: this.#session.view(), demands: this.#demands };
  }

  #follow(first: Next): void {
    let next = first;
    while (next.kind === "generate") next = this.#generate(next.attempt, next.policy);
    const { kind: _kind, ...outcome } = next;
    this.#session.end(outcome);
  }

  /** Applies the policy to what was pending. */
  #resume(state: OperationState): Next {
    if (state.kind !== "run") throw new NotCovered(`a ${state.kind} operation`);
    const { inbox, phase, control } = state;
    if (inbox.steer.length + inbox.followUp.length + inbox.writes.length > 0)
      throw new NotCovered("queued input");
    this.#session.latestAssistantId = state.latestAssistantEntryId ?? undefined;
    const isCancelled = control.status === "cancel_requested";
    switch (phase.kind) {
      case "checkpoint":
        if (isCancelled) return ABORTED;
        if (phase.continuation.kind === "need_assistant") return this.#afresh();
        return {
          kind: "end",
          outcome: "completed",
          runCompletion: phase.continuation.includeFinalAssistant ? "assistant" : "terminated_tools",
        };
      case "assistant":
        return this.#resumeGeneration(phase.generation, isCancelled);
      case "tools":
        return this.#resumeBatch(phase.batch, isCancelled);
      case "failure_drain":
        return isCancelled ? ABORTED : { kind: "end", outcome: "failed", error: phase.error };
      case "compaction":
      case "deferred":
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
        return { kind: "end", outcome: "failed", error: ANY_ERROR };
      }
    }
  }

  #resumeBatch(batch: ToolBatch, isCancelled: boolean): Next {
    const at = this.#session.entries.findIndex(({ id }) => id === batch.assistantEntryId);
    const calls = callsOf(this.#session.entries[at]?.message);
    const turn = turnOf(this.#session.entries.slice(0, at));
    const terminations = batch.calls.map((call, index) => {
      const source = calls[index];
      if (source === undefined) throw new NotCovered("a batch with more calls than its response");
      if (call.status === "completed") return call.terminate;
      if (call.status === "planned") {
        return this.#session.place(
          isCancelled ? syntheticResult(source) : this.#library.result(turn, source),
        );
      }
      const tool = this.#scenario.tools.find(({ name }) => name === source.name);
      const isSafeNow = tool !== undefined && declaredReplay(tool, RECOVERING_LIFE) === "safe";
      const isRunAgain = call.replay === "safe" && isSafeNow && !isCancelled;
      this.#demand(
        isRunAgain
          ? `safe call pending: ${source.name} is run again with the stored arguments`
          : `call pending: ${source.name} gets an interrupted result`,
      );
      return this.#session.place(isRunAgain ? this.#library.result(turn, source) : syntheticResult(source));
    });
    return this.#leaveBatch(terminations, isCancelled);
  }

  /** One attempt: its answer is settled, and says what follows. */
  #generate(attempt: number, policy: NormalizedRetryPolicy): Next {
    const count = new TurnCount();
    for (const entry of this.#session.entries) count.take(entry);
    const reply = this.#library.reply(count.turn, count.ask);
    const { stopReason, errorMessage } = reply;
    if (isOverflowMessage(errorMessage)) throw new NotCovered("an overflow");
    this.#session.settle(reply);
    if (stopReason === "error") {
      if (attempt >= policy.maxAttempts || !isRetryableMessage(errorMessage)) {
        return { kind: "end", outcome: "failed", error: this.#session.failure(errorMessage) };
      }
      this.#session.nowMs += policy.baseDelayMs * 2 ** (attempt - 1);
      return { kind: "generate", attempt: attempt + 1, policy };
    }
    const calls = plannedCalls(reply);
    if (calls.length === 0) return { kind: "end", outcome: "completed", runCompletion: "assistant" };
    const terminations = calls.map((call) => this.#session.place(this.#library.result(count.turn, call)));
    return this.#leaveBatch(terminations, false);
  }

  #leaveBatch(terminations: readonly boolean[], isCancelled: boolean): Next {
    if (isCancelled) return ABORTED;
    if (terminations.every((terminate) => terminate)) {
      return { kind: "end", outcome: "completed", runCompletion: "terminated_tools" };
    }
    return this.#afresh();
  }

  /** A new generation, under the policy that the application gives. */
  #afresh(): Next {
    return { kind: "generate", attempt: 1, policy: this.#policy() };
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

function turnOf(entries: readonly ParsedEntry[]): number {
  const count = new TurnCount();
  for (const entry of entries) count.take(entry);
  return count.turn;
}
