import { describe, expect, it } from "vitest";
import type { OperationState } from "../model/index.ts";
import { type Action, nextAction, type PlannerInputs } from "./next-action.ts";
import type { StructuralInputs } from "./next-structural.ts";
import { assistant, CANCELLED, inputs, run } from "./testing/states.ts";
import {
  branchPreparation,
  compacting,
  manual,
  moving,
  PREPARATION,
  summarized,
  summaryPending,
  summaryReady,
  summaryWait,
} from "./testing/structural-states.ts";

const said = assistant("stop", { content: [{ type: "text", text: "one" }] });
const failed = (errorMessage: string) => assistant("error", { content: [], errorMessage });
const known = (changes: Partial<StructuralInputs> = {}): Partial<PlannerInputs> => ({
  structural: { preparation: PREPARATION, ...changes },
});
const begun = (attempt: number, ...responses: (typeof said)[]) => known({ attempt: { attempt, responses } });
const noModel = { hasModel: () => false };
const summary = { kind: "compaction", summary: "hook", retainedTail: [], tokensBefore: 1 } as const;
const suspend: Action = {
  kind: "suspend",
  reason: "missing_identities",
  missing: { tools: [], models: ["acme/large"] },
};
const generated = {
  kind: "published",
  fromHook: false,
  summary: {
    kind: "compaction",
    summary: "one",
    details: { readFiles: [], modifiedFiles: [] },
    usage: said.usage,
    retainedTail: PREPARATION.kind === "compaction" ? PREPARATION.retainedTail : [],
    tokensBefore: 100,
  },
};
const interrupted = {
  kind: "failed",
  error: { code: "interrupted", message: expect.stringContaining("attempt 3 of 3") },
};

describe("the next action at structural work", () => {
  const cases: [string, OperationState, Partial<PlannerInputs>, object][] = [
    ["a decision that nobody was asked for", manual(), known(), { kind: "decide" }],
    ["no decision", manual(), known({ decision: { kind: "generate" } }), { kind: "start_summary" }],
    [
      "a compaction of a caller that is declined",
      manual(),
      known({ decision: { kind: "decline" } }),
      { kind: "finish", outcome: { kind: "declined" } },
    ],
    [
      "a compaction of a run that is declined",
      run(compacting("threshold")),
      known({ decision: { kind: "decline" } }),
      { kind: "conclude_compaction", conclusion: { kind: "declined" } },
    ],
    [
      "a compaction that a hook supplies",
      run(compacting("overflow")),
      known({ decision: { kind: "supply", summary } }),
      { kind: "conclude_compaction", conclusion: { kind: "published", summary, fromHook: true } },
    ],
    ["ready", manual(summaryReady()), known(), { kind: "start_summary_attempt" }],
    ["ready without its model", manual(summaryReady()), { ...known(), ...noModel }, suspend],
    ["a retry that is not due", manual(summaryWait(501)), known(), { kind: "wait", untilMs: 501 }],
    ["a retry that is due", manual(summaryWait(500)), known(), { kind: "start_summary_attempt" }],
    ["a retry that is due, without its model", manual(summaryWait(500)), { ...known(), ...noModel }, suspend],
    [
      "an attempt that has asked nothing",
      manual(summaryPending()),
      begun(1),
      { kind: "request_summary", stage: "history" },
    ],
    [
      "an attempt between its requests, without its model",
      manual(summaryPending()),
      { ...begun(1), ...noModel },
      suspend,
    ],
    [
      "a request that runs",
      manual(summaryPending(1, [], "U")),
      { ...begun(1), running: new Set(["summary:t:1:0"]) },
      { kind: "await_effect", key: "summary:t:1:0" },
    ],
    [
      "an attempt that has its text",
      manual(summaryPending(1, ["U"])),
      begun(1, said),
      { kind: "finish", outcome: generated },
    ],
    [
      "the same inside a run",
      run(compacting("overflow", summaryPending(1, ["U"]))),
      begun(1, said),
      { kind: "conclude_compaction", conclusion: generated },
    ],
    [
      "an answer that may be tried again",
      manual(summaryPending(1, ["U"])),
      begun(1, failed("overloaded")),
      { kind: "retry_summary", errorMessage: "summary of the history: overloaded" },
    ],
    [
      "an answer that may not",
      run(compacting("threshold", summaryPending(1, ["U"]))),
      begun(1, failed("no")),
      {
        kind: "conclude_compaction",
        conclusion: {
          kind: "failed",
          error: { code: "summarization_failed", message: "summary of the history: no" },
        },
      },
    ],
    [
      "a lost attempt below the cap",
      manual(summaryPending(2, ["U"], "V")),
      known(),
      { kind: "advance", event: { kind: "summary_attempt_given_up" } },
    ],
    [
      "a lost attempt whose model is gone: recovery needs no identity",
      manual(summaryPending(2)),
      { ...known(), ...noModel },
      { kind: "advance", event: { kind: "summary_attempt_given_up" } },
    ],
    [
      "a lost attempt at the cap",
      manual(summaryPending(3)),
      known(),
      { kind: "finish", outcome: interrupted },
    ],
    [
      "a lost attempt at the cap, inside a run",
      run(compacting("overflow", summaryPending(3))),
      begun(2, said),
      { kind: "conclude_compaction", conclusion: interrupted },
    ],
    [
      "the summary of a branch with nothing on it",
      summarized(summaryPending()),
      { structural: { preparation: branchPreparation(), attempt: { attempt: 1, responses: [] } } },
      {
        kind: "finish",
        outcome: { kind: "published", summary: { kind: "branch_summary", summary: expect.any(String) } },
      },
    ],
    ["a navigation without a summary", moving(), {}, { kind: "finish", outcome: { kind: "completed" } }],
    [
      "a cancelled compaction",
      { ...manual(summaryReady()), control: CANCELLED },
      known(),
      { kind: "finish", outcome: { kind: "aborted" } },
    ],
    [
      "a cancelled navigation without a summary",
      { ...moving(), control: CANCELLED },
      {},
      { kind: "finish", outcome: { kind: "aborted" } },
    ],
    [
      "a cancelled compaction whose request runs: it is paid for first",
      { ...manual(summaryPending(1, [], "U")), control: CANCELLED },
      { ...begun(1), running: new Set(["summary:t:1:0"]) },
      { kind: "await_effect", key: "summary:t:1:0" },
    ],
    [
      "a cancelled navigation whose request was lost",
      { ...summarized(summaryPending(1, [], "U")), control: CANCELLED },
      { structural: { preparation: branchPreparation() } },
      { kind: "finish", outcome: { kind: "aborted" } },
    ],
  ];
  it.each(cases)("of %s", (_name, state, given, action) => {
    expect(nextAction(state, inputs(given))).toMatchObject(action);
  });
});
