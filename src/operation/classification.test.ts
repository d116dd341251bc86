import { describe, expect, it } from "vitest";
import type { SettledAssistantMessage } from "../model/index.ts";
import { type Classification, classify, normalizeForStorage } from "./classification.ts";
import { asks, assistant, CANCELLED, context, HANDLE, USAGE } from "./testing/states.ts";

const running = { status: "running" } as const;
const attempt = { context: context(), attempt: 1, intendedOutputLimit: 4096 };
const lastAttempt = { ...attempt, attempt: 3 };
const afterOverflow = { ...attempt, context: context({ overflowRecoveryUsed: true }) };
const genuine = { ...USAGE, output: 4096 };
const overloaded = assistant("error", { errorMessage: "overloaded" });
const tooLong = assistant("error", { errorMessage: "prompt is too long: 250,000 tokens > 200,000" });

describe("classification, first match wins", () => {
  const cases: [string, SettledAssistantMessage, typeof attempt, Classification["kind"], object?][] = [
    ["stop", assistant("stop"), attempt, "finish"],
    ["stop with calls", { ...asks("read"), stopReason: "stop" }, attempt, "tools"],
    ["toolUse", asks("read", "write"), attempt, "tools"],
    ["toolUse without calls", assistant("toolUse"), attempt, "finish"],
    ["genuine length", assistant("length", { usage: genuine }), attempt, "finish"],
    [
      "genuine length with calls",
      { ...asks("read"), stopReason: "length", usage: genuine },
      attempt,
      "tools",
    ],
    ["length below the intended limit", assistant("length"), attempt, "overflow", { isFirst: true }],
    [
      "length below the limit with calls: never a tool plan",
      { ...asks("read"), stopReason: "length" },
      attempt,
      "overflow",
    ],
    ["overflow after recovery", tooLong, afterOverflow, "overflow", { isFirst: false }],
    ["an error that says the context did not fit", tooLong, attempt, "overflow", { isFirst: true }],
    ["deferred", assistant("deferred", { deferred: HANDLE }), attempt, "deferred", { handle: HANDLE }],
    ["a retryable error with attempts left", overloaded, attempt, "retry"],
    ["a retryable error at the cap", overloaded, lastAttempt, "failure"],
    ["another error", assistant("error", { errorMessage: "invalid api key" }), attempt, "failure"],
    ["an error without a message", assistant("error"), attempt, "failure"],
    [
      "an overflow that also reads as retryable: overflow first",
      assistant("error", { errorMessage: "500 input token count 9 exceeds the maximum" }),
      attempt,
      "overflow",
    ],
  ];
  it.each(cases)("takes %s as %3$s", (_name, message, generation, kind, fields = {}) => {
    expect(classify(message, running, generation)).toMatchObject({ kind, ...fields });
  });

  it.each(["stop", "length", "toolUse", "error", "aborted", "deferred"] as const)(
    "takes %s as cancelled once a cancellation is durable",
    (stopReason) => {
      const message = assistant(stopReason, { deferred: HANDLE });
      expect(classify(message, CANCELLED, attempt)).toEqual({ kind: "cancelled" });
    },
  );

  it("refuses aborted while the operation is running", () => {
    expect(() => classify(assistant("aborted"), running, attempt)).toThrow("aborted_while_running");
  });

  it("gives the calls of a plan in source order", () => {
    const classification = classify(asks("read", "write"), running, attempt);
    expect(classification.kind === "tools" && classification.calls.map(({ id }) => id)).toEqual(["c0", "c1"]);
  });
});

describe("normalization", () => {
  it("stores a cancelled response as aborted and keeps the reason readable", () => {
    const stored = normalizeForStorage(overloaded, { kind: "cancelled" }, 4096);
    expect(stored).toMatchObject({ stopReason: "aborted", usage: USAGE });
    expect(stored.errorMessage).toContain("overloaded");
  });

  it("stores an overflow as error, so that no context holds it", () => {
    const stored = normalizeForStorage(assistant("length"), { kind: "overflow", isFirst: true }, 4096);
    expect(stored.stopReason).toBe("error");
    expect(stored.errorMessage).toContain("length");
  });

  it.each([
    ["an aborted response", assistant("aborted"), { kind: "cancelled" }],
    ["an overflow that is an error already", tooLong, { kind: "overflow", isFirst: false }],
    ["everything else", assistant("stop"), { kind: "finish" }],
  ] as [string, SettledAssistantMessage, Classification][])("leaves %s alone", (_name, message, as) => {
    expect(normalizeForStorage(message, as, 4096)).toBe(message);
  });
});
