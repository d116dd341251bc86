import { describe, expect, it } from "vitest";
import type { OperationState, RunState } from "../model/index.ts";
import { sampleOperationStates } from "../model/samples-operation-state.ts";
import { type Action, nextAction, type PlannerInputs } from "./next-action.ts";
import {
  asks,
  completed,
  failureDrain,
  inputs,
  mayFinish,
  needAssistant,
  pending,
  planned,
  ready,
  retryWait,
  run,
  started,
  tools,
} from "./testing/states.ts";

const three = { batchAssistant: asks("read", "write", "read") };
const running = (...keys: string[]) => ({ running: new Set(keys) });
const key = (index: number) => `tool:R:${index}`;
const without = (name: string) => ({
  tools: new Map([...inputs().tools].filter(([tool]) => tool !== name)),
});
const sequential = (phase: RunState["phase"]): RunState => {
  const state = run(phase);
  return { ...state, settings: { ...state.settings, toolExecution: "sequential" } };
};

import { PREPARATION } from "./testing/structural-states.ts";

describe("the next action", () => {
  const cases: [string, OperationState, Partial<PlannerInputs>, Action][] = [
    ["a checkpoint that needs an assistant", run(needAssistant()), {}, { kind: "start_generation" }],
    [
      "a checkpoint that may finish",
      run(mayFinish()),
      {},
      { kind: "finish", outcome: { kind: "completed" } },
    ],
    ["a drained failure", run(failureDrain()), {}, { kind: "finish", outcome: { kind: "failed" } }],
    ["ready", run(ready()), {}, { kind: "request_assistant" }],
    [
      "ready without its model",
      run(ready()),
      { hasModel: () => false },
      { kind: "suspend", reason: "missing_identities", missing: { tools: [], models: ["acme/large"] } },
    ],
    [
      "ready without an active tool",
      run(ready()),
      without("write"),
      { kind: "suspend", reason: "missing_identities", missing: { tools: ["write"], models: [] } },
    ],
    [
      "a request that runs",
      run(pending()),
      running("assistant:s1:1"),
      { kind: "await_effect", key: "assistant:s1:1" },
    ],
    [
      "a request of a lost process, below the cap",
      run(pending(2)),
      {},
      { kind: "advance", event: { kind: "attempt_given_up" } },
    ],
    [
      "a request of a lost process, at the cap",
      run(pending(3)),
      {},
      { kind: "settle_generation", reason: "interrupted" },
    ],
    [
      "a lost request whose model is gone: recovery needs no identity",
      run(pending(3)),
      { hasModel: () => false },
      { kind: "settle_generation", reason: "interrupted" },
    ],
    ["a retry that is not due", run(retryWait(501)), {}, { kind: "wait", untilMs: 501 }],
    [
      "a retry that is due",
      run(retryWait(500)),
      {},
      { kind: "advance", event: { kind: "retry_wait_ended" } },
    ],

    [
      "a planned call",
      run(tools(planned(0), planned(1), planned(2))),
      three,
      { kind: "clear_tool", sourceIndex: 0 },
    ],
    [
      "parallel: the second is cleared while the first runs",
      run(tools(started(0), planned(1), planned(2))),
      { ...three, ...running(key(0)) },
      { kind: "clear_tool", sourceIndex: 1 },
    ],
    [
      "parallel: a refused call waits for its turn, the third is cleared",
      run(tools(started(0), planned(1), planned(2))),
      { ...three, ...running(key(0), key(1)) },
      { kind: "clear_tool", sourceIndex: 2 },
    ],
    [
      "parallel: results are awaited in source order",
      run(tools(started(0), started(1), started(2))),
      { ...three, ...running(key(0), key(1), key(2)) },
      { kind: "await_effect", key: key(0) },
    ],
    [
      "sequential: the second waits for the first",
      sequential(tools(started(0), planned(1), planned(2))),
      { ...three, ...running(key(0)) },
      { kind: "await_effect", key: key(0) },
    ],
    [
      "one sequential tool makes its batch sequential",
      run(tools(started(0), planned(1))),
      { batchAssistant: asks("read", "once"), ...running(key(0)) },
      { kind: "await_effect", key: key(0) },
    ],
    [
      "a sequential tool that is not active does not",
      run(tools(started(0), planned(1))),
      {
        batchAssistant: asks("read", "quiet"),
        tools: new Map([...inputs().tools, ["quiet", { replay: "never", executionMode: "sequential" }]]),
        ...running(key(0)),
      },
      { kind: "clear_tool", sourceIndex: 1 },
    ],
    [
      "a started call of a lost process, never to be repeated",
      run(tools(completed(0), started(1), planned(2))),
      three,
      { kind: "settle_tool", sourceIndex: 1, reason: { kind: "interrupted" } },
    ],
    [
      "parallel: an interrupted call waits for the replay before it, a later one is cleared",
      run(tools(started(0, "safe"), started(1), planned(2))),
      { ...three, ...running(key(0)) },
      { kind: "clear_tool", sourceIndex: 2 },
    ],
    [
      "sequential: a started call of a lost process is settled before the next",
      sequential(tools(completed(0), started(1), planned(2))),
      three,
      { kind: "settle_tool", sourceIndex: 1, reason: { kind: "interrupted" } },
    ],
    [
      "a started call of a lost process, twice safe",
      run(tools(started(0, "safe"), planned(1), planned(2))),
      three,
      { kind: "replay_tool", sourceIndex: 0 },
    ],
    [
      "safe then, not safe now",
      run(tools(started(0, "safe"))),
      {
        batchAssistant: asks("read"),
        tools: new Map([["read", { replay: "never", executionMode: "parallel" }]]),
      },
      { kind: "settle_tool", sourceIndex: 0, reason: { kind: "interrupted" } },
    ],
    [
      "safe now, not safe then",
      run(tools(started(0, "never"))),
      { batchAssistant: asks("read") },
      { kind: "settle_tool", sourceIndex: 0, reason: { kind: "interrupted" } },
    ],
    [
      "safe then, gone now",
      run(tools(started(0, "safe"))),
      { batchAssistant: asks("read"), ...without("read") },
      { kind: "settle_tool", sourceIndex: 0, reason: { kind: "interrupted" } },
    ],
    [
      "a planned call whose active tool is not registered",
      run(tools(planned(0), planned(1))),
      { batchAssistant: asks("read", "write"), ...without("read") },
      { kind: "suspend", reason: "missing_identities", missing: { tools: ["read"], models: [] } },
    ],
    [
      "what runs is settled before a missing tool suspends",
      run(tools(started(0), planned(1))),
      { batchAssistant: asks("read", "write"), ...without("write"), ...running(key(0)) },
      { kind: "await_effect", key: key(0) },
    ],
    [
      "a planned call for a tool that is not active: cleared, and refused there",
      run(tools(planned(0))),
      { batchAssistant: asks("unknown") },
      { kind: "clear_tool", sourceIndex: 0 },
    ],
    [
      "calls of a response that reached the output limit",
      run(tools(completed(0), planned(1))),
      { batchAssistant: { ...asks("read", "write"), stopReason: "length" } },
      { kind: "settle_tool", sourceIndex: 1, reason: { kind: "truncated" } },
    ],
  ];
  it.each(cases)("of %s", (_name, state, given, action) => {
    expect(nextAction(state, inputs(given))).toEqual(action);
  });

  it("prepares a compaction of a context beyond its threshold, whatever the checkpoint leads to", () => {
    for (const phase of [needAssistant(), mayFinish()]) {
      const { kind } = nextAction(run(phase), inputs({ contextSize: size(183_617) }));
      expect(kind).toBe("prepare_threshold_compaction");
    }
  });

  it("starts no generation's compaction twice for one trigger, and none below the threshold", () => {
    const checked = { ...needAssistant(), thresholdCheckedTriggerEntryId: "e1" } as RunState["phase"];
    expect(nextAction(run(checked), inputs({ contextSize: size(183_617) })).kind).toBe("start_generation");
    expect(nextAction(run(needAssistant()), inputs({ contextSize: size(183_616) })).kind).toBe(
      "start_generation",
    );
  });

  it("skips the inbox once after a drain", () => {
    const state = run(needAssistant(), { inbox: box("steer") });
    expect(nextAction(state, inputs()).kind).toBe("start_generation");
  });

  it.each([
    ["deferred writes, all of them, before steering", full(), { queue: "writes", ids: ["w1", "w2"] }],
    ["the oldest steering", full({ writes: [] }), { queue: "steer", ids: ["s1"] }],
    ["no follow-up while a response is owed", full({ writes: [], steer: [] }), undefined],
  ] as const)("of a checkpoint that owes a response consumes %s", (_name, inbox, consumed) => {
    const drains = { ...needAssistant(), skipInboxOnce: false } as RunState["phase"];
    expect(nextAction(run(drains, { inbox }), inputs())).toEqual(
      consumed ? { kind: "consume_inbox", ...consumed } : { kind: "start_generation" },
    );
  });

  it.each([
    ["a checkpoint that may finish", mayFinish(), "completed"],
    ["a failure", failureDrain(), "failed"],
  ] as const)(
    "of %s consumes writes, steering and follow-ups, in this order, before the end",
    (_name, phase, outcome) => {
      const next = (inbox: RunState["inbox"]) => nextAction(run(phase, { inbox }), inputs());
      expect(next(full())).toEqual({ kind: "consume_inbox", queue: "writes", ids: ["w1", "w2"] });
      expect(next(full({ writes: [] }))).toEqual({ kind: "consume_inbox", queue: "steer", ids: ["s1"] });
      expect(next(full({ writes: [], steer: [] }))).toEqual({
        kind: "consume_inbox",
        queue: "followUp",
        ids: ["f1"],
      });
      expect(next({ steer: [], followUp: [], writes: [] })).toEqual({
        kind: "finish",
        outcome: { kind: outcome },
      });
    },
  );

  it("takes every item of a queue whose mode is all", () => {
    const state = run(mayFinish(), { inbox: full({ writes: [] }) });
    const all = { ...state, settings: { ...state.settings, steeringMode: "all" as const } };
    expect(nextAction(all, inputs())).toMatchObject({ queue: "steer", ids: ["s1", "s2"] });
  });

  it("exists for every state that can be stored", () => {
    for (const [name, state] of Object.entries(sampleOperationStates())) {
      const structural = { preparation: PREPARATION };
      const given = { batchAssistant: asks("read", "write", "read"), structural };
      const action = nextAction(state, inputs(given));
      expect(action.kind, name).toBeTypeOf("string");
    }
  });
});

function box(queue: keyof RunState["inbox"]): RunState["inbox"] {
  return { steer: [], followUp: [], writes: [], [queue]: ["q"] };
}

/** Two items in each queue, but for those that are given. */
function full(given: Partial<RunState["inbox"]> = {}): RunState["inbox"] {
  return { steer: ["s1", "s2"], followUp: ["f1", "f2"], writes: ["w1", "w2"], ...given };
}

function size(tokens: number) {
  return { tokens, contextWindow: 200_000 };
}
