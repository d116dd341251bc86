/**
 * Structural work in a continuation: how a compaction or a navigation must go on, and what it must leave (spec §3.9,
 * §3.10, §4.5; compaction §6, §7).
 *
 * An attempt that a crash made unknown is lost whole: its successor makes all requests again, and only its successor's
 * costs are shown on the entry. What is billed is booked nonetheless, request by request. At the cap the work fails.
 *
 * What a summary must say is what its scenario has its requests or its hook say. How a runtime puts the parts of a generated
 * one together, with which headings and lists, is not known here: the words around them, and how much of the context is
 * kept, are those of the run that nobody cut. What is kept are the messages of the expected conversation. Which work it is,
 * is counted as scenarios count it.
 */
import { type Moment, type Scenario, type ScriptedReply, summaryReply } from "../../faults/index.ts";
import { canonicalJson } from "../../foundation/index.ts";
import {
  addUsage,
  type NormalizedRetryPolicy,
  type StructuralDecision,
  type Usage,
} from "../../model/index.ts";
import type { Pattern } from "../compare-views.ts";
import { isRetryableMessage } from "../rows/error-text.ts";
import { ANY_ERROR, type ExpectedSession } from "./expected-session.ts";
import { usageOf } from "./library.ts";
import {
  contextAt,
  NotCovered,
  type ParsedEntry,
  type ParsedMessage,
  type ParsedView,
} from "./parsed-view.ts";

/** How work on the tree ends. `nothing`: there was nothing to do, and it never began. */
export type WorkEnd =
  | { readonly kind: "published" | "declined" | "aborted" | "nothing" }
  | { readonly kind: "failed"; readonly error: unknown };

/** What goes on around the work. */
export interface Around {
  /** A demand of the policy table. */
  demand(what: string): void;
  /** Makes the calls of a moment. */
  during(moment: Moment): void;
  isCancelled(): boolean;
}

/** See the module header. */
export class ExpectedStructural {
  readonly #scenario: Scenario;
  readonly #session: ExpectedSession;
  readonly #uninterrupted: ParsedView;
  readonly #policy: NormalizedRetryPolicy;
  readonly #around: Around;

  constructor(
    scenario: Scenario,
    session: ExpectedSession,
    uninterrupted: ParsedView,
    policy: NormalizedRetryPolicy,
    around: Around,
  ) {
    this.#scenario = scenario;
    this.#session = session;
    this.#uninterrupted = uninterrupted;
    this.#policy = policy;
    this.#around = around;
  }

  /** Work that begins now. `targetId`: of a navigation, below which the summary hangs. */
  begin(targetId?: string): WorkEnd {
    this.#assertDerived();
    const { decisions, summaries } = this.#scenario;
    const task = this.#task();
    if ((decisions?.[task] ?? undefined) === undefined && (summaries?.[task] ?? undefined) === undefined) {
      // Of a branch there is always something to say; a context may be too short to be compacted.
      return targetId === undefined ? { kind: "nothing" } : this.#publish(NOTHING_SAID, targetId);
    }
    return this.#decide(targetId);
  }

  /** Work that was under way when the process died; it began at a time, as an offset in ms. */
  resume(structural: StructuralDecision, begunMs: number, targetId?: string): WorkEnd {
    this.#assertDerived();
    if (structural.status === "deciding") {
      this.#session.nowMs = begunMs;
      return this.#decide(targetId);
    }
    const { generation } = structural;
    const { retryPolicy } = generation.context;
    switch (generation.status) {
      case "ready":
        this.#goBackTo(generation.nextAttempt, begunMs);
        return this.#generate(generation.nextAttempt, retryPolicy, targetId);
      case "retry_wait":
        this.#session.nowMs = generation.notBefore;
        return this.#generate(generation.nextAttempt, retryPolicy, targetId);
      case "effect_pending": {
        const { attempt } = generation;
        this.#goBackTo(attempt, begunMs);
        if (attempt < retryPolicy.maxAttempts) {
          this.#around.demand(
            `summary pending: attempt ${attempt + 1} of ${retryPolicy.maxAttempts}, all its requests anew`,
          );
          return this.#generate(attempt + 1, retryPolicy, targetId);
        }
        this.#around.demand("summary pending at the cap: the work fails");
        return { kind: "failed", error: ANY_ERROR };
      }
    }
  }

  #assertDerived(): void {
    if (this.#scenario.isGenerated) throw new NotCovered("work on the tree of a generated workload");
  }

  /** How long the work that comes next waits between its attempts, from the first on, ms. */
  waitsAhead(): number {
    return this.#waitsFrom(1);
  }

  #decide(targetId: string | undefined): WorkEnd {
    const task = this.#task();
    if (this.#scenario.decisions !== undefined) this.#around.during({ decision: task });
    if (this.#around.isCancelled()) return { kind: "aborted" };
    const decision = this.#scenario.decisions?.[task];
    switch (decision?.kind) {
      case undefined:
        return this.#generate(1, this.#policy, targetId);
      case "decline":
        return { kind: "declined" };
      case "supply":
        return this.#publish(
          { texts: [decision.summary], usage: decision.usage && usageOf(decision.usage), fromHook: true },
          targetId,
        );
    }
  }

  #generate(first: number, policy: NormalizedRetryPolicy, targetId: string | undefined): WorkEnd {
    for (let attempt = first; ; attempt++) {
      const { replies, failure } = this.#attempt(attempt);
      for (const [request, { usage }] of replies.entries()) {
        this.#around.during({ summary: this.#task(), request });
        this.#session.bill(usageOf(usage));
        if (this.#around.isCancelled()) return { kind: "aborted" };
      }
      if (failure === undefined) {
        const usages = replies.map(({ usage }) => usageOf(usage));
        const usage = usages.length === 0 ? undefined : usages.reduce(addUsage);
        const texts = replies.map(({ text = "" }) => text.trim());
        return this.#publish({ texts, usage, fromHook: false }, targetId);
      }
      if (!mayRetry(failure, attempt, policy)) return { kind: "failed", error: ANY_ERROR };
      this.#session.nowMs += waitAfter(attempt, policy);
    }
  }

  /** The answers of an attempt, up to the first that is no summary. */
  #attempt(attempt: number): {
    readonly replies: readonly ScriptedReply[];
    readonly failure?: ScriptedReply;
  } {
    const task = this.#task();
    const replies: ScriptedReply[] = [];
    for (let index = 0; index < (this.#scenario.summaries?.[task]?.length ?? 0); index++) {
      const reply = summaryReply(this.#scenario, { task, index, attempt });
      if (reply === undefined)
        throw new NotCovered("a summary that is asked for more than its scenario says");
      replies.push(reply);
      if (reply.stopReason === "error" || (reply.text ?? "").trim() === "")
        return { replies, failure: reply };
    }
    return { replies };
  }

  #publish({ texts, usage, fromHook }: Said, targetId: string | undefined): WorkEnd {
    const words = this.#uninterrupted.entries.filter(isStructuralEntry)[this.#task()];
    if (words === undefined) throw new NotCovered("a summary that the uninterrupted run never came to");
    const { usage: _usage, ...rest } = words;
    const sourceLeafId = this.#session.leafId;
    const isCompaction = targetId === undefined;
    this.#session.publish(
      {
        ...rest,
        summary: summaryOf(words, texts, fromHook),
        ...(usage === undefined ? {} : { usage }),
        ...(isCompaction ? this.#kept(words) : { fromId: sourceLeafId ?? "" }),
      },
      { parentId: targetId ?? sourceLeafId, ...(fromHook && usage !== undefined ? { billed: usage } : {}) },
    );
    return { kind: "published" };
  }

  /** What a compaction keeps: as many messages as it did in the run that nobody cut. */
  #kept({ parentId, retainedTail = [] }: ParsedEntry): Pick<ParsedEntry, "retainedTail" | "tokensBefore"> {
    const context = contextAt(this.#session.entries, this.#session.leafId);
    const reference = contextAt(this.#uninterrupted.entries, parentId);
    const tail = context
      .filter(({ role }) => role !== "compactionSummary")
      .slice(-retainedTail.length || Infinity);
    // An estimate of other words is another estimate.
    const isSame = timelessText(context) === timelessText(reference);
    return { retainedTail: tail, ...(isSame ? {} : { tokensBefore: ANY_VALUE }) };
  }

  /**
   * The time at the cut, while an attempt was to begin or under way: so much before the next entry of the run that
   * nobody cut as that run waited from there on. Where it had lost the attempt too, it waited from the next one on; and
   * that shows, because the wait after an attempt is longer than all waits before it.
   */
  #goBackTo(attempt: number, begunMs: number): void {
    const { nowMs } = this.#session;
    const wentOnMs = nowMs - this.#waitsFrom(attempt);
    this.#session.nowMs = wentOnMs >= begunMs ? wentOnMs : nowMs - this.#waitsFrom(attempt + 1);
  }

  #waitsFrom(first: number): number {
    let waitMs = 0;
    for (let attempt = first; ; attempt++) {
      const { failure } = this.#attempt(attempt);
      if (failure === undefined || !mayRetry(failure, attempt, this.#policy)) return waitMs;
      waitMs += waitAfter(attempt, this.#policy);
    }
  }

  #task(): number {
    return this.#session.entries.filter(isStructuralEntry).length;
  }
}

/** What a summary is made of. */
interface Said {
  readonly texts: readonly string[];
  readonly usage: Usage | undefined;
  readonly fromHook: boolean;
}

const NOTHING_SAID: Said = { texts: [], usage: undefined, fromHook: false };

/** The summary that must be stored: that of the run that nobody cut, if it says what was to be said. */
function summaryOf({ summary = "" }: ParsedEntry, texts: readonly string[], fromHook: boolean): string {
  const isSaid = fromHook ? summary === texts[0] : texts.every((text) => summary.includes(text));
  return isSaid ? summary : texts.join("\n");
}

/** Whether an entry is what work on the tree leaves. */
export function isStructuralEntry({ type }: ParsedEntry): boolean {
  return type === "compaction" || type === "branch_summary";
}

const ANY_VALUE: Pattern = { $any: "value" };

function mayRetry(
  { stopReason, errorMessage }: ScriptedReply,
  attempt: number,
  { maxAttempts }: NormalizedRetryPolicy,
): boolean {
  return stopReason === "error" && attempt < maxAttempts && isRetryableMessage(errorMessage);
}

function waitAfter(attempt: number, { baseDelayMs }: NormalizedRetryPolicy): number {
  return baseDelayMs * 2 ** (attempt - 1);
}

/** Messages without their times and places, which a recovery may move. */
function timelessText(messages: readonly ParsedMessage[]): string {
  return canonicalJson(messages.map((message) => ({ ...message, timestamp: 0, fromId: "" })));
}
