import { describe, expect, it } from "vitest";
import type { LaneLastResult } from "../model/index.ts";
import { sampleLastResults } from "../model/samples.ts";
import { checkLastResult } from "./last-result.ts";

const run = { operationId: "O", kind: "run", leafId: "e" } as const;
const completed = { ...run, outcome: "completed" } as const;

describe("a stored last result", () => {
  it("is read back when its fields fit its kind", () => {
    for (const result of Object.values(sampleLastResults()))
      expect(checkLastResult("main", result)).toBe(result);
  });

  it.each([
    ["a run that was declined", { ...run, outcome: "declined" }],
    ["a completed run without completion", completed],
    ["a run that an assistant completed, without it", { ...completed, runCompletion: "assistant" }],
    [
      "a run that its tools terminated, with an assistant",
      { ...completed, runCompletion: "terminated_tools", finalAssistantEntryId: "R" },
    ],
    ["a compaction with an assistant", { ...completed, kind: "compaction", finalAssistantEntryId: "R" }],
    ["a navigation with a run completion", { ...completed, kind: "navigation", runCompletion: "assistant" }],
  ] as [string, LaneLastResult][])("is refused for %s", (_name, result) => {
    expect(() => checkLastResult("main", result)).toThrow("lane.lastResult/main");
  });
});
