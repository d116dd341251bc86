/** Wrong histories that effect safety must catch, and right ones that it must pass. */
import { describe, expect, it } from "vitest";
import type { Scenario } from "../faults/index.ts";
import { History, twoTools } from "./testing/history.ts";
import { judged, SCENARIO, signatures } from "./testing/judging.ts";
import { cancel, compacting, structuralHistories } from "./testing/structural-histories.ts";

const found = (history: History) => signatures(history, "effect-safety");
const ready = (options = {}) => new History(options).seed().prompt().ready();
const pending = (options = {}) => ready(options).intent();
const planned = () =>
  pending()
    .request(0)
    .settleTools([
      { id: "call_1", name: "read" },
      { id: "call_2", name: "delete" },
    ]);

const REQUEST = { kind: "request", turn: 0, ask: 1, usage: { input: 10, output: 5 } } as const;

const wrong: Record<string, readonly [string, () => History]> = {
  "a request before its intent": ["request without an intent", () => ready().request(0)],
  "a request on an idle lane": ["request without an intent", () => new History().seed().request(0)],
  "a request after its settlement": [
    "request without an intent",
    () => pending().request(0).settleFinish().request(0),
  ],
  "a request repeated under one intent": [
    "request twice under one intent",
    () => pending({ maxAttempts: 2 }).request(0).request(0),
  ],
  "a request repeated after a crash under the lost intent": [
    "request under a lost intent",
    () => pending({ maxAttempts: 2 }).request(0).crash().request(0),
  ],
  "the first request after a crash under the lost intent": [
    "request under a lost intent",
    () => pending({ maxAttempts: 2 }).crash().request(0),
  ],
  "one request more than the captured policy allows": [
    "more requests than the captured policy allows",
    () => {
      const history = pending({ maxAttempts: 2 }).request(0).crash().retryUnknown().intent().request(0);
      return history.crash().retryUnknown().intent().request(0);
    },
  ],
  "a request after a durable cancellation": [
    "request after a cancellation",
    () => pending().abort().request(0),
  ],
  "a request that was started after a cancellation, and sent after something else": [
    "request after a cancellation",
    () => pending().abort().timer(1).effect(REQUEST, 1),
  ],
  "a request whose cancellation was in an earlier life": [
    "request after a cancellation",
    () => pending({ maxAttempts: 2 }).abort().crash().effect(REQUEST, 1),
  ],
  "a call before its intent": ["tool call before its intent", () => planned().execute("call_1", "read")],
  "a call of no batch": ["tool call without an intent", () => pending().execute("call_1", "read")],
  "a call that nobody asked for": [
    "tool call without an intent",
    () => planned().toolIntent(0, "safe").execute("call_9", "read"),
  ],
  "a call under the name of another tool": [
    "tool call without an intent",
    () => planned().toolIntent(0, "safe").execute("call_1", "delete"),
  ],
  "a call after its settlement": [
    "tool call after its settlement",
    () => planned().toolIntent(0, "safe").execute("call_1", "read").toolSettle(0).execute("call_1", "read"),
  ],
  "a call with other arguments than the stored ones": [
    "tool call with other arguments than the stored ones",
    () => planned().toolIntent(0, "safe", { path: "a" }).execute("call_1", "read", '{"path":"b"}'),
  ],
  "a safe call run again with other arguments": [
    "tool call with other arguments than the stored ones",
    () =>
      planned()
        .toolIntent(0, "safe", { path: "a" })
        .execute("call_1", "read", '{"path":"a"}')
        .crash()
        .execute("call_1", "read", '{"path":"b"}'),
  ],
  "a never call run twice in one life": [
    "never call twice",
    () =>
      planned()
        .toolSynthetic(0)
        .toolIntent(1, "never")
        .execute("call_2", "delete")
        .execute("call_2", "delete"),
  ],
  "a never call run again after a crash": [
    "never call twice",
    () =>
      planned()
        .toolSynthetic(0)
        .toolIntent(1, "never")
        .execute("call_2", "delete")
        .crash()
        .execute("call_2", "delete"),
  ],
  "a never call started after a crash, when it may have run": [
    "never call started under a lost intent",
    () => planned().toolSynthetic(0).toolIntent(1, "never").crash().execute("call_2", "delete"),
  ],
  "a never tool whose intent calls it safe": [
    "intent with another replay than the tool declares",
    () => planned().toolIntent(0, "safe").toolIntent(1, "safe"),
  ],
  "a never tool that its intent calls safe, run twice": [
    "never call twice",
    () =>
      planned()
        .toolSynthetic(0)
        .toolIntent(1, "safe")
        .execute("call_2", "delete")
        .crash()
        .execute("call_2", "delete"),
  ],
  "a safe call run twice in one life": [
    "safe call twice in one life",
    () => planned().toolIntent(0, "safe").execute("call_1", "read").execute("call_1", "read"),
  ],
  "an answer that nobody asked for": ["response without a request", () => pending().settleFinish()],
  "an answer to the request of an earlier life": [
    "response without a request",
    () => pending({ maxAttempts: 2 }).request(0).crash().retryUnknown().intent().settleFinish(),
  ],
  "a result of a call that did not run": [
    "result without an execution",
    () => planned().toolIntent(0, "safe").toolSettle(0),
  ],
  "a result of a call that ran in an earlier life only": [
    "result without an execution",
    () => planned().toolIntent(0, "safe").execute("call_1", "read").crash().toolSettle(0),
  ],
  "a result other than what the tool answered": [
    "result other than the answer",
    () =>
      planned().toolIntent(0, "safe").execute("call_1", "read").result("tool.settle", 0, { text: "another" }),
  ],
  "a call after a durable cancellation": [
    "tool call after a cancellation",
    () => planned().toolIntent(0, "safe").abort().execute("call_1", "read"),
  ],
  "a cancellation that is not one any more": [
    "cancellation taken back",
    () => {
      const history = pending().abort();
      return history.state("resume", { ...history.run, control: { status: "running" } });
    },
  ],
  "a deferred job given up while nobody cancelled": [
    "job given up without a cancellation",
    () => pending().effect({ kind: "cancellation", job: "job" }),
  ],
  "a hook where there is nothing to decide": [
    "hook without a decision to make",
    () => pending().effect({ kind: "decision", task: 0 }),
  ],
  "a hook after a durable cancellation": [
    "hook after a cancellation",
    () => cancel(compacting()).effect({ kind: "decision", task: 0 }),
  ],
};

const right: Record<string, () => History> = {
  "two tools": () => twoTools(),
  "a safe call run again in the next life": () =>
    planned().toolIntent(0, "safe").execute("call_1", "read").crash().execute("call_1", "read").toolSettle(0),
  "the same call id in a later batch": () => {
    const history = planned()
      .toolSynthetic(0)
      .toolIntent(1, "never")
      .execute("call_2", "delete")
      .toolSettle(1);
    history
      .ready()
      .intent()
      .request(1)
      .settleTools([{ id: "call_2", name: "delete" }]);
    return history.toolIntent(0, "never").execute("call_2", "delete").toolSettle(0);
  },
  "as many requests as the policy allows, over three lives": () => {
    const history = pending({ maxAttempts: 3 }).request(0).crash().retryUnknown().intent().request(0);
    return history.crash().retryUnknown().intent().request(0).settleFinish();
  },
  "a deferred job given up after a durable cancellation": () =>
    pending().abort().effect({ kind: "cancellation", job: "job" }),
  "a hook that is asked again in the next life": () =>
    compacting().effect({ kind: "decision", task: 0 }).crash().effect({ kind: "decision", task: 0 }),
  "a request that a cancellation overtook": () => pending().abort().effect(REQUEST, 1),
  "a call that a cancellation overtook, and something else after it": () =>
    planned()
      .toolIntent(0, "safe")
      .abort()
      .timer(1)
      .effect({ kind: "tool", tool: "read", callId: "call_1", argumentsText: "{}" }, 2),
  "an intent without its effect": () =>
    pending({ maxAttempts: 2 }).crash().retryUnknown().intent().request(0),
};

describe("effect safety", () => {
  it.each(Object.entries(wrong))("finds %s", (_, [signature, build]) => {
    expect(found(build())).toContain(signature);
  });

  it.each(Object.entries(right))("passes %s", (_, build) => {
    expect(judged(build(), "effect-safety", SCENARIO)).toEqual([]);
  });
});

describe("a response", () => {
  const answering = (text: string): Scenario => ({
    ...SCENARIO,
    turns: [[{ text, stopReason: "stop", usage: { input: 1, output: 1 } }]],
  });
  const finished = () => pending().request(0).settleFinish();

  it("is what the model answered", () => {
    expect(signatures(finished(), "effect-safety", answering("done"))).toEqual([]);
  });

  it("other than the answer is seen", () => {
    const found = signatures(finished(), "effect-safety", answering("something else"));
    expect(found).toEqual(["response other than the answer"]);
  });
});

describe("a generated summary", () => {
  const generated =
    structuralHistories["a compaction of its own, in two requests, after a retry and a crash"];
  const answering = (...texts: string[]): Scenario => ({
    ...SCENARIO,
    summaries: [texts.map((text) => [{ text, stopReason: "stop", usage: { input: 10, output: 5 } }])],
  });
  const found = (...texts: string[]) =>
    generated === undefined ? [] : signatures(generated(), "effect-safety", answering(...texts));

  it("holds what its attempt was answered", () => {
    expect(found("sho", "ort")).toEqual([]);
  });

  it("without one of the answers is seen", () => {
    expect(found("sho", "long")).toEqual(["summary other than the answer"]);
  });
});
