/** A deferred job: what comes next in each of its states, what an answer to a poll means, and what is written for it. */
import { describe, expect, it } from "vitest";
import type { Deferred, RunPhase, RunState } from "../model/index.ts";
import { validateOperationState } from "../model/index.ts";
import { type Action, nextAction, type PlannerInputs } from "./next-action.ts";
import { cancelDeferredKey, pollKey, runningCancellation } from "./next-deferred-action.ts";
import { classifyPoll, type PollClassification } from "./poll-classification.ts";
import {
  asks,
  assistant,
  CANCELLED,
  current,
  deferred,
  HANDLE,
  inputs,
  inWords,
  mayFinish,
  planned,
  polling,
  ready,
  run,
  suspended,
  tools,
} from "./testing/states.ts";
import { type OperationEvent, transition } from "./transition.ts";

const permit = { deferredPollsRemaining: 1 } as const;
const running = (...keys: string[]) => ({ running: new Set(keys) });
const noModel = { hasModel: () => false };
const asked = { deferredCancellations: new Set(["D"]) };
const cancelled = (state: Deferred): RunState => run(deferred(state), { control: CANCELLED });

describe("the next action of a deferred job", () => {
  const cases: [string, RunState, Partial<PlannerInputs>, Action][] = [
    ["suspended, without a permit", run(deferred(suspended(0))), {}, { kind: "suspend", reason: "deferred" }],
    ["suspended, with one", run(deferred(suspended(2))), permit, { kind: "poll_deferred" }],
    [
      "suspended, with one and without its model: no poll is spent",
      run(deferred(suspended(0))),
      { ...permit, ...noModel },
      { kind: "suspend", reason: "missing_identities", missing: { tools: [], models: ["acme/large"] } },
    ],
    [
      "a poll that runs",
      run(deferred(polling(1))),
      running("poll:s1:1"),
      { kind: "await_effect", key: "poll:s1:1" },
    ],
    ["a poll of a lost process, with a permit", run(deferred(polling(4))), permit, { kind: "poll_deferred" }],
    [
      "a poll of a lost process, without one",
      run(deferred(polling(4))),
      {},
      { kind: "suspend", reason: "deferred" },
    ],
    [
      "cancelled and suspended: the source is given up first",
      cancelled(suspended(1)),
      permit,
      { kind: "cancel_deferred", sourceEntryId: "D" },
    ],
    [
      "cancelled, and the provider is being asked",
      cancelled(suspended(1)),
      { ...asked, ...running(cancelDeferredKey("D")) },
      { kind: "await_effect", key: "cancel_deferred:D" },
    ],
    [
      "cancelled, and the provider was asked",
      cancelled(suspended(1)),
      asked,
      { kind: "finish", outcome: { kind: "aborted" } },
    ],
    [
      "cancelled without its model: nobody can be asked",
      cancelled(suspended(1)),
      noModel,
      { kind: "finish", outcome: { kind: "aborted" } },
    ],
    [
      "cancelled while a poll runs: the source is given up beside it",
      cancelled(polling(1)),
      running("poll:s1:1"),
      { kind: "cancel_deferred", sourceEntryId: "D" },
    ],
    [
      "cancelled while a poll runs, and the provider was asked",
      cancelled(polling(1)),
      { ...asked, ...running("poll:s1:1") },
      { kind: "await_effect", key: "poll:s1:1" },
    ],
    [
      "cancelled, with a poll of a lost process",
      cancelled(polling(1)),
      asked,
      { kind: "settle_poll", reason: "cancelled" },
    ],
  ];
  it.each(cases)("%s", (_name, state, facts, action) => {
    expect(nextAction(state, { ...inputs(), ...facts })).toEqual(action);
  });

  it("is the same for a poll at any number: there is no cap", () => {
    const state = run(deferred(suspended(1_000_000)));
    expect(nextAction(state, { ...inputs(), ...permit })).toEqual({ kind: "poll_deferred" });
  });

  it("knows a cancellation under way in any phase", () => {
    const facts = { ...inputs(), ...asked, ...running(cancelDeferredKey("D"), "poll:s1:1") };
    expect(runningCancellation(facts)).toBe("cancel_deferred:D");
    expect(runningCancellation({ ...facts, running: new Set() })).toBeUndefined();
  });
});

describe("the answer to a poll", () => {
  const stillPending = assistant("deferred", { deferred: HANDLE });
  const elsewhere = { ...HANDLE, data: { region: "eu" } };
  it.each([
    ["an equal handle: pending", stillPending, "pending"],
    [
      "an equal handle, members in another order",
      assistant("deferred", { deferred: reversed(HANDLE) }),
      "pending",
    ],
    ["a handle that differs in one member", assistant("deferred", { deferred: elsewhere }), "mismatch"],
    [
      "an error, even one that a request would be retried for",
      assistant("error", { errorMessage: "overloaded" }),
      "failure",
    ],
    ["an overflow", assistant("error", { errorMessage: "prompt is too long" }), "failure"],
    ["calls", asks("read"), "tools"],
    ["calls after the output limit", { ...asks("read"), stopReason: "length" as const }, "tools"],
    ["an answer", assistant("stop"), "finish"],
    ["a length without calls, however short", assistant("length"), "finish"],
  ] as const)("%s", (_name, message, kind) => {
    expect(classifyPoll(message, { status: "running" }, HANDLE).kind).toBe(kind);
    expect(classifyPoll(message, CANCELLED, HANDLE)).toEqual({ kind: "cancelled" });
  });

  it("is never an abort that nobody asked for", () => {
    expect(() => classifyPoll(assistant("aborted"), { status: "running" }, HANDLE)).toThrow(
      "no cancellation is durable",
    );
  });
});

describe("transitions of a deferred job: next phase and exact writes in order", () => {
  const S = "set op.state/O";
  const SETTLE_R = ["entry R after D", "set lane.leaf/main", "usage U of R"];
  const intended: OperationEvent = { kind: "poll_intended", responseEntryId: "R", usageId: "U" };
  const settled = (classification: PollClassification, extra: object = {}): OperationEvent => {
    return { kind: "poll_settled", message: assistant("stop"), classification, source: HANDLE, ...extra };
  };
  const failed = (code: string, message: string): RunPhase => ({
    kind: "failure_drain",
    error: { code, message },
    provenance: { kind: "response", entryId: "R" },
  });
  const refused = { message: assistant("error", { errorMessage: "no such job" }) };
  const tooLong = { message: assistant("error", { errorMessage: "prompt is too long" }) };
  const foreign = { ...HANDLE, id: "other" };
  const mismatch = { kind: "mismatch", handle: foreign } as const;
  const cases: [string, Deferred, OperationEvent, RunPhase, string[]][] = [
    ["an intent", suspended(1), intended, deferred(polling(2)), [S]],
    [
      "an intent again: the same number, fresh ids",
      polling(2, "R0", "U0"),
      intended,
      deferred(polling(2)),
      [S],
    ],
    [
      "still pending",
      polling(2),
      settled({ kind: "pending" }),
      deferred(suspended(2, "R")),
      [...SETTLE_R, S],
    ],
    [
      "tools",
      polling(1),
      settled({ kind: "tools", calls: [] }, { message: asks("read", "write"), resultEntryIds: ["r0", "r1"] }),
      tools(planned(0), planned(1)),
      [...SETTLE_R, S],
    ],
    ["an answer", polling(1), settled({ kind: "finish" }), mayFinish(), [...SETTLE_R, S]],
    ["cancelled", polling(1), settled({ kind: "cancelled" }), mayFinish(), [...SETTLE_R, S]],
    [
      "an error",
      polling(1),
      settled({ kind: "failure" }, refused),
      failed("provider_error", "no such job"),
      [...SETTLE_R, S],
    ],
    [
      "an overflow",
      polling(1),
      settled({ kind: "failure" }, tooLong),
      failed("context_overflow", "prompt is too long"),
      [...SETTLE_R, S],
    ],
    [
      "a foreign handle",
      polling(1),
      settled(mismatch, { message: assistant("deferred", { deferred: foreign }) }),
      failed(
        "provider_error",
        "the poll of deferred job job was answered with the handle of job other; the job is not followed further",
      ),
      [...SETTLE_R, S],
    ],
  ];
  it.each(cases)("%s", (_name, before, event, after, writes) => {
    const step = transition(current(run(deferred(before)), { leafId: "D" }), event);
    expect(step.state?.kind === "run" && step.state.phase).toEqual(after);
    expect(step.writes.map(inWords)).toEqual(writes);
    expect(step.writes.at(-1)).toMatchObject({ value: step.state });
    expect(validateOperationState(step.state)).toBeUndefined();
  });

  it("store a foreign handle as an error that says so, and a cancelled answer as aborted", () => {
    const stored = (event: OperationEvent) =>
      transition(current(run(deferred(polling(1))), { leafId: "D" }), event).writes[0];
    const pending = { message: assistant("deferred", { deferred: foreign }) };
    expect(stored(settled(mismatch, pending))).toMatchObject({
      entry: { message: { stopReason: "error", deferred: foreign } },
    });
    expect(stored(settled({ kind: "cancelled" }))).toMatchObject({
      entry: {
        message: { stopReason: "aborted", errorMessage: expect.stringContaining("cancelled by the caller") },
      },
    });
  });

  it("refuse a poll where nothing is deferred, and a settlement of no poll", () => {
    expect(() => transition(current(run(ready())), intended)).toThrow("is no transition of");
    expect(() => transition(current(run(deferred(suspended(0)))), settled({ kind: "finish" }))).toThrow(
      "is no transition of",
    );
  });

  it("give each poll a key of its own", () => {
    expect(
      new Set([pollKey(polling(1)), pollKey(polling(2)), pollKey({ ...polling(1), stepId: "s2" })]).size,
    ).toBe(3);
  });
});

function reversed<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).reverse()) as T;
}
