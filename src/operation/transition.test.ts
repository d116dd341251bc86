import { describe, expect, it } from "vitest";
import { type OperationState, type RunPhase, validateOperationState } from "../model/index.ts";
import { samplePreparations } from "../model/samples.ts";
import type { Classification } from "./classification.ts";
import {
  asks,
  assistant,
  CANCELLED,
  completed,
  context,
  current,
  deferred,
  inWords,
  mayFinish,
  needAssistant,
  pending,
  planned,
  ready,
  result,
  retryWait,
  run,
  started,
  suspended,
  tools,
  USAGE,
} from "./testing/states.ts";
import { type OperationEvent, transition } from "./transition.ts";

function settled(classification: Classification, extra: object = {}): OperationEvent {
  const message = assistant("stop");
  return { kind: "generation_settled", message, classification, nowMs: 500, ...extra };
}

function toolSettled(sourceIndex: number, extra: object = {}): OperationEvent {
  return {
    kind: "tool_settled",
    sourceIndex,
    message: result(sourceIndex),
    terminate: false,
    argumentKeys: ["O:s1:0", "O:s1:1"],
    ...extra,
  };
}

const intent: OperationEvent = {
  kind: "request_intended",
  responseEntryId: "R",
  usageId: "U",
  intendedOutputLimit: 4096,
  contextWindow: 200_000,
};
const finishR: RunPhase = {
  kind: "checkpoint",
  continuation: { kind: "may_finish", includeFinalAssistant: true },
  triggerEntryId: "R",
};
const SETTLE_R = ["entry R after e1", "set lane.leaf/main", "usage U of R"];
const S = "set op.state/O";
const failure = (code: string, message: string): RunPhase => ({
  kind: "failure_drain",
  error: { code, message },
  provenance: { kind: "response", entryId: "R" },
});
const noMessage = "the provider answered with an error and no message";

describe("transitions: next phase and exact writes in order", () => {
  const cases: [string, RunPhase, OperationEvent, RunPhase, string[]][] = [
    ["generation start", needAssistant(), { kind: "generation_started", context: context() }, ready(1), [S]],
    ["request intent", ready(2), intent, pending(2), [S]],
    ["end of a retry wait", retryWait(), { kind: "retry_wait_ended" }, ready(2), [S]],
    ["a lost attempt below the cap", pending(1), { kind: "attempt_given_up" }, ready(2), [S]],
    ["settlement: finish", pending(), settled({ kind: "finish" }), finishR, [...SETTLE_R, S]],
    ["settlement: cancelled", pending(), settled({ kind: "cancelled" }), finishR, [...SETTLE_R, S]],
    [
      "settlement: tools",
      pending(),
      settled({ kind: "tools", calls: [] }, { message: asks("read", "write"), resultEntryIds: ["r0", "r1"] }),
      tools(planned(0), planned(1)),
      [...SETTLE_R, S],
    ],
    [
      "settlement: retry",
      pending(2),
      settled({ kind: "retry" }, { message: assistant("error", { errorMessage: "overloaded" }) }),
      {
        kind: "assistant",
        generation: {
          status: "retry_wait",
          context: context(),
          nextAttempt: 3,
          notBefore: 700,
          errorMessage: "overloaded",
        },
      },
      [...SETTLE_R, S],
    ],
    [
      "settlement: failure",
      pending(3),
      settled({ kind: "failure" }, { message: assistant("error", { errorMessage: "no" }) }),
      failure("provider_error", "no"),
      [...SETTLE_R, S],
    ],
    [
      "settlement: failure without a message",
      pending(3),
      settled({ kind: "failure" }, { message: assistant("error") }),
      failure("provider_error", noMessage),
      [...SETTLE_R, S],
    ],
    [
      "settlement: interrupted at the cap",
      pending(3),
      settled({ kind: "failure" }, { message: assistant("error"), failureCode: "interrupted" }),
      failure("interrupted", noMessage),
      [...SETTLE_R, S],
    ],
    [
      "settlement: first overflow, nothing to compact",
      pending(),
      settled({ kind: "overflow", isFirst: true }, { message: assistant("error") }),
      failure("context_overflow", noMessage),
      [...SETTLE_R, S],
    ],
    [
      "settlement: second overflow",
      pending(),
      settled(
        { kind: "overflow", isFirst: false },
        {
          message: assistant("error"),
          compaction: { taskId: "t", preparation: samplePreparations().compaction },
        },
      ),
      failure("context_overflow", noMessage),
      [...SETTLE_R, S],
    ],
    [
      "settlement: first overflow, compacted",
      pending(),
      settled(
        { kind: "overflow", isFirst: true },
        { compaction: { taskId: "t", preparation: samplePreparations().compaction } },
      ),
      {
        kind: "compaction",
        reason: "overflow",
        structural: { taskId: "t", status: "deciding" },
        resumeAfter: {
          kind: "checkpoint",
          continuation: { kind: "need_assistant", overflowRecoveryUsed: true },
          triggerEntryId: "e1",
        },
      },
      [...SETTLE_R, "set op.preparation/O:t", S],
    ],
    [
      "settlement: deferred",
      pending(),
      settled({ kind: "deferred", handle: { provider: "p", modelId: "m", api: "a", id: "j" } }),
      deferred(suspended(0, "R")),
      [...SETTLE_R, S],
    ],
    [
      "tool clearance",
      tools(planned(0), planned(1)),
      { kind: "tool_cleared", sourceIndex: 1, arguments: { path: "a" }, replay: "safe" },
      tools(planned(0), started(1, "safe")),
      ["set op.tool_args/O:s1:1", S],
    ],
    [
      "tool settlement in the middle: stored arguments stay",
      tools(started(0), planned(1)),
      toolSettled(0),
      tools(completed(0), planned(1)),
      ["entry r0 after e1", "set lane.leaf/main", S],
    ],
    [
      "tool settlement with a usage of its own",
      tools(started(0), planned(1)),
      toolSettled(0, { usage: { id: "u9", usage: USAGE } }),
      tools(completed(0), planned(1)),
      ["entry r0 after e1", "set lane.leaf/main", "usage u9 of r0", S],
    ],
    [
      "tool settlement of a call that was never started",
      tools(planned(0), planned(1)),
      toolSettled(0),
      tools(completed(0), planned(1)),
      ["entry r0 after e1", "set lane.leaf/main", S],
    ],
    [
      "the last tool settlement",
      tools(completed(0, true), started(1)),
      toolSettled(1),
      {
        kind: "checkpoint",
        continuation: { kind: "need_assistant", overflowRecoveryUsed: false },
        triggerEntryId: "r1",
      },
      [
        "entry r1 after e1",
        "set lane.leaf/main",
        "delete op.tool_args/O:s1:0",
        "delete op.tool_args/O:s1:1",
        S,
      ],
    ],
    [
      "the last of a batch whose every call terminates",
      tools(completed(0, true), started(1)),
      toolSettled(1, { terminate: true, argumentKeys: [] }),
      {
        kind: "checkpoint",
        continuation: { kind: "may_finish", includeFinalAssistant: false },
        triggerEntryId: "r1",
      },
      ["entry r1 after e1", "set lane.leaf/main", S],
    ],
  ];
  it.each(cases)("%s", (_name, before, event, after, writes) => {
    const step = transition(current(run(before)), event);
    expect(step.state?.kind === "run" && step.state.phase).toEqual(after);
    expect(step.writes.map(inWords)).toEqual(writes);
    expect(step.writes.at(-1)).toMatchObject({ value: step.state });
    expect(validateOperationState(step.state)).toBeUndefined();
  });

  it("name the newest response from the settlement on", () => {
    const step = transition(current(run(pending())), settled({ kind: "finish" }));
    expect(step.state).toMatchObject({ latestAssistantEntryId: "R" });
    expect(step.leafId).toBe("R");
  });

  it("mark the entry of a result that terminates, and no other", () => {
    const yes = transition(current(run(tools(started(0), planned(1)))), toolSettled(0, { terminate: true }));
    const no = transition(current(run(tools(started(0), planned(1)))), toolSettled(0));
    expect(yes.writes[0]).toMatchObject({ entry: { terminate: true } });
    expect(no.writes[0]).not.toHaveProperty("entry.terminate");
  });

  it("keep control, settings and inbox of the state that they extend", () => {
    const inbox = { steer: ["q3"], followUp: [], writes: ["q4"] };
    const step = transition(
      current(run(pending(), { control: CANCELLED, inbox })),
      settled({ kind: "cancelled" }),
    );
    expect(step.state).toMatchObject({ control: CANCELLED, inbox });
  });

  it("change nothing of the state that they extend", () => {
    const before = current(run(tools(started(0), planned(1))));
    const copy = structuredClone(before);
    transition(before, toolSettled(0));
    expect(before).toEqual(copy);
  });
});

describe("transitions that a state does not have", () => {
  it.each([
    ["a settlement without an intent", ready(), settled({ kind: "finish" })],
    ["an intent twice", pending(), intent],
    [
      "a generation at a checkpoint that may finish",
      mayFinish(),
      { kind: "generation_started", context: context() },
    ],
    ["the end of no wait", pending(), { kind: "retry_wait_ended" }],
    ["giving up a planned attempt", ready(), { kind: "attempt_given_up" }],
    ["a tool outside a batch", ready(), toolSettled(0)],
    ["a result twice", tools(completed(0), planned(1)), toolSettled(0)],
    [
      "a clearance twice",
      tools(started(0), planned(1)),
      { kind: "tool_cleared", sourceIndex: 0, arguments: {}, replay: "never" },
    ],
  ] as [string, RunPhase, OperationEvent][])("refuse %s", (_name, phase, event) => {
    expect(() => transition(current(run(phase)), event)).toThrow();
  });

  it("refuse an event of a run in a structural operation", () => {
    const state: OperationState = {
      kind: "compaction",
      control: { status: "running" },
      structural: { taskId: "t", status: "deciding" },
    };
    const structural = { ...current(run(ready())), state };
    expect(() => transition(structural, intent)).toThrow("is no transition of compaction");
  });
});
