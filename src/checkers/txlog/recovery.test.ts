/** What is demanded of a recovery follows from what was durable at the cut, and differs where it must. */
import { describe, expect, it } from "vitest";
import abortWhileToolRuns from "../../../scenarios/abort-while-tool-runs.ts";
import compactThenAbort from "../../../scenarios/compact-then-abort.ts";
import truncatedCalls from "../../../scenarios/truncated-calls.ts";
import twoTools from "../../../scenarios/two-tools.ts";
import type { Cut, Scenario } from "../../faults/index.ts";
import type { RecoveryQuestion } from "../contract.ts";
import { Continuation } from "./continuation.ts";
import { expectTxlogRecovery } from "./recovery.ts";
import { stateOf, type VisibleState } from "./view.ts";

const cut: Cut = { boundary: { kind: "commit", label: "any", occurrence: 1 }, position: "before" };
const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
const DONE = "the view of the run that nobody cut";

interface AtCut {
  readonly messages?: readonly object[];
  readonly operation?: object;
  readonly operations?: readonly object[];
}

function textOf({ messages = [], operation = { kind: "idle" }, operations = [] }: AtCut): string {
  return JSON.stringify({ activeContext: messages, operation, operations, transcript: messages, usage });
}

async function ask(scenario: Scenario, atCut: AtCut) {
  const view = (canonical: string) => ({ exact: "", canonical });
  const question: RecoveryQuestion = {
    scenario,
    cut,
    atCut: async () => view(textOf(atCut)),
    uninterrupted: view(DONE),
  };
  return expectTxlogRecovery(question);
}

/** The state that a recovery must reach where it may differ. */
async function reached(scenario: Scenario, atCut: AtCut): Promise<VisibleState> {
  const { canonical } = await ask(scenario, atCut);
  return stateOf(canonical);
}

const called = (...ids: string[]) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({
    id,
    type: "function",
    function: { name: id === "call-1" ? "send_payment" : "read_balance", arguments: '{"account":"main"}' },
  })),
});
const prompted = { role: "user", content: "Pay." };
const running = (replay: "safe" | "never", more: object = {}): AtCut => ({
  messages: [prompted, called("call-1", "call-2")],
  operation: {
    kind: "run",
    abortRequested: false,
    step: { status: "settled", stopReason: "toolUse", attempt: 1 },
    toolCalls: [{ toolCallId: "call-1", status: "pending", replay }],
    ...more,
  },
  operations: [{ kind: "run" }],
});
const attempting = (attempt: number, abortRequested: boolean): AtCut => ({
  messages: [prompted],
  operation: { kind: "run", abortRequested, toolCalls: [], step: { status: "attempting", attempt } },
  operations: [{ kind: "run" }],
});
const results = ({ transcript }: VisibleState) =>
  transcript.flatMap((message) => (message.role === "tool" ? [message.content] : []));

describe("what recovery of a transactional session must reach", () => {
  it("is the run that nobody cut where nothing is unknown that cannot be made up for", async () => {
    const openCall = running("safe");
    for (const atCut of [{}, attempting(1, false), openCall]) {
      expect(await ask(twoTools, atCut)).toEqual({ canonical: DONE, demands: [] });
    }
  });

  it("holds the interrupted text for a `never` call that was open, and only there", async () => {
    const { demands } = await ask(twoTools, running("never"));
    expect(demands).toEqual(["interrupted: call-1"]);
    const [first, second] = results(await reached(twoTools, running("never")));
    expect(first).toMatch(/^Operation interrupted after execution status became unknown/);
    expect(second).not.toMatch(/interrupted/);
  });

  it("goes on without the cancellation whose moment was lost with a `never` call", async () => {
    const state = await reached(abortWhileToolRuns, running("never"));
    expect(results(state)).toEqual([
      expect.stringMatching(/^Operation interrupted/),
      'balance after {"account":"main"}',
    ]);
    // The scenario scripts no further answer.
    expect(state.operations).toEqual([{ kind: "run", outcome: "failed" }]);
  });

  it("only closes a run that is to end: an open call is interrupted, `safe` or not, the next ones are aborted", async () => {
    for (const replay of ["safe", "never"] as const) {
      const state = await reached(abortWhileToolRuns, running(replay, { abortRequested: true }));
      expect(results(state)).toEqual([
        expect.stringMatching(/^Operation interrupted/),
        "Operation aborted before execution.",
      ]);
      expect(state.operations).toEqual([{ kind: "run", outcome: "aborted" }]);
    }
  });

  it("closes a cancelled request without its cost, also where its attempts are used up", async () => {
    for (const attempt of [1, 2]) {
      const { demands } = await ask(abortWhileToolRuns, attempting(attempt, true));
      expect(demands).toEqual(["cancelled request: closed, its cost is unknown"]);
      const state = await reached(abortWhileToolRuns, attempting(attempt, true));
      expect(state).toMatchObject({ usage, operations: [{ kind: "run", outcome: "aborted" }] });
    }
  });

  it("is what stood at the cut where both attempts are used up", async () => {
    const atCut = attempting(2, false);
    expect((await ask(twoTools, atCut)).canonical).toBe(textOf(atCut));
  });
});

describe("how a session goes on", () => {
  const fromStart = (scenario: Scenario) => Continuation.from(scenario, stateOf(textOf({}))).state;

  it("executes no call of an answer that was cut, and answers all of them", () => {
    const state = fromStart(truncatedCalls);
    expect(results(state)).toHaveLength(2);
    for (const text of results(state)) expect(text).toMatch(/truncated by the model token limit/);
    expect(state.operations.map(({ outcome }) => outcome)).toEqual(["completed", "completed"]);
  });

  it("shows the model a summary with the kept messages, and what was said since; a cancelled one changes nothing", () => {
    const { activeContext, transcript, operations } = fromStart(compactThenAbort);
    expect(activeContext[0]?.content).toBe("[Compacted history]\nThe founding of Rome.");
    expect(activeContext.slice(1)).toEqual(transcript.slice(2));
    expect(operations.map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual([
      "run completed",
      "run completed",
      "compaction completed",
      "run completed",
      "compaction aborted",
      "run completed",
    ]);
  });
});
