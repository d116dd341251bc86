/** Each promise of the transactional session is shown to be broken by a wrong history, and kept by the right one. */
import { describe, expect, it } from "vitest";
import type { Boundary, TimelineEvent } from "../../faults/index.ts";
import type { CommittedFact } from "../../txlog/index.ts";
import { startTxlogJudge, TXLOG_CHECKS } from "./judge.ts";

const boundary: Boundary = { kind: "commit", label: "any", occurrence: 1 };

/** As much of a fact as the judge reads. */
type Fact = { readonly kind: string; readonly [key: string]: unknown };

const user: Fact = { kind: "entry", entry: { type: "message", message: { role: "user", content: "hi" } } };
const runStarted: Fact = { kind: "record", record: { type: "runStarted" } };
const attempt = (number: number, stepKind = "assistant"): Fact => ({
  kind: "record",
  record: { type: "stepAttempt", stepKind, attempt: number },
});
const compactionStarted: Fact = { kind: "record", record: { type: "compactionStarted" } };
const compacted: Fact = { kind: "entry", entry: { type: "compaction" } };
const summary: TimelineEvent = {
  kind: "effect",
  boundary,
  row: { kind: "summary", task: 0, index: 0, attempt: 1, usage: { input: 1, output: 1 } },
};
const answer = (...calls: string[]): Fact => ({
  kind: "entry",
  entry: { type: "message", message: { role: "assistant", tool_calls: calls.map((id) => ({ id })) } },
});
const started = (toolCallId: string, replay = "never", args: object = {}): Fact => ({
  kind: "record",
  record: { type: "toolStarted", toolCallId, replay, arguments: args },
});
const result = (id: string): Fact => ({
  kind: "entry",
  entry: { type: "message", message: { role: "tool", tool_call_id: id }, result: { type: "success" } },
});
const abort: Fact = { kind: "record", record: { type: "abortRequested" } };
const finished: Fact = { kind: "record", record: { type: "operationFinished" } };

const request: TimelineEvent = {
  kind: "effect",
  boundary,
  row: { kind: "request", turn: 0, ask: 1, usage: { input: 1, output: 1 } },
};
const ran = (callId: string, argumentsText = "{}"): TimelineEvent => ({
  kind: "effect",
  boundary,
  row: { kind: "tool", tool: "t", callId, argumentsText },
});

const shows = (...texts: string[]): TimelineEvent => {
  const shown = texts.map((text) => ({ by: "user", text }) as const);
  const row = { kind: "request", turn: 0, ask: 1, usage: { input: 1, output: 1 }, shown } as const;
  return { kind: "effect", boundary, row };
};

type Step = Fact | TimelineEvent | readonly Fact[];

/** What is seen of a history whose facts are numbered as they come, unless a fact says otherwise. */
function seenIn(
  history: readonly Step[],
  options: { off?: readonly string[]; factCount?: number } = {},
): string[] {
  const judge = startTxlogJudge({ off: options.off ?? [] });
  let seq = 0;
  const numbered = (fact: Fact): CommittedFact => {
    seq = (fact.seq as number | undefined) ?? seq + 1;
    return { ...fact, seq } as unknown as CommittedFact;
  };
  for (const step of history) {
    if ("boundary" in step) judge.observe(step as TimelineEvent);
    else {
      const facts = (Array.isArray(step) ? step : [step]).map(numbered);
      judge.observe({ kind: "commit", boundary, payload: facts });
    }
  }
  const exact = JSON.stringify({ factCount: options.factCount ?? seq });
  const found = judge.finish({ view: { exact, canonical: "" }, rows: [] });
  return found.map(({ checker, signature }) => `${checker}: ${signature}`);
}

const RIGHT: readonly Step[] = [
  [user, runStarted],
  attempt(1),
  request,
  answer("a", "b"),
  started("a"),
  ran("a"),
  result("a"),
  started("b", "safe", { x: 1 }),
  ran("b", '{"x":1}'),
  ran("b", '{"x":1}'),
  result("b"),
  attempt(1),
  request,
  answer(),
  finished,
];

describe("the judge of a transactional session", () => {
  it("finds nothing in a right history", () => {
    expect(seenIn(RIGHT)).toEqual([]);
  });

  it("finds nothing in a request that is repeated under a second attempt", () => {
    expect(
      seenIn([[user, runStarted], attempt(1), request, attempt(2), request, answer(), finished]),
    ).toEqual([]);
  });

  it("finds nothing in a compaction whose summary is asked for under its own attempts", () => {
    const asked = [compactionStarted, attempt(1, "compaction"), summary, attempt(2, "compaction"), summary];
    expect(seenIn([...asked, compacted, finished, [user, runStarted], attempt(1), request])).toEqual([]);
  });

  it("holds what the model is shown against what was said, and against the last summary", () => {
    const run = [[user, runStarted], attempt(1)];
    const kept = { sourceEntryId: "e", message: { role: "user", content: "kept" } };
    const short = { kind: "entry", entry: { type: "compaction", summary: "Short.", retainedTail: [kept] } };
    const later = [[user, runStarted], attempt(1), short, [user, runStarted], attempt(1)];
    expect(seenIn([...run, shows("hi")])).toEqual([]);
    expect(seenIn([...later, shows("[Compacted history]\nShort.", "kept", "hi")])).toEqual([]);
    for (const [history, texts] of [
      [run, []],
      [run, ["hi", "hi"]],
      [run, ["ho"]],
      [later, ["hi", "hi"]],
      [later, ["[Compacted history]\nShort.", "hi"]],
    ] as const) {
      expect(seenIn([...history, shows(...texts)])).toEqual(["txlog-context: other-context"]);
    }
  });

  it.each<[string, string, readonly Step[]]>([
    [
      "a summary without an attempt",
      "txlog-intents: request-without-intent",
      [compactionStarted, attempt(1, "compaction"), compacted, summary],
    ],
    [
      "a summary under the attempt of a run",
      "txlog-intents: request-without-intent",
      [[user, runStarted], attempt(1), summary],
    ],
    [
      "a summary twice under one attempt",
      "txlog-intents: request-repeated",
      [compactionStarted, attempt(1, "compaction"), summary, summary],
    ],
    ["a request without an attempt", "txlog-intents: request-without-intent", [[user, runStarted], request]],
    [
      "a request twice under one attempt",
      "txlog-intents: request-repeated",
      [[user, runStarted], attempt(1), request, request],
    ],
    ["an execution without an intent", "txlog-intents: call-without-intent", [answer("a"), ran("a")]],
    [
      "a `never` tool twice",
      "txlog-intents: never-tool-repeated",
      [answer("a"), started("a"), ran("a"), ran("a")],
    ],
    [
      "an execution after its answer",
      "txlog-intents: call-after-answer",
      [answer("a"), started("a", "safe"), result("a"), ran("a")],
    ],
    [
      "an execution with other arguments",
      "txlog-intents: call-with-other-arguments",
      [answer("a"), started("a"), ran("a", '{"x":2}')],
    ],
    [
      "a call before an earlier one is answered",
      "txlog-order: call-out-of-order",
      [answer("a", "b"), started("b")],
    ],
    ["a call that nobody asked for", "txlog-order: call-out-of-order", [answer(), started("a")]],
    ["a call after an abort", "txlog-order: call-after-abort", [answer("a"), abort, started("a")]],
    [
      "an attempt after an abort",
      "txlog-order: attempt-after-abort",
      [[user, runStarted], abort, attempt(1)],
    ],
    ["a number that is left out", "txlog-sequence: seq-gap", [user, { ...runStarted, seq: 3 }]],
    ["a number that comes twice", "txlog-sequence: seq-gap", [user, { ...runStarted, seq: 1 }]],
  ])("sees %s", (_title, expected, history) => {
    expect(seenIn(history)).toContain(expected);
  });

  it("sees a confirmed fact that is lost, and a stored one that was never confirmed", () => {
    expect(seenIn(RIGHT, { factCount: 3 })).toEqual(["txlog-sequence: fact-lost"]);
    expect(seenIn(RIGHT, { factCount: 99 })).toEqual(["txlog-sequence: fact-unseen"]);
  });

  it.each(TXLOG_CHECKS.map(({ name }) => name))("says nothing for %s once it is switched off", (off) => {
    const wrong: Step[] = [shows("ho"), answer("a", "b"), started("b"), { ...user, seq: 9 }];
    expect(seenIn(wrong).some((seen) => seen.startsWith(off))).toBe(true);
    expect(seenIn(wrong, { off: [off] }).some((seen) => seen.startsWith(off))).toBe(false);
  });

  it("names the commits of the current life, each once", () => {
    const judge = startTxlogJudge({ off: [] });
    const commit = (...facts: readonly object[]) => {
      const payload = facts.map((fact, index) => ({ ...fact, seq: index + 1 }));
      judge.observe({ kind: "commit", boundary, payload });
    };
    commit(runStarted);
    judge.observe({ kind: "boot", incarnation: 1 });
    commit(attempt(2));
    commit(attempt(3));
    expect(judge.labels?.()).toEqual(["stepAttempt"]);
  });

  it("goes on by itself once it is forked", () => {
    const judge = startTxlogJudge({ off: [] });
    const fork = judge.fork();
    fork.observe(request);
    const end = { view: { exact: '{"factCount":0}', canonical: "" }, rows: [] };
    expect(judge.finish(end)).toEqual([]);
    expect(fork.finish(end)).toHaveLength(1);
  });
});
