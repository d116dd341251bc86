/** How the judge goes: forked anywhere, with failed transactions, over what it cannot read. `catalogue.test.ts` has the histories that it passes. */
import { describe, expect, it } from "vitest";
import type { TimelineEvent } from "../faults/index.ts";
import { HARNESS_CHECKS, startHarnessJudge } from "./judge.ts";
import { History, twoTools } from "./testing/history.ts";
import { judged, SCENARIO } from "./testing/judging.ts";

const pending = (options = {}) => new History(options).seed().prompt().ready().intent();

describe("the judge", () => {
  it("says the same when it is forked after every event", () => {
    const history = twoTools().crash();
    history.prompt().ready().intent().request(0).settleFinish().completed();
    const end = { view: history.view(), rows: history.rows, cuts: [] };
    let judge = startHarnessJudge({ scenario: SCENARIO, off: [] });
    for (const event of history.events) {
      const abandoned = judge;
      judge = judge.fork() as typeof judge;
      // What the abandoned one sees after the fork is its own.
      abandoned.observe({
        kind: "effect",
        boundary: { kind: "effect", label: "x", occurrence: 1 },
        row: strayRow,
      });
      judge.observe(event);
    }
    expect(judge.finish(end)).toEqual([]);
  });

  it("names the commits of the current life, each once, and a fork its own", () => {
    const judge = startHarnessJudge({ scenario: SCENARIO, off: [] });
    for (const event of pending().events) judge.observe(event);
    const fork = judge.fork();
    judge.observe({ kind: "boot", incarnation: 1 });
    expect(judge.labels?.()).toEqual([]);
    expect(fork.labels?.()).toEqual([
      "lane.seed",
      "acceptance.prompt",
      "generation.ready",
      "generation.intent",
    ]);
  });

  it("says each defect once", () => {
    const history = pending();
    history.request(0).request(0).request(0);
    const found = judged(history, "effect-safety");
    expect(found.map(({ signature }) => signature)).toEqual([
      "request twice under one intent",
      "more requests than the captured policy allows",
    ]);
  });

  it("refuses the timeline of another system", () => {
    const judge = startHarnessJudge({ scenario: SCENARIO, off: [] });
    const foreign: TimelineEvent = {
      kind: "commit",
      boundary: { kind: "commit", label: "x", occurrence: 1 },
      payload: { frames: [] },
    };
    expect(() => judge.observe(foreign)).toThrow(/another system/);
  });

  describe("with a failed transaction", () => {
    /** The history with a step that fails and is stored all the same, or is not. */
    const withFailure = (before: History, step: (history: History) => History, isStored: boolean) => {
      const history = step(before.fork());
      const failed = history.steps.at(-1);
      const event: TimelineEvent = {
        kind: "commit-failed",
        boundary: { kind: "commit", label: "failing", occurrence: 1 },
        payload: { writes: failed?.writes },
        error: "StorageFault: no space",
      };
      const after = isStored ? history : before;
      after.events.splice(failed?.at ?? 0, isStored ? 1 : 0, event);
      return after;
    };
    const failing = (isStored: boolean) => {
      return withFailure(
        pending({ maxAttempts: 2 }).request(0),
        (history) => history.settleFinish(),
        isStored,
      );
    };

    it("passes a session that goes on without it", () => {
      const history = failing(false).crash().retryUnknown().intent().request(0).settleFinish().completed();
      expect(judged(history)).toEqual([]);
    });

    it("passes a session that goes on with it, because the seqs leave room for it", () => {
      expect(judged(failing(true).crash().completed())).toEqual([]);
    });

    it("passes a session that goes on with the first of two, and without the second", () => {
      const prompted = new History({ maxAttempts: 2 }).seed().prompt();
      const first = withFailure(prompted, (history) => history.ready(), true).crash();
      const second = withFailure(first.intent().request(0), (history) => history.settleFinish(), false);
      const history = second.crash().retryUnknown().intent().request(0).settleFinish().completed();
      expect(judged(history)).toEqual([]);
    });

    it("passes either end if nothing follows", () => {
      expect(judged(failing(true))).toEqual([]);
      expect(judged(failing(false))).toEqual([]);
    });
  });

  it("has a name, a promise and a limit for every checker", () => {
    const names = HARNESS_CHECKS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { promise, doesNotCheck } of HARNESS_CHECKS) {
      expect(promise.length).toBeGreaterThan(20);
      expect(doesNotCheck.length).toBeGreaterThan(20);
    }
  });
});

const strayRow = { kind: "tool" as const, tool: "stray", callId: "stray", argumentsText: "{}" };
