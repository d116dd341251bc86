/**
 * Every state of an operation, as it is stored, opened by another process: what it does next, and what it does next where
 * the operation is cancelled (spec §4.4, §4.5). A state that has no line here does not compile. What queues add is in
 * `reopened.test.ts`, what structural work adds in `structural-recovery.test.ts`.
 */
import { describe, expect, it } from "vitest";
import type {
  Continuation,
  Deferred,
  Generation,
  NavigationState,
  RunPhase,
  StructuralDecision,
  ToolCall,
} from "../model/index.ts";
import {
  asks,
  assistant,
  CANCELLED,
  completed,
  deferred,
  entry,
  failureDrain,
  mayFinish,
  needAssistant,
  pending,
  planned,
  polling,
  ready,
  retryWait,
  run,
  started,
  suspended,
} from "../operation/testing/states.ts";
import { at, batch, message, R, type Stored, stored } from "../operation/testing/stored-lane.ts";
import { stored as storedWork } from "../operation/testing/stored-structural.ts";
import { writesOf } from "../operation/testing/stored-writes.ts";
import {
  compacting,
  manual,
  moving,
  summarized,
  summaryReady,
} from "../operation/testing/structural-states.ts";
import { HANDLE } from "./testing/scripted.ts";
import { worldWith } from "./testing/stored-disk.ts";

/** What the next process does first; and what, where the operation is cancelled. */
interface Case {
  readonly stored: Stored;
  readonly next: string;
  readonly cancelled: string;
}

/** What distinguishes the states of a phase. */
interface Within {
  checkpoint: Continuation["kind"];
  assistant: Generation["status"];
  tools: ToolCall["status"];
  compaction: StructuralDecision["status"];
  deferred: Deferred["status"];
  failure_drain: Extract<RunPhase, { kind: "failure_drain" }>["provenance"]["kind"];
}

type Cases = Readonly<Record<string, Case>>;
type RunCases = { [Kind in RunPhase["kind"]]: Record<Within[Kind], Cases> };

const ABORTED = "end the operation as aborted";

const putOff = (job: Deferred): Stored => {
  const source = entry("R", assistant("deferred", { deferred: HANDLE }));
  return at("R", stored(run(deferred(job), { latestAssistantEntryId: "R" }), source));
};
const truncated = { ...batch(planned(0), planned(1)) };
truncated.entries = truncated.entries.map((each) =>
  each.id === "R" ? entry("R", { ...asks("read", "write"), stopReason: "length" }) : each,
);
const failed = (provenance: Extract<RunPhase, { kind: "failure_drain" }>["provenance"]): RunPhase => {
  const phase = failureDrain();
  return phase.kind === "failure_drain" ? { ...phase, provenance } : phase;
};

const RUN: RunCases = {
  checkpoint: {
    need_assistant: {
      "owes a response": {
        stored: stored(run(needAssistant())),
        next: "commit generation_started",
        cancelled: ABORTED,
      },
    },
    may_finish: {
      "owes nothing": {
        stored: stored(run(mayFinish(), { latestAssistantEntryId: "R" }), entry("R", assistant("stop"))),
        next: "end the operation as completed",
        cancelled: ABORTED,
      },
    },
  },
  assistant: {
    ready: {
      "at its first attempt": {
        stored: stored(run(ready())),
        next: "commit request_intended",
        cancelled: ABORTED,
      },
      "at its last attempt": {
        stored: stored(run(ready(3))),
        next: "commit request_intended",
        cancelled: ABORTED,
      },
    },
    effect_pending: {
      "below the cap": {
        stored: stored(run(pending(1))),
        next: "commit attempt_given_up",
        cancelled: "settle assistant:s1:1",
      },
      "at the cap": {
        stored: stored(run(pending(3))),
        next: "settle assistant:s1:3",
        cancelled: "settle assistant:s1:3",
      },
    },
    retry_wait: {
      "not yet due": {
        stored: stored(run(retryWait(Number.MAX_SAFE_INTEGER))),
        next: "sleep",
        cancelled: ABORTED,
      },
      due: { stored: stored(run(retryWait(1))), next: "commit retry_wait_ended", cancelled: ABORTED },
    },
  },
  tools: {
    planned: {
      "first in its batch": {
        stored: batch(planned(0), planned(1)),
        next: "commit tool_cleared",
        cancelled: "settle tool:R:0",
      },
      "cut off by the output limit": {
        stored: truncated,
        next: "settle tool:R:0",
        cancelled: "settle tool:R:0",
      },
    },
    effect_pending: {
      "safe to repeat": {
        stored: batch(started(0, "safe"), planned(1)),
        next: "execute read",
        cancelled: "settle tool:R:0",
      },
      "declared otherwise when it was started": {
        stored: batch(started(0, "never"), planned(1)),
        next: "settle tool:R:0",
        cancelled: "settle tool:R:0",
      },
      "declared otherwise now": {
        stored: batch(completed(0), started(1, "safe")),
        next: "settle tool:R:1",
        cancelled: "settle tool:R:1",
      },
    },
    completed: {
      "with another behind it": {
        stored: batch(completed(0), planned(1)),
        next: "commit tool_cleared",
        cancelled: "settle tool:R:1",
      },
    },
  },
  compaction: {
    deciding: {
      "at a threshold": {
        stored: storedWork(run(compacting("threshold"))),
        next: "commit summary_started",
        cancelled: ABORTED,
      },
      "after an overflow": {
        stored: storedWork(run(compacting("overflow"))),
        next: "commit summary_started",
        cancelled: ABORTED,
      },
    },
    generating: {
      ready: {
        stored: storedWork(run(compacting("threshold", summaryReady()))),
        next: "commit summary_attempt_started",
        cancelled: ABORTED,
      },
    },
  },
  deferred: {
    suspended: {
      "with a poll behind it": {
        stored: putOff(suspended(1, "R")),
        next: "commit poll_intended",
        cancelled: "cancel deferred job job",
      },
    },
    effect_pending: {
      "at a poll that was lost": {
        stored: putOff(polling(2, "P", "V", "R")),
        next: "commit poll_intended",
        cancelled: "cancel deferred job job",
      },
    },
  },
  failure_drain: {
    response: {
      "with nothing queued": {
        stored: stored(run(failed({ kind: "response", entryId: "R" }), { latestAssistantEntryId: "R" }), R),
        next: "end the operation as failed",
        cancelled: ABORTED,
      },
    },
    structural: {
      "with nothing queued": {
        stored: stored(run(failed({ kind: "structural", taskId: "t" }))),
        next: "end the operation as failed",
        cancelled: ABORTED,
      },
    },
  },
};

const COMPACTION: Record<StructuralDecision["status"], Cases> = {
  deciding: {
    "with nobody to ask": {
      stored: storedWork(manual()),
      next: "commit summary_started",
      cancelled: ABORTED,
    },
  },
  generating: {
    ready: {
      stored: storedWork(manual(summaryReady())),
      next: "commit summary_attempt_started",
      cancelled: ABORTED,
    },
  },
};

const NAVIGATION: Record<NavigationState["phase"]["kind"], Cases> = {
  ready_to_commit: {
    "to an entry": {
      stored: storedWork(moving("e0", "here")),
      next: "end the operation as completed",
      cancelled: ABORTED,
    },
  },
  summary: {
    deciding: { stored: storedWork(summarized()), next: "commit summary_started", cancelled: ABORTED },
    ready: {
      stored: storedWork(summarized(summaryReady())),
      next: "commit summary_attempt_started",
      cancelled: ABORTED,
    },
  },
};

const listed = (of: string, states: Readonly<Record<string, Cases>>) =>
  Object.entries(states).flatMap(([state, cases]) =>
    Object.entries(cases).map(([name, each]) => [`${of} ${state}, ${name}`, each] as const),
  );
const ALL = [
  ...Object.entries(RUN).flatMap(([phase, states]) => listed(phase, states)),
  ...listed("compaction of a caller", COMPACTION),
  ...listed("navigation", NAVIGATION),
];

/** The same lane, its operation cancelled. */
function cancelled({ registers, pending: waiting = [], ...rest }: Stored): Stored {
  const { state } = registers;
  if (state === undefined) throw new Error("only an open operation is cancelled");
  if (state.kind !== "run") {
    const control = { ...CANCELLED, drainedSteer: [], drainedFollowUp: [] };
    return { ...rest, registers: { ...registers, state: { ...state, control } }, pending: waiting };
  }
  return {
    ...rest,
    registers: { ...registers, state: { ...state, control: CANCELLED } },
    pending: [...waiting, ["q1", message], ["q2", message]],
  };
}

/** What a process that resumes does first; nothing that is stored has changed by then. */
async function firstAction(given: Stored): Promise<string | undefined> {
  const world = await worldWith(writesOf(given));
  const before = JSON.stringify(world.disk.dump());
  const tools = [
    world.tool("read", { replay: "safe" }),
    world.tool("write"),
    world.tool("once", { executionMode: "sequential" }),
  ];
  const { harness, suspended } = await world.boot({ tools, drive: "manual" });
  expect(suspended).toHaveLength(1);
  harness.resume().catch(() => undefined);
  const action = await harness.peekAction();
  expect(JSON.stringify(world.disk.dump())).toBe(before);
  await harness.close();
  return action?.description;
}

describe("another process", () => {
  it.each(ALL)("goes on from: %s", async (_name, { stored: given, next }) => {
    expect(await firstAction(given)).toContain(next);
  });

  it.each(ALL)("ends what is cancelled at: %s", async (_name, { stored: given, cancelled: next }) => {
    expect(await firstAction(cancelled(given))).toContain(next);
  });
});
