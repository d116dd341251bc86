import { describe, expect, it } from "vitest";
import type { AgentMessage, SettledAssistantMessage } from "../model/index.ts";
import { attemptOutcome, nextStage, stagesOf } from "./summary-attempt.ts";
import { assistant, USAGE } from "./testing/states.ts";
import { branchPreparation, compactionPreparation } from "./testing/structural-states.ts";

const message: AgentMessage = { role: "user", content: "x", timestamp: 1 };
const history = compactionPreparation({ messagesToSummarize: [message] });
const prefix = compactionPreparation({ turnPrefixMessages: [message], isSplitTurn: true });
const both = compactionPreparation({
  messagesToSummarize: [message],
  turnPrefixMessages: [message],
  isSplitTurn: true,
});
const branch = branchPreparation({ messages: [message] });
const said = (text: string, changes: Partial<SettledAssistantMessage> = {}) =>
  assistant("stop", { content: [{ type: "text", text }], ...changes });
const failed = (errorMessage: string) => assistant("error", { content: [], errorMessage });
const POLICY = { maxAttempts: 3, baseDelayMs: 1 };

describe("the requests of an attempt", () => {
  it.each([
    ["the history of whole turns", history, ["history"]],
    ["history and prefix of a split turn", both, ["history", "turn_prefix"]],
    ["the prefix alone", prefix, ["turn_prefix"]],
    ["a branch", branch, ["branch"]],
    ["nothing for an empty branch", branchPreparation(), []],
  ])("are for %s", (_name, preparation, expected) => {
    expect(stagesOf(preparation)).toEqual(expected);
  });

  it("end with the first answer that is no summary", () => {
    expect(nextStage(both, [])).toBe("history");
    expect(nextStage(both, [said("one")])).toBe("turn_prefix");
    expect(nextStage(both, [failed("no")])).toBeUndefined();
    expect(nextStage(both, [said("one"), said("two")])).toBeUndefined();
  });
});

describe("an attempt", () => {
  const outcome = (preparation: typeof both | typeof branch, ...responses: SettledAssistantMessage[]) =>
    attemptOutcome(preparation, responses, 1, POLICY);

  it.each([
    ["its text", history, [said("one")], "one"],
    ["all its text blocks", history, [assistant("stop", { content: two() })], "one\ntwo"],
    ["a text that was cut off", history, [said("one", { stopReason: "length" })], "one"],
  ])("makes a summary of %s", (_name, preparation, responses, summary) => {
    expect(outcome(preparation, ...responses)).toMatchObject({ kind: "success", made: { summary } });
  });

  it("joins the texts of a split turn, and adds up what they cost", () => {
    const made = outcome(both, said("one"), said("two"));
    expect(made).toMatchObject({ kind: "success", made: { usage: { input: 14, output: 6 } } });
    expect(made.kind === "success" && made.made.summary).toMatch(/^one\n\n---\n\n.*beginning.*\n\ntwo$/);
  });

  it("keeps a previous summary to which nothing complete has come", () => {
    const of = (previousSummary?: string) => {
      const made = outcome({ ...prefix, ...(previousSummary ? { previousSummary } : {}) }, said("two"));
      return made.kind === "success" ? made.made.summary : "";
    };
    expect(of("before")).toMatch(/^before\n/);
    expect(of()).toMatch(/^There is no earlier conversation/);
  });

  it("introduces a branch, and says so where there was nothing on it", () => {
    const made = outcome(branch, said("one"));
    expect(made.kind === "success" && made.made.summary).toMatch(/another branch.*\n\none$/);
    expect(outcome(branchPreparation({ fileOps: { read: ["r"], written: [], edited: [] } }))).toEqual({
      kind: "success",
      made: {
        summary: expect.stringContaining("nothing"),
        details: { readFiles: [], modifiedFiles: [] },
      },
    });
  });

  it("lists files after the text: modified ones, and those that were only read", () => {
    const fileOps = { read: ["a", "b"], written: ["w"], edited: ["b"] };
    expect(outcome({ ...history, fileOps }, said("one"))).toEqual({
      kind: "success",
      made: {
        summary: "one\n\n<read-files>\na\n</read-files>\n\n<modified-files>\nb\nw\n</modified-files>",
        usage: USAGE,
        details: { readFiles: ["a"], modifiedFiles: ["b", "w"] },
      },
    });
  });

  it.each([
    ["a retryable error with attempts left", failed("overloaded"), 1, "retry"],
    ["a retryable error at the cap", failed("overloaded"), 3, "failure"],
    ["another error", failed("invalid key"), 1, "failure"],
    ["an overflow, which is never compacted again", failed("prompt is too long"), 1, "failure"],
    ["an empty text", said("  \n"), 1, "failure"],
    ["a response without a text", assistant("toolUse", { content: [] }), 1, "failure"],
    ["a deferred answer", assistant("deferred"), 1, "failure"],
  ] as const)("comes to nothing with %s", (_name, response, attempt, kind) => {
    expect(attemptOutcome(both, [said("one"), response], attempt, POLICY)).toEqual({
      kind,
      error: { code: "summarization_failed", message: expect.stringMatching(/^summary of the turn's beg/) },
    });
  });
});

function two(): SettledAssistantMessage["content"] {
  return [
    { type: "thinking", thinking: "hm" },
    { type: "text", text: "one" },
    { type: "text", text: "two" },
  ];
}
