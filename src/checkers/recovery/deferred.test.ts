/** What recovery must reach where an answer is put off: when the job is polled, and what its answers become. */
import { describe, expect, it } from "vitest";
import { zeroUsage } from "../../model/index.ts";
import { deferredAt, defers, handleAt, pollOf } from "./deferred.ts";
import type { LibraryReply } from "./library.ts";
import { NotCovered, type ParsedHandle } from "./parsed-view.ts";

const handle: ParsedHandle = { id: "job", data: { turn: 0, notBefore: 70_000 } };
const reply = (id: string, stopReason = "deferred"): LibraryReply => ({
  message: { role: "assistant", stopReason, deferred: { id, data: { turn: 0, notBefore: 0 } } },
  usage: zeroUsage(),
  stopReason,
  errorMessage: undefined,
  isOverflow: false,
  takesMs: 60_000,
});

describe("the expected poll of a deferred job", () => {
  it("is due when the handle says so, and at once where a resume has its permit left", () => {
    expect(pollOf(handle, false)).toEqual({ kind: "poll", handle, notBeforeMs: 70_000 });
    expect(pollOf(handle, true)).toEqual({ kind: "poll", handle });
  });

  it("is of the source that is stored", () => {
    const message = { role: "assistant", timestamp: 0, stopReason: "deferred", deferred: handle };
    const source = { id: "<id1>", parentId: null, timestamp: 0, type: "message", message };
    expect(handleAt([source], "<id1>")).toBe(handle);
    expect(() => handleAt([source], "<id2>")).toThrow(NotCovered);
  });
});

describe("the expected answer", () => {
  it("of a request begins a job that is due after its time", () => {
    const stored = deferredAt(reply("job"), 5_000);
    expect(stored.message.deferred).toEqual({ id: "job", data: { turn: 0, notBefore: 65_000 } });
    expect(stored.stopReason).toBe("deferred");
  });

  it("of a poll that finds the job pending is the handle that was polled", () => {
    const stored = deferredAt(reply("job"), 90_000, handle);
    expect(stored.message.deferred).toEqual(handle);
    expect(stored.stopReason).toBe("deferred");
  });

  it("of a poll that names another job is an error in any words", () => {
    const stored = deferredAt(reply("other"), 90_000, handle);
    expect(stored).toMatchObject({
      stopReason: "error",
      message: { stopReason: "error", errorMessage: { $any: "text" }, deferred: { id: "other" } },
    });
    // The uninterrupted run has stored it as an error already; its words are taken over.
    const known = deferredAt(reply("other", "error"), 90_000, handle);
    expect(known.message).not.toHaveProperty("errorMessage");
    expect(known.message.deferred?.data.notBefore).toBe(150_000);
  });

  it("without a handle is left alone", () => {
    const plain = { ...reply("job", "stop"), message: { role: "assistant", stopReason: "stop" } };
    expect(deferredAt(plain, 1, handle)).toBe(plain);
  });
});

describe("a scenario", () => {
  const usage = { input: 1, output: 1 };
  it("defers if one of its answers does", () => {
    const base = { name: "s", title: "", settings: {}, tools: [], stimuli: [] };
    expect(defers({ ...base, turns: [[{ stopReason: "stop", usage }]] })).toBe(false);
    expect(
      defers({
        ...base,
        turns: [
          [{ stopReason: "stop", usage }],
          [
            { stopReason: "error", usage },
            { stopReason: "deferred", usage },
          ],
        ],
      }),
    ).toBe(true);
  });
});
