import { describe, expect, it } from "vitest";
import { sessions } from "../../fixtures/txlog/sessions.ts";
import type { NewFact } from "./fact-types.ts";
import { labelOfTransaction } from "./transaction-label.ts";

/** The labels of a story's transactions, in order. */
function labels(name: string): string[] {
  const story = sessions.find((session) => session.name === name)?.story();
  return (story?.lines.slice(1) ?? []).map((line) => {
    const value = JSON.parse(line) as NewFact | NewFact[];
    return labelOfTransaction(Array.isArray(value) ? value : [value]);
  });
}

describe("the label of a transaction", () => {
  it.each([
    ["user-without-run", ["userMessage", "userMessage", "runStarted"]],
    [
      "completed-tool-run",
      [
        "runStarted",
        "stepAttempt",
        "assistantSettled",
        "toolStarted",
        "toolResult",
        "usage",
        "stepAttempt",
        "assistantSettled",
        "usage",
        "operationFinished.completed",
      ],
    ],
    ["failed-run", ["runStarted", "stepAttempt", "stepFailed", "operationFinished.failed", "runStarted"]],
    [
      "aborted-after-tools",
      [
        "runStarted",
        "stepAttempt",
        "assistantSettled",
        "toolStarted",
        "abortRequested",
        "synthetic.interrupted",
        "synthetic.aborted",
        "operationFinished.aborted",
      ],
    ],
  ])("says what it does: %s", (name, expected) => {
    expect(labels(name)).toEqual(expected);
  });

  it("names the start and the end of a compaction", () => {
    expect(labels("compacted-twice").filter((label) => label.startsWith("compaction"))).toEqual([
      "compactionStarted",
      "compactionSettled",
      "compactionStarted",
      "compactionSettled",
    ]);
  });
});
