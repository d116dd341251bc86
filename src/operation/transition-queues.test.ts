/** Admission, withdrawal and consumption: the exact writes, and what becomes of the phase. */
import { describe, expect, it } from "vitest";
import type { PendingEntry, RunState, Write } from "../model/index.ts";
import {
  CANCELLED,
  current,
  failureDrain,
  mayFinish,
  needAssistant,
  OPERATION,
  run,
  started,
  tools,
} from "./testing/states.ts";
import { transition } from "./transition.ts";
import { queueNextRun, withdrawNextRun } from "./transition-queues.ts";

const message = (said: string): PendingEntry => ({
  type: "message",
  payload: { role: "user", content: said, timestamp: 5 },
});
const note: PendingEntry = { type: "custom", customType: "note", payload: 7 };
const box = (given: Partial<RunState["inbox"]>): RunState["inbox"] => ({
  steer: [],
  followUp: [],
  writes: [],
  ...given,
});

const counter = (value: RunState): Write => ({
  kind: "register",
  op: "set",
  namespace: "op.state",
  key: OPERATION.operationId,
  value,
});
const gone = (key: string): Write => ({ kind: "register", op: "delete", namespace: "pending.entry", key });
const leaf = (value: string): Write => ({
  kind: "register",
  op: "set",
  namespace: "lane.leaf",
  key: "main",
  value,
});

describe("admission", () => {
  it.each(["steer", "followUp", "writes"] as const)("to %s writes the content, then the list", (queue) => {
    const state = run(tools(started(0)), { inbox: box({ [queue]: ["q1"] }) });
    const { writes, leafId } = transition(current(state), {
      kind: "item_queued",
      queue,
      id: "q2",
      pending: message("more"),
    });
    expect(writes).toEqual([
      { kind: "register", op: "set", namespace: "pending.entry", key: "q2", value: message("more") },
      counter({ ...state, inbox: box({ [queue]: ["q1", "q2"] }) }),
    ]);
    expect(leafId).toBe(current(state).leafId);
  });

  it.each([
    ["steer", false],
    ["followUp", false],
    ["writes", true],
  ] as const)("to %s under a cancelled control: %s", (queue, isAdmitted) => {
    const state = run(tools(started(0)), { control: CANCELLED });
    const admit = () =>
      transition(current(state), { kind: "item_queued", queue, id: "q", pending: message("more") });
    if (isAdmitted) expect(admit().state).toMatchObject({ inbox: { writes: ["q"] } });
    else expect(admit).toThrow("is no transition of");
  });
});

describe("withdrawal", () => {
  it.each(["steer", "followUp", "writes"] as const)("from %s writes the list, then deletes", (queue) => {
    const state = run(tools(started(0)), { inbox: box({ [queue]: ["q1", "q2", "q3"] }) });
    const { writes } = transition(current(state), { kind: "item_withdrawn", id: "q2" });
    expect(writes).toEqual([counter({ ...state, inbox: box({ [queue]: ["q1", "q3"] }) }), gone("q2")]);
  });

  it("of an item that is not listed is a defect of the caller", () => {
    expect(() => transition(current(run(mayFinish())), { kind: "item_withdrawn", id: "q" })).toThrow(
      "not queued",
    );
  });
});

describe("consumption", () => {
  it.each([
    ["a checkpoint", mayFinish()],
    ["a checkpoint after overflow recovery", needAssistant(true)],
    ["a failure", failureDrain()],
  ])(
    "of messages at %s places them, and asks for a response before anything more is taken",
    (_name, phase) => {
      const state = run(phase, { inbox: box({ steer: ["q1", "q2"], followUp: ["q3"] }) });
      const at = current(state, { leafId: "e9" });
      const items = [
        { id: "q1", pending: message("one") },
        { id: "q2", pending: message("two") },
      ];
      const { writes, leafId } = transition(at, { kind: "inbox_consumed", queue: "steer", items });
      expect(leafId).toBe("q2");
      expect(writes).toEqual([
        {
          kind: "entry",
          entry: { type: "message", id: "q1", parentId: "e9", message: items[0]?.pending.payload },
        },
        {
          kind: "entry",
          entry: { type: "message", id: "q2", parentId: "q1", message: items[1]?.pending.payload },
        },
        gone("q1"),
        gone("q2"),
        leaf("q2"),
        counter({
          ...state,
          inbox: box({ followUp: ["q3"] }),
          phase: {
            kind: "checkpoint",
            continuation: { kind: "need_assistant", overflowRecoveryUsed: false },
            triggerEntryId: "q2",
            skipInboxOnce: true,
          },
        }),
      ]);
    },
  );

  it.each([
    ["custom writes", run(needAssistant(true), { inbox: box({ writes: ["q"] }) }), note],
    ["custom writes after a failure", run(failureDrain(), { inbox: box({ writes: ["q"] }) }), note],
    [
      "a message under a cancelled control",
      run(mayFinish(), { inbox: box({ writes: ["q"] }), control: CANCELLED }),
      message("late"),
    ],
  ] as const)("of %s changes nothing but the inbox", (_name, state, pending) => {
    const { writes, state: next } = transition(current(state), {
      kind: "inbox_consumed",
      queue: "writes",
      items: [{ id: "q", pending }],
    });
    expect(next).toEqual({ ...state, inbox: box({}) });
    expect(writes.map((write) => write.kind)).toEqual(["entry", "register", "register", "register"]);
  });
});

describe("the next run", () => {
  const lane = { currentOperationId: "O", pendingNextRun: ["n1"] };
  const laneSet = (pendingNextRun: string[]): Write => ({
    kind: "register",
    op: "set",
    namespace: "lane.state",
    key: "main",
    value: { ...lane, pendingNextRun },
  });

  it("takes an item: content, then the list; and gives it back: the list, then the delete", () => {
    expect(queueNextRun("main", lane, "n2", message("later"))).toEqual([
      { kind: "register", op: "set", namespace: "pending.entry", key: "n2", value: message("later") },
      laneSet(["n1", "n2"]),
    ]);
    expect(withdrawNextRun("main", lane, "n1")).toEqual([laneSet([]), gone("n1")]);
  });
});
