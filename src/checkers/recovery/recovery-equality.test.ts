/**
 * What recovery must reach, held against hand-written recoveries: right ones at every kind of cut, and wrong ones,
 * those that should have differed and did not included.
 */
import { describe, expect, it } from "vitest";
import type { Scenario, ScriptedReply } from "../../faults/index.ts";
import { compareViews } from "../compare-views.ts";
import { History } from "../testing/history.ts";
import { usageOf } from "../testing/values.ts";
import { NotCovered } from "./parsed-view.ts";
import { expectRecovery, leavesNothingPending } from "./recovery-equality.ts";

const usage = { input: 10, output: 5 };
const stop: ScriptedReply = { text: "done", stopReason: "stop", usage };
const calls: ScriptedReply = {
  stopReason: "toolUse",
  usage,
  toolCalls: [
    { id: "call_1", name: "read", arguments: {} },
    { id: "call_2", name: "delete", arguments: {} },
  ],
};
const overloaded: ScriptedReply = { stopReason: "error", errorMessage: "overloaded", usage };

const scenario = (turns: readonly (readonly ScriptedReply[])[], maxRetries = 0): Scenario => ({
  name: "test",
  title: "test",
  settings: { retry: { enabled: maxRetries > 0, maxRetries, baseDelayMs: 1000 } },
  tools: [
    { name: "read", replay: "safe", does: { kind: "answers", text: "result" } },
    { name: "delete", replay: "never", does: { kind: "answers", text: "result", terminate: true } },
  ],
  turns,
  stimuli: [{ call: "prompt", text: "go" }],
});

const begun = (maxRetries = 0) => new History({ maxAttempts: maxRetries + 1 }).seed().prompt().ready();
const scripts = [
  { id: "call_1", name: "read" },
  { id: "call_2", name: "delete" },
];
const planned = (history = begun()) => history.intent().request(0).settleTools(scripts);
const bothPending = (history = begun()) =>
  planned(history)
    .toolIntent(0, "safe")
    .toolIntent(1, "never")
    .execute("call_1", "read")
    .execute("call_2", "delete");
const answered = (history: History) => history.ready().intent().request(1).settleFinish().completed();

/** What must be reached after a cut at the end of `atCut`. */
async function expectation(script: Scenario, atCut: History, uninterrupted: History, label = "tool.execute") {
  const cut = { boundary: { kind: "effect" as const, label, occurrence: 1 }, position: "after" as const };
  const view = atCut.view();
  return expectRecovery({
    scenario: script,
    cut,
    atCut: async () => view,
    uninterrupted: uninterrupted.view(),
  });
}

interface Case {
  readonly script: Scenario;
  /** The walk until the cut; each call builds it anew. */
  readonly atCut: () => History;
  /** The walk to its end, without a cut. */
  readonly uninterrupted: (atCut: History) => History;
  readonly demands: readonly string[];
  /** A recovery that is right. */
  readonly right: (dead: History) => History;
  /** Recoveries that are wrong. */
  readonly wrong: Readonly<Record<string, (dead: History) => History>>;
}

const cases: Record<string, Case> = {
  "a never call and a safe one, both pending": {
    script: scenario([[calls], [stop]]),
    atCut: () => bothPending(),
    uninterrupted: (history) => answered(history.toolSettle(0).toolSettle(1, { terminate: true })),
    demands: [
      "§4.5 safe call pending: read is run again with the stored arguments",
      "§4.5 call pending: delete gets an interrupted result",
    ],
    right: (dead) => answered(dead.execute("call_1", "read").toolSettle(0).toolInterrupted(1)),
    wrong: {
      "both results are real, as if nothing had happened": (dead) =>
        answered(dead.execute("call_1", "read").toolSettle(0).toolSettle(1, { terminate: true })),
      "both results are interrupted": (dead) => answered(dead.toolInterrupted(0).toolInterrupted(1)),
      "the interrupted result is no error": (dead) =>
        answered(dead.toolSettle(0).result("tool.interrupted", 1, { isError: false })),
      "the interrupted result terminates": (dead) =>
        answered(dead.toolSettle(0).result("tool.interrupted", 1, { isError: true, terminate: true })),
      "the interrupted result is billed": (dead) =>
        answered(dead.toolSettle(0).result("tool.interrupted", 1, { isError: true, usage: usageOf(1, 1) })),
      "the wording is empty": (dead) =>
        answered(dead.toolSettle(0).result("tool.interrupted", 1, { isError: true, text: "" })),
    },
  },
  "a call that would have ended the run": {
    script: scenario([[{ ...calls, toolCalls: calls.toolCalls?.slice(1) ?? [] }], [stop]]),
    atCut: () =>
      begun()
        .intent()
        .request(0)
        .settleTools(scripts.slice(1))
        .toolIntent(0, "never")
        .execute("call_2", "delete"),
    uninterrupted: (history) => history.toolSettle(0, { terminate: true }).completed(),
    demands: ["§4.5 call pending: delete gets an interrupted result"],
    right: (dead) => answered(dead.toolInterrupted(0)),
    wrong: {
      "the run ends with the interrupted result": (dead) =>
        dead.result("tool.interrupted", 0, { isError: true, terminate: true }).completed(),
      "the run ends as it would have": (dead) => dead.toolSettle(0, { terminate: true }).completed(),
    },
  },
  "a request at the cap": {
    script: scenario([[stop]]),
    atCut: () => begun().intent().request(0),
    uninterrupted: (history) => history.settleFinish().completed(),
    demands: ["§4.5 generation pending at the cap: synthetic error under R, the run fails"],
    right: (dead) => dead.settleSynthetic().failed(),
    wrong: {
      "the request is made again": (dead) =>
        dead.retryUnknown().intent().request(0).settleFinish().completed(),
      "the answer is there all the same": (dead) => dead.settleFinish().completed(),
      "the synthetic error is billed": (dead) =>
        dead.settleFailed("generation.settle.synthetic-error", "unknown", usageOf(1, 0)).failed(),
      "the synthetic error says nothing": (dead) =>
        dead.settleFailed("generation.settle.synthetic-error", "", usageOf(0, 0)).failed(),
      "the run never ends": (dead) => dead.settleSynthetic(),
    },
  },
  "a request below the cap": {
    script: scenario([[stop]], 1),
    atCut: () => begun(1).intent().request(0),
    uninterrupted: (history) => history.settleFinish().completed(),
    demands: ["§4.5 generation pending: attempt 2 of 2"],
    right: (dead) => dead.retryUnknown().intent().request(0).settleFinish().completed(),
    wrong: {
      "the run fails": (dead) => dead.settleSynthetic().failed(),
      "the lost attempt is settled too": (dead) => {
        dead.settleRetry("overloaded", usageOf(0, 0)).retryDue().intent().request(0);
        return dead.settleFinish().completed();
      },
      "the later attempt waits first": (dead) => {
        dead.clock.step(1000);
        return dead.retryUnknown().intent().request(0).settleFinish().completed();
      },
    },
  },
  "a request that fails, and the crash uses up its last attempt": {
    script: scenario([[overloaded, stop]], 1),
    atCut: () => begun(1).intent().request(0),
    uninterrupted: (history) =>
      history
        .settleRetry("overloaded", usageOf(10, 5))
        .timer(1000)
        .retryDue()
        .intent()
        .request(0, 2)
        .settleFinish()
        .completed(),
    demands: ["§4.5 generation pending: attempt 2 of 2"],
    right: (dead) =>
      dead
        .retryUnknown()
        .intent()
        .request(0)
        .settleFailed("generation.settle.failed", "overloaded", usageOf(10, 5))
        .failed(),
    wrong: {
      "an attempt more than the policy allows": (dead) =>
        dead
          .retryUnknown()
          .intent()
          .request(0)
          .settleRetry("overloaded", usageOf(10, 5))
          .timer(2000)
          .retryDue()
          .intent()
          .request(0, 2)
          .settleFinish()
          .completed(),
    },
  },
  "a request that fails, and the crash makes its next wait longer": {
    script: scenario([[overloaded, stop]], 2),
    atCut: () => begun(2).intent().request(0),
    uninterrupted: (history) =>
      history
        .settleRetry("overloaded", usageOf(10, 5))
        .timer(1000)
        .retryDue()
        .intent()
        .request(0, 2)
        .settleFinish()
        .completed(),
    demands: ["§4.5 generation pending: attempt 2 of 3"],
    right: (dead) =>
      dead
        .retryUnknown()
        .intent()
        .request(0)
        .settleRetry("overloaded", usageOf(10, 5))
        .timer(2000)
        .retryDue()
        .intent()
        .request(0, 2)
        .settleFinish()
        .completed(),
    wrong: {
      "the wait is that of the first attempt": (dead) =>
        dead
          .retryUnknown()
          .intent()
          .request(0)
          .settleRetry("overloaded", usageOf(10, 5))
          .timer(1000)
          .retryDue()
          .intent()
          .request(0, 2)
          .settleFinish()
          .completed(),
    },
  },
  "a planned call beside a pending one": {
    script: scenario([[calls], [stop]]),
    atCut: () => planned().toolIntent(0, "safe"),
    uninterrupted: (history) =>
      answered(
        history
          .execute("call_1", "read")
          .toolSettle(0)
          .toolIntent(1, "never")
          .execute("call_2", "delete")
          .toolSettle(1, { terminate: true }),
      ),
    demands: ["§4.5 safe call pending: read is run again with the stored arguments"],
    right: (dead) =>
      answered(
        dead
          .execute("call_1", "read")
          .toolSettle(0)
          .toolIntent(1, "never")
          .execute("call_2", "delete")
          .toolSettle(1, { terminate: true }),
      ),
    wrong: {
      "the planned call is not made": (dead) =>
        answered(dead.execute("call_1", "read").toolSettle(0).toolSynthetic(1)),
    },
  },
};

/** A call is cancelled in its middle while the one after it may be started. */
const cancelledBeside = {
  script: {
    ...scenario([[calls]]),
    meanwhile: [{ while: { tool: "call_1" }, call: "abort" }],
  } as Scenario,
  atCut: () => planned().toolIntent(0, "safe").execute("call_1", "read"),
  uninterrupted: (history: History) => history.abort().toolSettle(0).toolSynthetic(1).aborted(),
};
const again = (dead: History) => dead.execute("call_1", "read");
const beside = (dead: History) => again(dead).toolIntent(1, "never").execute("call_2", "delete").abort();

const rightBeside: Record<string, (dead: History) => History> = {
  "it was never started": (dead) => again(dead).abort().toolSettle(0).toolSynthetic(1).aborted(),
  "it was started before": (dead) => beside(dead).toolSettle(0).toolSettle(1).aborted(),
};
const wrongBeside: Record<string, (dead: History) => History> = {
  "it asks for the end of a run that is cancelled": (dead) =>
    beside(dead).toolSettle(0).toolSettle(1, { terminate: true }).aborted(),
  "what it gives is not its result": (dead) =>
    beside(dead).toolSettle(0).result("tool.settle", 1, { text: "another" }).aborted(),
  "the call that was cancelled loses its result": (dead) =>
    again(dead).abort().toolSynthetic(0).toolSynthetic(1).aborted(),
};

describe("recovery", () => {
  describe("of a call that is cancelled while the next is started", () => {
    const { script, atCut, uninterrupted } = cancelledBeside;
    const reached = async (recover: (dead: History) => History) => {
      const { canonical } = await expectation(script, atCut(), uninterrupted(atCut()));
      return compareViews(canonical, recover(atCut().crash()).view().canonical);
    };

    it.each(Object.entries(rightBeside))("passes when %s", async (_name, recover) => {
      expect(await reached(recover)).toBeUndefined();
    });

    it.each(Object.entries(wrongBeside))("is found wrong when %s", async (_name, recover) => {
      expect(await reached(recover)).toBeDefined();
    });

    it("is not known where the next is billed, since its row may stand or not", async () => {
      const billed = script.tools.map((tool) => ({
        ...tool,
        does: { kind: "answers" as const, text: "result", usage },
      }));
      const asked = expectation({ ...script, tools: billed }, atCut(), uninterrupted(atCut()));
      await expect(asked).rejects.toThrow(NotCovered);
    });
  });

  describe.each(Object.entries(cases))(
    "from %s",
    (_, { script, atCut, uninterrupted, demands, right, wrong }) => {
      const asked = () => expectation(script, atCut(), uninterrupted(atCut()));
      const reached = async (recover: (dead: History) => History) =>
        compareViews((await asked()).canonical, recover(atCut().crash()).view().canonical);

      it("is demanded by name", async () => {
        expect((await asked()).demands).toEqual(demands);
      });

      it("passes when it is right", async () => {
        expect(await reached(right)).toBeUndefined();
      });

      it.each(Object.entries(wrong))("is found wrong when %s", async (_name, recover) => {
        expect(await reached(recover)).toBeDefined();
      });
    },
  );

  it("changes nothing after a cut that leaves nothing pending, and does not read what was durable", async () => {
    const history = answered(bothPending().toolSettle(0).toolSettle(1, { terminate: true }));
    const expected = await expectRecovery({
      scenario: scenario([[calls], [stop]]),
      cut: {
        boundary: { kind: "commit", label: "generation.settle.tools", occurrence: 1 },
        position: "after",
      },
      atCut: () => Promise.reject(new Error("read for nothing")),
      uninterrupted: history.view(),
    });
    expect(expected).toEqual({ canonical: history.view().canonical, demands: [] });
  });

  it("reaches the same view by computing it, at every cut that leaves nothing pending", async () => {
    const script = scenario([[calls], [stop]]);
    const whole = answered(bothPending().toolSettle(0).toolSettle(1, { terminate: true }));
    for (const step of whole.steps) {
      const atCut = new History();
      for (const event of whole.events.slice(1, step.at + 1)) {
        if (event.kind === "commit")
          atCut.commit(event.boundary.label, (event.payload as { writes: [] }).writes);
      }
      const cut = {
        boundary: { kind: "commit" as const, label: step.label, occurrence: 1 },
        position: "after" as const,
      };
      if (!leavesNothingPending(cut)) continue;
      const expected = await expectation(script, atCut, whole, step.label);
      expect(compareViews(expected.canonical, whole.view().canonical), step.label).toBeUndefined();
      expect(expected.demands).toEqual([]);
    }
  });

  it("says so when it does not know what must be reached", async () => {
    const atCut = begun().intent().request(0);
    const inbox = { steer: [], followUp: [], writes: ["queued"] };
    atCut.state("queue.write", { ...atCut.run, inbox });
    await expect(expectation(scenario([[stop]]), atCut, atCut)).rejects.toThrow(NotCovered);
  });
});
