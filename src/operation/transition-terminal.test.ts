import { describe, expect, it } from "vitest";
import {
  CANCELLED,
  current,
  failureDrain,
  inWords,
  mayFinish,
  needAssistant,
  run,
} from "./testing/states.ts";
import { transition } from "./transition.ts";
import { resultOf } from "./transition-terminal.ts";

describe("the terminal transaction", () => {
  const reads = {
    laneState: { currentOperationId: "O", pendingNextRun: ["q9"] },
    argumentKeys: ["O:s1:0"],
    preparationKeys: ["O:t"],
  };

  it("deletes everything that the operation owned, records the result, keeps the lane's queue", () => {
    const inbox = { steer: ["q5"], followUp: ["q6"], writes: ["q7"] };
    const state = run(failureDrain(), { control: CANCELLED, inbox, latestAssistantEntryId: "R" });
    const step = transition(current(state), { kind: "finished", outcome: { kind: "aborted" }, reads });
    expect(step.writes.map(inWords)).toEqual([
      "delete op.meta/O",
      "delete op.state/O",
      "delete op.tool_args/O:s1:0",
      "delete op.preparation/O:t",
      "delete pending.entry/q5",
      "delete pending.entry/q6",
      "delete pending.entry/q7",
      "delete pending.entry/q1",
      "delete pending.entry/q2",
      "set lane.lastResult/main",
      "set lane.state/main",
    ]);
    expect(step.state).toBeUndefined();
    expect(step.writes.at(-1)).toMatchObject({ value: { currentOperationId: null, pendingNextRun: ["q9"] } });
  });

  const base = { operationId: "O", kind: "run", leafId: "e1" };
  it.each([
    [
      "a run that an assistant completed",
      run(mayFinish(true), { latestAssistantEntryId: "R" }),
      "completed",
      { ...base, outcome: "completed", runCompletion: "assistant", finalAssistantEntryId: "R" },
    ],
    [
      "a run that its tools terminated",
      run(mayFinish(false), { latestAssistantEntryId: "R" }),
      "completed",
      { ...base, outcome: "completed", runCompletion: "terminated_tools" },
    ],
    [
      "a failed run",
      run(failureDrain(), { latestAssistantEntryId: "R" }),
      "failed",
      {
        ...base,
        outcome: "failed",
        error: { code: "provider_error", message: "no" },
        finalAssistantEntryId: "R",
      },
    ],
    ["an aborted run without a response", run(needAssistant()), "aborted", { ...base, outcome: "aborted" }],
  ] as const)("records %s", (_name, state, kind, expected) => {
    expect(resultOf(current(state), { kind })).toEqual(expected);
  });

  it.each([
    ["complete a run that still needs an assistant", run(needAssistant()), "completed"],
    ["fail a run that has not failed", run(mayFinish()), "failed"],
  ] as const)("does not %s", (_name, state, kind) => {
    expect(() => resultOf(current(state), { kind })).toThrow();
  });
});
