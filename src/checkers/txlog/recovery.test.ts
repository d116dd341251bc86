/** What is demanded of a recovery follows from what was durable at the cut, and differs where it must. */
import { describe, expect, it } from "vitest";
import twoTools from "../../../scenarios/two-tools.ts";
import type { Cut } from "../../faults/index.ts";
import type { RecoveryQuestion } from "../contract.ts";
import { expectTxlogRecovery } from "./recovery.ts";

const cut: Cut = { boundary: { kind: "commit", label: "any", occurrence: 1 }, position: "before" };
const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
const tool = (content: string) => ({ role: "tool", tool_call_id: "a", content });
const state = (operation: object, ...messages: object[]) =>
  JSON.stringify({ activeContext: messages, operation, transcript: messages, usage });

function ask(atCut: string, uninterrupted: string) {
  const view = (canonical: string) => ({ exact: "", canonical });
  const question: RecoveryQuestion = {
    scenario: twoTools,
    cut,
    atCut: async () => view(atCut),
    uninterrupted: view(uninterrupted),
  };
  return expectTxlogRecovery(question);
}

const done = state({ kind: "idle" }, tool("sent"));

describe("what recovery of a transactional session must reach", () => {
  it("is the run that nobody cut where nothing was unknown", async () => {
    expect(await ask(state({ kind: "idle" }), done)).toEqual({ canonical: done, demands: [] });
  });

  it("is the same where a first attempt was open, or a safe call", async () => {
    const open = { kind: "run", toolCalls: [], step: { status: "attempting", attempt: 1 } };
    const safe = { kind: "run", toolCalls: [{ toolCallId: "a", status: "pending", replay: "safe" }] };
    for (const operation of [open, safe]) expect((await ask(state(operation), done)).canonical).toBe(done);
  });

  it("holds the interrupted text for a `never` call that was open, and only there", async () => {
    const never = { kind: "run", toolCalls: [{ toolCallId: "a", status: "pending", replay: "never" }] };
    const { canonical, demands } = await ask(state(never), done);
    expect(demands).toEqual(["interrupted: a"]);
    expect(canonical).toContain("Operation interrupted after execution status became unknown");
    expect(canonical).not.toContain('"sent"');
    const completed = { kind: "run", toolCalls: [{ toolCallId: "a", status: "completed", replay: "never" }] };
    expect((await ask(state(completed), done)).canonical).toBe(done);
  });

  it("is what stood at the cut where both attempts are used up", async () => {
    const atCut = state({ kind: "run", toolCalls: [], step: { status: "attempting", attempt: 2 } });
    expect((await ask(atCut, done)).canonical).toBe(atCut);
  });
});
