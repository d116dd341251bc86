import { describe, expect, it } from "vitest";
import { type OperationState, validateOperationState, type Write } from "../model/index.ts";
import { IllegalTransition } from "./current.ts";
import type { Summary } from "./structural.ts";
import { inWords, mayFinish, needAssistant, ready, run, USAGE } from "./testing/states.ts";
import {
  compacting,
  currentOf,
  manual,
  moving,
  PREPARATION,
  summarized,
  summaryContext,
  summaryPending,
  summaryReady,
  summaryWait,
} from "./testing/structural-states.ts";
import { type OperationEvent, transition } from "./transition.ts";
import {
  acceptCompaction,
  acceptNavigation,
  type StructuralAcceptance,
} from "./transition-structural-acceptance.ts";

const apply = (state: OperationState, event: OperationEvent) => transition(currentOf(state), event);
const words = ({ writes }: { readonly writes: readonly Write[] }) => writes.map(inWords);
const compaction: Summary = { kind: "compaction", summary: "short", retainedTail: [], tokensBefore: 7 };
const branch: Summary = { kind: "branch_summary", summary: "short" };
const generated = (summary: Summary) => ({ summary, entryId: "S", fromHook: false });
const supplied = (summary: Summary) => ({
  summary: { ...summary, usage: USAGE },
  entryId: "H",
  fromHook: true,
  usageId: "U",
});

describe("structural work", () => {
  const cases: [string, OperationState, OperationEvent, OperationState, string[]][] = [
    [
      "is not begun where there is nothing to compact",
      run(mayFinish()),
      { kind: "threshold_checked" },
      run({ ...mayFinish(), thresholdCheckedTriggerEntryId: "R" } as never),
      ["set op.state/O"],
    ],
    [
      "begins at a threshold, and knows where to go on",
      run(needAssistant()),
      { kind: "threshold_exceeded", taskId: "t", preparation: PREPARATION },
      run({
        kind: "compaction",
        reason: "threshold",
        structural: { taskId: "t", status: "deciding" },
        resumeAfter: { ...needAssistant(), thresholdCheckedTriggerEntryId: "e1" } as never,
      }),
      ["set op.preparation/O:t", "set op.state/O"],
    ],
    [
      "generates with what is captured",
      manual(),
      { kind: "summary_started", context: summaryContext("manual") },
      manual(summaryReady()),
      ["set op.state/O"],
    ],
    [
      "begins an attempt",
      summarized(summaryReady(2)),
      { kind: "summary_attempt_started" },
      summarized(summaryPending(2)),
      ["set op.state/O"],
    ],
    [
      "begins an attempt right after a wait",
      run(compacting("overflow", summaryWait())),
      { kind: "summary_attempt_started" },
      run(compacting("overflow", summaryPending(2))),
      ["set op.state/O"],
    ],
    [
      "intends each request by itself",
      manual(summaryPending(1, ["U"])),
      { kind: "summary_request_intended", usageId: "V" },
      manual(summaryPending(1, ["U"], "V")),
      ["set op.state/O"],
    ],
    [
      "pays each request by itself",
      manual(summaryPending(1, ["U"], "V")),
      { kind: "summary_request_settled", usage: USAGE },
      manual(summaryPending(1, ["U", "V"])),
      ["usage V of undefined", "set op.state/O"],
    ],
    [
      "waits before another attempt",
      manual(summaryPending(1, ["U"])),
      { kind: "summary_retried", errorMessage: "overloaded", nowMs: 900 },
      manual(summaryWait(1000)),
      ["set op.state/O"],
    ],
    [
      "gives up an attempt of a lost process with everything in it",
      manual(summaryPending(1, ["U"], "V")),
      { kind: "summary_attempt_given_up" },
      manual(summaryReady(2)),
      ["set op.state/O"],
    ],
    [
      "goes back to the checkpoint when a threshold compaction is declined",
      run(compacting("threshold")),
      { kind: "compaction_concluded", conclusion: { kind: "declined" } },
      run(resumeOf("threshold")),
      ["set op.state/O"],
    ],
    [
      "goes back to the checkpoint with the generated compaction",
      run(compacting("overflow", summaryPending(1, ["U"]))),
      {
        kind: "compaction_concluded",
        conclusion: { kind: "published", publication: generated(compaction) },
      },
      run(resumeOf("overflow")),
      ["entry S after e1", "set lane.leaf/main", "set op.state/O"],
    ],
    [
      "goes back to the checkpoint with the compaction of a hook, and its bill",
      run(compacting("threshold")),
      { kind: "compaction_concluded", conclusion: { kind: "published", publication: supplied(compaction) } },
      run(resumeOf("threshold")),
      ["usage U of H", "entry H after e1", "set lane.leaf/main", "set op.state/O"],
    ],
    [
      "fails the run with the error of its summary",
      run(compacting("threshold", summaryPending())),
      {
        kind: "compaction_concluded",
        conclusion: { kind: "failed", error: { code: "summarization_failed", message: "no" } },
      },
      run(drain("summarization_failed", "no")),
      ["set op.state/O"],
    ],
    [
      "fails the run when an overflow compaction is declined",
      run(compacting("overflow")),
      { kind: "compaction_concluded", conclusion: { kind: "declined" } },
      run(drain("compaction_declined", "the context does not fit, and a hook declined to compact it")),
      ["set op.state/O"],
    ],
  ];
  it.each(cases)("%s", (_name, state, event, next, writes) => {
    const step = apply(state, event);
    expect(step.state).toEqual(next);
    expect(words(step)).toEqual(writes);
    expect(step.writes.at(-1)).toMatchObject({ value: step.state });
    expect(validateOperationState(step.state)).toBeUndefined();
  });

  it.each([
    ["an attempt of work that is still deciding", manual(), { kind: "summary_attempt_started" }],
    ["a second request at once", manual(summaryPending(1, [], "U")), intended()],
    [
      "a settlement of no request",
      manual(summaryPending()),
      { kind: "summary_request_settled", usage: USAGE },
    ],
    [
      "a second decision",
      manual(summaryReady()),
      { kind: "summary_started", context: summaryContext("manual") },
    ],
    ["a threshold within a generation", run(ready()), { kind: "threshold_checked" }],
    [
      "the conclusion of an operation of its own",
      manual(),
      { kind: "compaction_concluded", conclusion: { kind: "declined" } },
    ],
  ] as [string, OperationState, OperationEvent][])("has no %s", (_name, state, event) => {
    expect(() => apply(state, event)).toThrow(IllegalTransition);
  });
});

describe("the end of a structural operation", () => {
  const reads = {
    laneState: { currentOperationId: "O", pendingNextRun: ["q9"] },
    argumentKeys: [],
    preparationKeys: ["O:t"],
  };
  const terminal = [
    "delete op.meta/O",
    "delete op.state/O",
    "delete op.preparation/O:t",
    "set lane.lastResult/main",
    "set lane.state/main",
  ];
  const error = { code: "summarization_failed", message: "no" };
  const label = { ...summarized(summaryPending(1, ["U"])), label: "here" };

  it.each([
    [
      "a generated compaction",
      manual(summaryPending(1, ["U"])),
      {
        outcome: { kind: "published", summary: compaction, fromHook: false },
        publication: generated(compaction),
      },
      ["entry S after e1", "set lane.leaf/main"],
      { kind: "compaction", outcome: "completed", leafId: "S" },
    ],
    [
      "a compaction of a hook",
      manual(),
      {
        outcome: { kind: "published", summary: compaction, fromHook: true },
        publication: supplied(compaction),
      },
      ["usage U of H", "entry H after e1", "set lane.leaf/main"],
      { kind: "compaction", outcome: "completed", leafId: "H" },
    ],
    [
      "a declined compaction",
      manual(),
      { outcome: { kind: "declined" } },
      [],
      { outcome: "declined", leafId: "e1" },
    ],
    [
      "a failed compaction",
      manual(summaryPending()),
      { outcome: { kind: "failed", error } },
      [],
      { outcome: "failed", error, leafId: "e1" },
    ],
    [
      "an aborted navigation",
      summarized(),
      { outcome: { kind: "aborted" } },
      [],
      { kind: "navigation", outcome: "aborted", leafId: "e1" },
    ],
    [
      "a navigation without a summary",
      moving(),
      { outcome: { kind: "completed" } },
      ["set lane.leaf/main"],
      { outcome: "completed", leafId: "e0" },
    ],
    [
      "a navigation to the root",
      moving(null),
      { outcome: { kind: "completed" } },
      ["set lane.leaf/main"],
      { outcome: "completed", leafId: null },
    ],
    [
      "a navigation with a label, which is the target's",
      moving("e0", "here"),
      { outcome: { kind: "completed" } },
      ["set lane.leaf/main", "set fact.label/e0"],
      { outcome: "completed", leafId: "e0" },
    ],
    [
      "a navigation with a generated summary below its target, which gets the label",
      label,
      { outcome: { kind: "published", summary: branch, fromHook: false }, publication: generated(branch) },
      ["set lane.leaf/main", "entry S after e0", "set lane.leaf/main", "set fact.label/S"],
      { outcome: "completed", leafId: "S" },
    ],
    [
      "a navigation with the summary of a hook",
      summarized(),
      { outcome: { kind: "published", summary: branch, fromHook: true }, publication: supplied(branch) },
      ["usage U of H", "set lane.leaf/main", "entry H after e0", "set lane.leaf/main"],
      { outcome: "completed", leafId: "H" },
    ],
  ] as const)("publishes and records %s", (_name, state, ended, published, result) => {
    const step = apply(state, { kind: "finished", reads, ...ended } as OperationEvent);
    expect(words(step)).toEqual([...published, ...terminal]);
    expect(step.state).toBeUndefined();
    expect(step.writes.at(-2)).toMatchObject({ value: { operationId: "O", ...result } });
    expect(step.writes.at(-1)).toMatchObject({ value: { currentOperationId: null, pendingNextRun: ["q9"] } });
  });

  it.each([
    ["a compaction without a publication", manual(), "published"],
    ["a compaction without a summary", manual(), "completed"],
    ["a failure without an error", manual(), "failed"],
    ["a run that is declined", run(mayFinish()), "declined"],
  ] as const)("is not %s", (_name, state, kind) => {
    expect(() => apply(state, { kind: "finished", outcome: { kind } as never, reads })).toThrow();
  });
});

describe("acceptance", () => {
  const acceptance: StructuralAcceptance = {
    lane: "main",
    laneState: { currentOperationId: null, pendingNextRun: ["q9"] },
    leafId: "e1",
    operationId: "O",
    startedAt: 5,
  };
  const lane = { value: { currentOperationId: "O", pendingNextRun: ["q9"] } };

  it("of a compaction writes preparation, operation, state and lane", () => {
    const step = acceptCompaction(acceptance, {
      taskId: "t",
      preparation: PREPARATION,
      customInstructions: "names",
    });
    expect(words(step)).toEqual([
      "set op.preparation/O:t",
      "set op.meta/O",
      "set op.state/O",
      "set lane.state/main",
    ]);
    expect(step.state).toEqual({ ...manual(), customInstructions: "names" });
    expect(step.operation).toMatchObject({
      sourceLeafId: "e1",
      startedAt: 5,
      intent: { kind: "compaction", customInstructions: "names" },
    });
    expect(step.writes.at(-1)).toMatchObject(lane);
  });

  it("of a navigation writes operation, state and lane, and a preparation only with a summary", () => {
    const plain = acceptNavigation(acceptance, { summarize: false, targetId: null });
    expect(words(plain)).toEqual(["set op.meta/O", "set op.state/O", "set lane.state/main"]);
    expect(plain.state).toEqual(moving(null));
    const request = { summarize: true, targetId: "e0", taskId: "t", preparation: PREPARATION } as const;
    const step = acceptNavigation(acceptance, { ...request, label: "here" });
    expect(words(step)[0]).toBe("set op.preparation/O:t");
    expect(step.state).toEqual({ ...summarized(), label: "here" });
    expect(step.operation.intent).toEqual({
      kind: "navigation",
      summarize: true,
      targetId: "e0",
      label: "here",
    });
    expect(step.writes.at(-1)).toMatchObject(lane);
  });
});

function resumeOf(reason: "threshold" | "overflow") {
  const phase = compacting(reason);
  if (phase.kind !== "compaction") throw new Error("a compaction goes back somewhere");
  return phase.resumeAfter;
}

function drain(code: string, message: string) {
  return {
    kind: "failure_drain",
    error: { code, message },
    provenance: { kind: "structural", taskId: "t" },
  } as const;
}

function intended(): OperationEvent {
  return { kind: "summary_request_intended", usageId: "V" };
}
