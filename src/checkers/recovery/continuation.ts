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

import type { Scenario } from "../../faults/index.ts";
import {
  addUsage,
  type NormalizedRetryPolicy,
  normalizeRetryPolicy,
  type OperationState,
  type RunState,
  type ToolBatch,
  zeroUsage,
} from "../../model/index.ts";
import { isOverflowMessage, isRetryableMessage } from "../rows/error-text.ts";
import {
  ANY_OPTIONAL,
  ANY_TEXT,
  Library,
  type LibraryReply,
  type LibraryResult,
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
  type ParsedRegister,
  type ParsedUsage,
  type ParsedView,
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

type Outcome =
  | { readonly outcome: "completed"; readonly runCompletion: "assistant" | "terminated_tools" }
  | { readonly outcome: "failed"; readonly error: unknown }
  | { readonly outcome: "aborted" };

/** What follows in a run. */
type Next =
  | { readonly kind: "generate"; readonly attempt: number; readonly policy: NormalizedRetryPolicy }
  | ({ readonly kind: "end" } & Outcome);

class Continuation {
  readonly #scenario: Scenario;
  readonly #atCut: ParsedView;
  readonly #uninterrupted: ParsedView;
  readonly #library: Library;
  readonly #entries: ParsedEntry[];
  readonly #usage: ParsedUsage[];
  readonly #demands: string[] = [];
  #lastResult: unknown;
  #nowMs: number;
  #idCount = 0;
  /** The newest settled response of the run. */
  #latestAssistantId: string | undefined;

  constructor(scenario: Scenario, atCut: ParsedView, uninterrupted: ParsedView) {
    this.#scenario = scenario;
    this.#atCut = atCut;
    this.#uninterrupted = uninterrupted;
    this.#library = new Library(scenario, uninterrupted.entries);
    this.#entries = [...atCut.entries];
    this.#usage = [...atCut.usage];
    this.#lastResult = registerOf(atCut, "lane.lastResult");
    // The uninterrupted run went through the state of the cut, and placed its next entry without waiting.
    this.#nowMs = (uninterrupted.entries[atCut.entries.length] ?? atCut.entries.at(-1))?.timestamp ?? 0;
  }

  run(): void {
    const open = openOperation(this.#atCut);
    if (open !== undefined) this.#follow(this.#resume(open.state));
    const given = this.#entries.filter(({ message }) => message?.role === "user").length;
    for (const { call, text } of this.#scenario.stimuli.slice(given)) {
      if (call !== "prompt") throw new NotCovered(`the stimulus ${String(call)}`);
      this.#follow(this.#prompt(text));
    }
  }

  done(): Continued {
    const messageCount = this.#entries.filter(({ type }) => type === "message").length;
    const usage = this.#usage.reduce((sum, row) => addUsage(sum, row.usage), zeroUsage());
    const view = {
      entries: this.#entries,
      metadata: this.#atCut.metadata,
      registers: this.#registers(),
      stats: { messageCount, usage },
      usage: this.#usage,
    };
    return { view, demands: this.#demands };
  }

  #follow(first: Next): void {
    let next = first;
    while (next.kind === "generate") next = this.#generate(next.attempt, next.policy);
    this.#end(next);
  }

  /** Applies the policy to what was pending. */
  #resume(state: OperationState): Next {
    if (state.kind !== "run") throw new NotCovered(`a ${state.kind} operation`);
    const { inbox, phase, control } = state;
    if (inbox.steer.length + inbox.followUp.length + inbox.writes.length > 0)
      throw new NotCovered("queued input");
    this.#latestAssistantId = state.latestAssistantEntryId ?? undefined;
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
        this.#nowMs = generation.notBefore;
        return { kind: "generate", attempt: generation.nextAttempt, policy: retryPolicy };
      case "effect_pending": {
        const { attempt } = generation;
        if (isCancelled) {
          this.#demand("generation pending, cancelled: synthetic aborted under R");
          this.#settle(syntheticResponse("aborted", configuration.model));
          return ABORTED;
        }
        if (attempt < retryPolicy.maxAttempts) {
          this.#demand(`generation pending: attempt ${attempt + 1} of ${retryPolicy.maxAttempts}`);
          return { kind: "generate", attempt: attempt + 1, policy: retryPolicy };
        }
        this.#demand("generation pending at the cap: synthetic error under R, the run fails");
        this.#settle(syntheticResponse("error", configuration.model));
        return { kind: "end", outcome: "failed", error: ANY_ERROR };
      }
    }
  }

  #resumeBatch(batch: ToolBatch, isCancelled: boolean): Next {
    const at = this.#entries.findIndex(({ id }) => id === batch.assistantEntryId);
    const calls = callsOf(this.#entries[at]?.message);
    const turn = turnOf(this.#entries.slice(0, at));
    const terminations = batch.calls.map((call, index) => {
      const source = calls[index];
      if (source === undefined) throw new NotCovered("a batch with more calls than its response");
      if (call.status === "completed") return call.terminate;
      if (call.status === "planned") {
        return this.#place(isCancelled ? syntheticResult(source) : this.#library.result(turn, source));
      }
      const declared = this.#scenario.tools.find(({ name }) => name === source.name)?.replay;
      const isRunAgain = call.replay === "safe" && declared === "safe" && !isCancelled;
      this.#demand(
        isRunAgain
          ? `safe call pending: ${source.name} is run again with the stored arguments`
          : `call pending: ${source.name} gets an interrupted result`,
      );
      return this.#place(isRunAgain ? this.#library.result(turn, source) : syntheticResult(source));
    });
    return this.#leaveBatch(terminations, isCancelled);
  }

  #prompt(text: string): Next {
    const known = this.#uninterrupted.entries.filter(({ message }) => message?.role === "user");
    const given = this.#entries.filter(({ message }) => message?.role === "user").length;
    const message = known[given]?.message ?? { role: "user", content: text };
    this.#latestAssistantId = undefined;
    this.#append({ ...message, timestamp: this.#nowMs });
    return this.#afresh();
  }

  /** One attempt: its answer is settled, and says what follows. */
  #generate(attempt: number, policy: NormalizedRetryPolicy): Next {
    const count = new TurnCount();
    for (const entry of this.#entries) count.take(entry);
    const reply = this.#library.reply(count.turn, count.ask);
    const { stopReason, errorMessage } = reply;
    if (isOverflowMessage(errorMessage)) throw new NotCovered("an overflow");
    this.#settle(reply);
    if (stopReason === "error") {
      if (attempt >= policy.maxAttempts || !isRetryableMessage(errorMessage)) {
        return { kind: "end", outcome: "failed", error: this.#failure(errorMessage) };
      }
      this.#nowMs += policy.baseDelayMs * 2 ** (attempt - 1);
      return { kind: "generate", attempt: attempt + 1, policy };
    }
    const calls = plannedCalls(reply);
    if (calls.length === 0) return { kind: "end", outcome: "completed", runCompletion: "assistant" };
    const terminations = calls.map((call) => this.#place(this.#library.result(count.turn, call)));
    return this.#leaveBatch(terminations, false);
  }

  #leaveBatch(terminations: readonly boolean[], isCancelled: boolean): Next {
    if (isCancelled) return ABORTED;
    if (terminations.every((terminate) => terminate)) {
      return { kind: "end", outcome: "completed", runCompletion: "terminated_tools" };
    }
    return this.#afresh();
  }

  #settle({ message, usage }: LibraryReply): void {
    const entryId = this.#append({ ...message, timestamp: this.#nowMs });
    this.#latestAssistantId = entryId;
    this.#usage.push({ adjustment: false, entryId, id: this.#newId(), usage });
  }

  /** Places the result of a call; answers whether it asks for the end of the run. */
  #place({ message, usage, terminate }: LibraryResult): boolean {
    const entryId = this.#append({ ...message, timestamp: this.#nowMs }, terminate);
    if (usage !== undefined) this.#usage.push({ adjustment: false, entryId, id: this.#newId(), usage });
    return terminate;
  }

  #append(message: NonNullable<ParsedEntry["message"]>, terminate = false): string {
    const id = this.#newId();
    const parentId = this.#leaf();
    this.#entries.push({
      id,
      parentId,
      timestamp: this.#nowMs,
      type: "message",
      message,
      ...(terminate ? { terminate } : {}),
    });
    return id;
  }

  /** A new generation, under the policy that the application gives. */
  #afresh(): Next {
    return { kind: "generate", attempt: 1, policy: this.#policy() };
  }

  #end({ kind: _kind, ...outcome }: Extract<Next, { kind: "end" }>): void {
    const isFinal = outcome.outcome !== "completed" || outcome.runCompletion === "assistant";
    this.#lastResult = {
      operationId: this.#newId(),
      kind: "run",
      leafId: this.#leaf(),
      ...outcome,
      ...(isFinal && this.#latestAssistantId !== undefined
        ? { finalAssistantEntryId: this.#latestAssistantId }
        : {}),
    };
  }

  /** The stored error of a failure that the uninterrupted run had too; else its form. */
  #failure(errorMessage: string | undefined): unknown {
    const result = registerOf(this.#uninterrupted, "lane.lastResult") as
      | { error?: { message?: unknown } }
      | undefined;
    const isSame = errorMessage !== undefined && result?.error?.message === errorMessage;
    return isSame ? result.error : ANY_ERROR;
  }

  #registers(): readonly ParsedRegister[] {
    const finished: Record<string, unknown> = {
      "lane.config": registerOf(this.#atCut, "lane.config") ?? registerOf(this.#uninterrupted, "lane.config"),
      "lane.lastResult": this.#lastResult,
      "lane.leaf": this.#leaf(),
      "lane.state": { currentOperationId: null, pendingNextRun: [] },
    };
    const lane = Object.entries(finished).flatMap(([namespace, value]) =>
      value === undefined ? [] : [{ key: MAIN, namespace, value }],
    );
    const facts = this.#atCut.registers.filter(({ namespace }) => namespace.startsWith("fact."));
    return [...facts, ...lane];
  }

  #leaf(): string | null {
    return this.#entries.at(-1)?.id ?? null;
  }

  #policy(): NormalizedRetryPolicy {
    return normalizeRetryPolicy(
      this.#scenario.settings.retry ?? { enabled: false, maxRetries: 0, baseDelayMs: 1000 },
    );
  }

  #demand(what: string): void {
    this.#demands.push(`§4.5 ${what}`);
  }

  /** An id that no view has: the text is renamed in the end. */
  #newId(): string {
    return `<id${FIRST_NEW_ID + this.#idCount++}>`;
  }
}

const ABORTED: Next = { kind: "end", outcome: "aborted" };
const MAIN = "main";
const FIRST_NEW_ID = 1_000_000;
const ANY_ERROR = { code: ANY_TEXT, message: ANY_TEXT, details: ANY_OPTIONAL };

function registerOf(view: ParsedView, wanted: string): unknown {
  return view.registers.find(({ namespace, key }) => namespace === wanted && key === MAIN)?.value;
}

function turnOf(entries: readonly ParsedEntry[]): number {
  const count = new TurnCount();
  for (const entry of entries) count.take(entry);
  return count.turn;
}
