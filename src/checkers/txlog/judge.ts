/**
 * The judge of a transactional session: four promises over its timeline, read from the specification and sharing
 * nothing with the reducer or the planner.
 *
 * - `txlog-intents`: no request before its durable `stepAttempt`, at most two a step; no execution before its durable
 *   `toolStarted`, with the arguments of that intent; a `never` tool at most once a call; nothing after its settlement.
 * - `txlog-sequence`: fact numbers go on by one over all lives, so that no confirmed fact is lost and none is unseen; and
 *   the file holds as many facts in the end as were confirmed.
 * - `txlog-order`: a call starts only when the calls before it in its message are answered, and nothing starts after an
 *   abort was requested or a final answer was settled.
 * - `txlog-context`: a request shows the model the active context, and nothing else.
 */
import type { BillRow, ShownMessage, TimelineEvent, WorldRow } from "../../faults/index.ts";
import { canonicalJson, jsonEquals } from "../../foundation/index.ts";
import { type CommittedFact, labelOfTransaction, type NewFact } from "../../txlog/index.ts";
import type { CheckerRun, Violation } from "../checker.ts";
import type { RunEnd } from "../contract.ts";
import { contextAfter } from "./context.ts";

/** The checkers, for lists. */
export const TXLOG_CHECKS = [
  {
    name: "txlog-intents",
    promise:
      "every request and every execution follows its durable intent, and none is repeated that must not be",
    doesNotCheck: "whether the effect was the right one to plan; recovery equality shows that",
  },
  {
    name: "txlog-sequence",
    promise: "every confirmed fact is in the file in the end, numbered without a gap, and no other is",
    doesNotCheck: "what the facts say",
  },
  {
    name: "txlog-order",
    promise: "calls start in their order, and nothing starts after an abort or a final answer",
    doesNotCheck: "the order of results, which is free",
  },
  {
    name: "txlog-context",
    promise:
      "a request shows the model the active context: what was said, or the last summary and what came after",
    doesNotCheck: "requests for summaries, and texts behind their beginning",
  },
] as const;

type CheckName = (typeof TXLOG_CHECKS)[number]["name"];

/** Opens a run of the checkers that are not switched off. */
export function startTxlogJudge({ off }: { readonly off: readonly string[] }): CheckerRun<RunEnd> {
  return new TxlogJudge(off);
}

/** A started call that has no answer yet, or had one. */
interface Call {
  readonly replay: "safe" | "never";
  readonly argumentsText: string;
  readonly executions: number;
  readonly isAnswered: boolean;
}

/** What the judge knows; replaced and never changed, so that a fork is free. */
interface Known {
  readonly factCount: number;
  /** The open attempt, what it is for, and the requests that were sent under it. */
  readonly attempt:
    | { readonly number: number; readonly for: "request" | "summary"; readonly requests: number }
    | undefined;
  readonly calls: ReadonlyMap<string, Call>;
  /** Calls of the last assistant message, in order, and those that are answered. */
  readonly asked: readonly string[];
  readonly answered: ReadonlySet<string>;
  readonly isAborting: boolean;
  /** What the model is to be shown next. */
  readonly context: readonly ShownMessage[];
  readonly violations: readonly Violation[];
}

class TxlogJudge implements CheckerRun<RunEnd> {
  readonly #off: readonly string[];
  #known: Known;
  /** Of the commits of the current life. */
  #labels = new Set<string>();
  /** What is known if the transaction that failed last is in the file all the same. */
  #stored: Known | undefined;

  constructor(off: readonly string[], known: Known = NOTHING, stored?: Known) {
    this.#off = off;
    this.#known = known;
    this.#stored = stored;
  }

  labels(): readonly string[] {
    return [...this.#labels];
  }

  observe(event: TimelineEvent): void {
    if (event.kind === "boot") this.#labels = new Set();
    else if (event.kind === "commit") {
      const facts = event.payload as readonly CommittedFact[];
      this.#labels.add(labelOfTransaction(facts));
      // The number of the next fact tells what became of a transaction that failed.
      if (this.#stored !== undefined && facts[0]?.seq === this.#stored.factCount + 1)
        this.#known = this.#stored;
      this.#stored = undefined;
      for (const fact of facts) this.#fact(fact);
    } else if (event.kind === "commit-failed") {
      this.#stored = this.#assume(event.payload as readonly NewFact[]);
    } else if (event.kind === "effect") this.#effect(event.row);
  }

  fork(): TxlogJudge {
    const copy = new TxlogJudge(this.#off, this.#known, this.#stored);
    copy.#labels = new Set(this.#labels);
    return copy;
  }

  /** What would be known if these facts had been committed. */
  #assume(facts: readonly NewFact[]): Known {
    const assumed = new TxlogJudge(this.#off, this.#known);
    // Ids and times are the store's to give, and no promise here asks for them.
    facts.forEach((fact, index) => {
      assumed.#fact({ ...fact, seq: this.#known.factCount + 1 + index } as CommittedFact);
    });
    return assumed.#known;
  }

  finish({ view }: RunEnd): readonly Violation[] {
    const { factCount } = JSON.parse(view.exact) as { factCount: number };
    if (factCount === this.#stored?.factCount) this.#known = this.#stored;
    if (factCount !== this.#known.factCount) {
      const message = `${this.#known.factCount} facts were confirmed, and the file holds ${factCount}`;
      this.#report(
        "txlog-sequence",
        factCount < this.#known.factCount ? "fact-lost" : "fact-unseen",
        message,
      );
    }
    return this.#known.violations;
  }

  #fact(fact: CommittedFact): void {
    const { factCount } = this.#known;
    if (fact.seq !== factCount + 1) {
      this.#report("txlog-sequence", "seq-gap", `fact ${fact.seq} follows fact ${factCount}`);
    }
    this.#learn({ factCount: fact.seq });
    if (fact.kind === "entry") this.#entry(fact);
    else if (fact.kind === "record") this.#record(fact);
  }

  #record(fact: Extract<CommittedFact, { kind: "record" }>): void {
    const { record } = fact;
    switch (record.type) {
      case "stepAttempt":
        if (this.#known.isAborting)
          this.#report("txlog-order", "attempt-after-abort", "an attempt began after an abort");
        this.#learn({
          attempt: {
            number: record.attempt,
            for: record.stepKind === "compaction" ? "summary" : "request",
            requests: 0,
          },
        });
        return;
      case "stepFailed":
        this.#learn({ attempt: undefined });
        return;
      case "toolStarted":
        this.#started(record.toolCallId, record.replay, canonicalJson(record.arguments));
        return;
      case "abortRequested":
        this.#learn({ isAborting: true });
        return;
      case "runStarted":
      case "compactionStarted":
      case "operationFinished":
        this.#learn({
          attempt: undefined,
          calls: new Map(),
          asked: [],
          answered: new Set(),
          isAborting: false,
        });
        return;
    }
  }

  #started(callId: string, replay: "safe" | "never", argumentsText: string): void {
    const { asked, answered, isAborting, calls } = this.#known;
    const open = asked.find((other) => !answered.has(other));
    if (open !== callId) {
      const next = open === undefined ? "no call is open" : `${open} comes before it and is not answered`;
      this.#report("txlog-order", "call-out-of-order", `${callId} was started, and ${next}`);
    }
    if (isAborting) this.#report("txlog-order", "call-after-abort", `${callId} was started after an abort`);
    const call: Call = { replay, argumentsText, executions: 0, isAnswered: false };
    this.#learn({ calls: new Map(calls).set(callId, call) });
  }

  #entry(fact: Extract<CommittedFact, { kind: "entry" }>): void {
    const { entry } = fact;
    this.#learn({ context: contextAfter(this.#known.context, entry) });
    if (entry.type === "compaction") this.#learn({ attempt: undefined });
    else if (entry.message.role === "assistant") {
      const asked = (entry.message.tool_calls ?? []).map(({ id }) => id);
      // An id may come again in a later message; it is another call then.
      this.#learn({ attempt: undefined, asked, answered: new Set(), calls: new Map() });
    } else if (entry.message.role === "tool") {
      const { tool_call_id: callId } = entry.message;
      const { answered, calls } = this.#known;
      const call = calls.get(callId);
      this.#learn({
        answered: new Set(answered).add(callId),
        ...(call === undefined ? {} : { calls: new Map(calls).set(callId, { ...call, isAnswered: true }) }),
      });
    }
  }

  #effect(row: WorldRow): void {
    if (row.kind === "request") this.#checkShown(row);
    if (row.kind === "request" || row.kind === "summary") {
      const { attempt } = this.#known;
      const asked = row.kind === "request" ? `turn ${row.turn}` : `summary ${row.task}`;
      if (attempt?.for !== row.kind) {
        this.#report(
          "txlog-intents",
          "request-without-intent",
          `${asked} was asked without an open attempt at it`,
        );
        return;
      }
      if (attempt.requests > 0) {
        this.#report("txlog-intents", "request-repeated", `attempt ${attempt.number} asked ${asked} again`);
      }
      this.#learn({ attempt: { ...attempt, requests: attempt.requests + 1 } });
      return;
    }
    if (row.kind !== "tool") {
      this.#report("txlog-intents", "unknown-effect", `this system has no effect of the kind ${row.kind}`);
      return;
    }
    const { calls } = this.#known;
    const call = calls.get(row.callId);
    if (call === undefined) {
      this.#report(
        "txlog-intents",
        "call-without-intent",
        `${row.tool} ran for ${row.callId} without an intent`,
      );
      return;
    }
    if (call.isAnswered)
      this.#report("txlog-intents", "call-after-answer", `${row.callId} ran after its answer`);
    if (call.replay === "never" && call.executions > 0) {
      this.#report(
        "txlog-intents",
        "never-tool-repeated",
        `${row.tool} may run once, and ran again for ${row.callId}`,
      );
    }
    if (call.argumentsText !== row.argumentsText) {
      const message = `${row.callId} ran with ${row.argumentsText}, and its intent says ${call.argumentsText}`;
      this.#report("txlog-intents", "call-with-other-arguments", message);
    }
    this.#learn({ calls: new Map(calls).set(row.callId, { ...call, executions: call.executions + 1 }) });
  }

  #checkShown({ turn, shown }: BillRow): void {
    const { context } = this.#known;
    if (shown === undefined || jsonEquals(shown, context)) return;
    const at = shown.findIndex((message, index) => !jsonEquals(message, context[index] ?? null));
    const [found, expected] = at < 0 ? [undefined, context[shown.length]] : [shown[at], context[at]];
    const texts = [found, expected].map((message) =>
      message === undefined ? "nothing" : JSON.stringify(message),
    );
    this.#report(
      "txlog-context",
      "other-context",
      `turn ${turn} was asked for with ${texts[0]}, where the context holds ${texts[1]}`,
    );
  }

  #learn(more: Partial<Known>): void {
    this.#known = { ...this.#known, ...more };
  }

  #report(checker: CheckName, signature: string, message: string): void {
    const { violations } = this.#known;
    if (this.#off.includes(checker)) return;
    if (violations.some((old) => old.checker === checker && old.signature === signature)) return;
    this.#learn({ violations: [...violations, { checker, signature, message }] });
  }
}

const NOTHING: Known = {
  factCount: 0,
  attempt: undefined,
  calls: new Map(),
  asked: [],
  answered: new Set(),
  isAborting: false,
  context: [],
  violations: [],
};
