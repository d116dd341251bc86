/** The driver in a life that nothing cuts short. */
import { describe, expect, it } from "vitest";
import { type During, Life, newSession, sessionOf } from "../../../fixtures/txlog/lives.ts";
import type { Deed } from "../../../fixtures/txlog/mortal.ts";
import type { MemorySessionFiles } from "../store/memory-files.ts";
import type { SessionDriver } from "./driver.ts";

/** A session that nothing kills. */
async function undying(
  during?: During,
): Promise<{ driver: SessionDriver; disk: MemorySessionFiles; deeds: Deed[] }> {
  const { disk, deeds } = await newSession();
  const driver = await new Life(disk, deeds, 1).driver(sessionOf(disk).id, during);
  return { driver, disk, deeds };
}

const outcomes = (disk: MemorySessionFiles) =>
  sessionOf(disk).facts.flatMap(({ record }) => (record?.type === "operationFinished" ? [record] : []));

describe("a drive", () => {
  it("runs tools one after the other, and records answers, results and usage", async () => {
    const { driver, disk, deeds } = await undying();
    await driver.prompt("work");
    expect(await driver.resume()).toEqual({ type: "idle" });
    const { state } = sessionOf(disk);
    expect(state.transcript.map((message) => message.content)).toEqual([
      "work",
      null,
      'deploy did {"n":1}',
      'read did {"n":2}',
      null,
      'deploy did {"n":3}',
      "done",
    ]);
    expect(state.usage).toEqual({ input: 15, output: 9, cacheRead: 3, cacheWrite: 0 });
    expect(deeds.map((deed) => deed.type)).toEqual([
      "request",
      "execute",
      "execute",
      "request",
      "execute",
      "request",
    ]);
    expect(outcomes(disk)).toMatchObject([{ outcome: "completed", completion: "normal" }]);
  });

  it("answers calls that it does not start: unknown, invalid, and not offered by the step", async () => {
    const { driver, disk } = await undying();
    await driver.prompt("odd");
    await driver.resume();
    const results = sessionOf(disk).facts.flatMap(({ entry }) =>
      entry?.result === undefined ? [] : [entry.result],
    );
    expect(results).toEqual([
      { type: "synthetic", reason: "unknownTool" },
      { type: "synthetic", reason: "invalidArguments" },
      { type: "synthetic", reason: "unknownTool" },
      { type: "success" },
    ]);
  });

  it("ends cut, blank, failed and unusable answers in a terminal, after which the next message is accepted", async () => {
    const { driver, disk } = await undying();
    for (const prompt of ["cut", "blank", "fail", "twice", "broken"]) {
      expect((await driver.prompt(prompt)).ok).toBe(true);
      expect(await driver.resume()).toEqual({ type: "idle" });
    }
    expect(outcomes(disk).map(({ outcome, completion, error }) => completion ?? [outcome, error])).toEqual([
      "truncated",
      ["failed", { code: "empty_answer", message: "the model stopped without an answer" }],
      ["failed", { code: "model_error", message: "provider request failed" }],
      ["failed", { code: "model_error", message: "provider request failed" }],
      "normal",
    ]);
    expect(sessionOf(disk).state.transcript.at(-1)?.content).toBe("a \ufffd b");
  });

  it("compacts at a place where no call is cut off from its result", async () => {
    const { driver, disk } = await undying();
    await driver.prompt("work");
    await driver.resume();
    // Two messages from the end stands a result.
    expect((await driver.compact(2)).ok).toBe(true);
    await driver.resume();
    expect(sessionOf(disk).state.activeContext).toEqual([
      { role: "user", content: "[Compacted history]\nsummary of 6" },
      { role: "assistant", content: "done" },
    ]);
    await driver.prompt("talk");
    expect(await driver.resume()).toEqual({ type: "idle" });
    expect(sessionOf(disk).state.activeContext).toHaveLength(4);
  });

  it("accepts one operation at a time, and no compaction of nothing", async () => {
    const { driver } = await undying();
    expect(await driver.compact(1)).toEqual({ ok: false, error: "NOTHING_TO_COMPACT" });
    expect(await driver.abort()).toBe(false);
    await driver.prompt("talk");
    expect(await driver.prompt("talk")).toEqual({ ok: false, error: "OPERATION_UNFINISHED" });
    expect(await driver.compact(1)).toEqual({ ok: false, error: "OPERATION_UNFINISHED" });
  });

  it("aborted while a tool runs records its result, starts no other call, and ends as aborted", async () => {
    const signals: boolean[] = [];
    const { driver, disk, deeds } = await undying(async (own, deed) => {
      if (deed.type === "execute") signals.push(await own.abort());
    });
    await driver.prompt("stop");
    expect(await driver.resume()).toEqual({ type: "idle" });
    expect(signals).toEqual([true]);
    expect(deeds.map((deed) => deed.type)).toEqual(["request", "execute"]);
    const { facts } = sessionOf(disk);
    expect(facts.flatMap(({ record }) => (record?.type === "abortRequested" ? [record] : []))).toMatchObject([
      { phase: "tool", toolCallId: "call_0" },
    ]);
    expect(facts.flatMap(({ entry }) => (entry?.result === undefined ? [] : [entry.result]))).toEqual([
      { type: "success" },
      { type: "synthetic", reason: "aborted" },
    ]);
    expect(outcomes(disk)).toMatchObject([{ outcome: "aborted" }]);
  });

  it("aborted while a request runs closes the attempt, whatever the answer is, and keeps its usage", async () => {
    const { driver, disk } = await undying(async (own) => {
      await own.abort();
      await own.abort();
    });
    await driver.prompt("talk");
    await driver.resume();
    const { facts, state } = sessionOf(disk);
    expect(facts.map(({ kind, record }) => record?.type ?? kind)).toEqual([
      "entry",
      "runStarted",
      "stepAttempt",
      "abortRequested",
      "stepFailed",
      "usage",
      "operationFinished",
    ]);
    expect(state.transcript).toHaveLength(1);
  });

  it("is one drive, however often it is asked for", async () => {
    const { driver, deeds } = await undying();
    await driver.prompt("talk");
    await Promise.all([driver.resume(), driver.resume(), driver.resume()]);
    expect(deeds).toHaveLength(1);
  });

  it("stops where the outcome of an effect is unknown, as a dead process would", async () => {
    const { disk, deeds } = await newSession();
    const life = new Life(disk, deeds, 1);
    const driver = await life.driver(sessionOf(disk).id, () => Promise.reject(new Error("lost")));
    await driver.prompt("talk");
    await expect(driver.resume()).rejects.toThrow("lost");
    expect(sessionOf(disk).state.operation).toMatchObject({ step: { status: "attempting", attempt: 1 } });
  });
});
