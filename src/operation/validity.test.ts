import { describe, expect, it } from "vitest";
import { Corruption } from "../foundation/index.ts";
import type { Entry, Operation, OperationState } from "../model/index.ts";
import { sampleOperationStates } from "../model/samples-operation-state.ts";
import { CORRUPTION_REASONS, type CorruptionReason } from "./corruption-reasons.ts";
import {
  assistant,
  CANCELLED,
  CONFIGURATION,
  completed,
  context,
  entry,
  failureDrain,
  needAssistant,
  OPERATION,
  pending,
  planned,
  result,
  retryWait,
  run,
  started,
} from "./testing/states.ts";
import {
  batch,
  check,
  idle,
  lane,
  message,
  open,
  queued,
  R,
  type Stored,
  stored,
  user,
} from "./testing/stored-lane.ts";

import { rightStructural, structuralCases } from "./testing/stored-structural.ts";

describe("validity accepts", () => {
  it.each([
    ["an idle lane", idle()],
    ["an idle lane at the root", { ...idle({ leafId: null }), entries: [] }],
    [
      "a fresh main without configuration",
      { ...idle({ leafId: null, configuration: undefined }), entries: [] },
    ],
    [
      "a lane with queued items for the next run",
      {
        ...idle({ laneState: { currentOperationId: null, pendingNextRun: ["q"] } }),
        pending: [["q", message]],
      },
    ],
    ["a checkpoint", stored(run(needAssistant()))],
    ["a pending request", stored(run(pending()))],
    ["a retry wait", stored(run(retryWait()))],
    ["a batch in the middle", batch(completed(0), started(1))],
    ["a batch that is planned", batch(planned(0), planned(1))],
    ["a failure", stored(run(failureDrain()), R)],
    [
      "a cancelled run with its aborted response",
      {
        ...stored(
          run(needAssistant(), { control: CANCELLED, latestAssistantEntryId: "R" }),
          entry("R", assistant("aborted")),
        ),
        pending: [
          ["q1", message],
          ["q2", message],
        ],
      },
    ],
    [
      "queued writes of any kind",
      {
        ...stored(queued({ writes: ["q"] })),
        pending: [["q", { type: "custom", customType: "note" }]],
      },
    ],
    ...rightStructural,
  ] as [string, Stored][])("%s", (_name, given) => {
    expect(() => check(given)).not.toThrow();
  });
});

const compaction = sampleOperationStates()["compaction generating ready"] as OperationState;
const compact = { ...OPERATION, sourceLeafId: "e1", intent: { kind: "compaction" } } as Operation;

describe("validity refuses", () => {
  const cases: [CorruptionReason, string, Stored][] = [
    ["lane_leaf_missing", "a lane without leaf", lane({ leafId: undefined })],
    ["lane_config_missing", "an open main without configuration", lane({ configuration: undefined })],
    [
      "lane_config_missing",
      "another lane without configuration",
      idle({ lane: "side", configuration: undefined }),
    ],
    ["operation_meta_missing", "a lane whose operation has no meta", lane({ operation: undefined })],
    ["operation_state_missing", "a lane whose operation has no state", lane({ state: undefined })],
    [
      "operation_id_mismatch",
      "another operation's meta",
      lane({ operation: { ...OPERATION, operationId: "P" } }),
    ],
    [
      "operation_lane_mismatch",
      "another lane's operation",
      lane({ operation: { ...OPERATION, lane: "side" } }),
    ],
    ["operation_kind_mismatch", "a run's intent under a compaction's state", stored(compaction)],
    [
      "navigation_mismatch",
      "a navigation to another target than the intent's",
      {
        registers: open(
          {
            kind: "navigation",
            control: { status: "running" },
            summarize: false,
            targetId: "e7",
            phase: { kind: "ready_to_commit" },
          },
          {
            ...OPERATION,
            sourceLeafId: "e1",
            intent: { kind: "navigation", targetId: "e8", summarize: false },
          },
        ),
        entries: [user],
      },
    ],
    [
      "structural_mismatch",
      "a manual compaction that generates for another reason",
      { registers: open(compaction, compact), entries: [user] },
    ],
    ["attempt_beyond_policy", "an attempt that the policy does not have", stored(run(pending(4)))],
    [
      "tool_calls_incomplete",
      "a call out of its place",
      batch({ ...planned(1), resultEntryId: "x" }, { ...planned(0), resultEntryId: "y" }),
    ],
    ["tool_calls_incomplete", "fewer calls than the response asks for", batch(planned(0))],
    [
      "tool_calls_incomplete",
      "more calls than the response asks for",
      batch(planned(0), planned(1), planned(2)),
    ],
    ["tool_calls_out_of_order", "a result before an earlier one", batch(planned(0), completed(1))],
    ["tool_batch_finished", "a batch with nothing left to do", batch(completed(0), completed(1))],
    ["tool_batch_finished", "a batch without calls", batch()],
    [
      "result_id_repeated",
      "two calls with one result id",
      batch(planned(0), { ...planned(1), resultEntryId: "r0" }),
    ],
    ["queued_id_repeated", "an id in two queues", stored(queued({ steer: ["q"], followUp: ["q"] }))],
    ["entry_missing", "a leaf that does not exist", { ...stored(run(needAssistant())), entries: [] }],
    [
      "entry_missing",
      "a prompt that does not exist",
      {
        ...stored(run(needAssistant())),
        registers: open(run(needAssistant()), {
          ...OPERATION,
          intent: { kind: "run", promptEntryIds: ["e9"] },
        }),
      },
    ],
    [
      "entry_missing",
      "a source leaf that does not exist",
      {
        ...stored(run(needAssistant())),
        registers: open(run(needAssistant()), { ...OPERATION, sourceLeafId: "e0" }),
      },
    ],
    [
      "entry_missing",
      "a response that does not exist",
      stored(run(needAssistant(), { latestAssistantEntryId: "R" })),
    ],
    ["entry_missing", "a trigger that does not exist", stored(run(pending(1, { triggerEntryId: "e9" })))],
    ["entry_missing", "a failure's response that does not exist", stored(run(failureDrain()))],
    [
      "entry_of_wrong_kind",
      "a response that is a user message",
      stored(run(needAssistant(), { latestAssistantEntryId: "e1" })),
    ],
    [
      "entry_of_wrong_kind",
      "a deferred source without a handle",
      stored(
        run({
          kind: "deferred",
          deferred: {
            status: "suspended",
            stepId: "s1",
            sourceEntryId: "R",
            poll: 0,
            configuration: CONFIGURATION,
            streamOptions: context().streamOptions,
          },
        }),
        R,
      ),
    ],
    [
      "entry_of_wrong_kind",
      "a result that is a user message",
      {
        ...batch(completed(0), planned(1)),
        entries: [user, R, entry("r0", { role: "user", content: "", timestamp: 1 })],
      },
    ],
    [
      "tool_result_mismatch",
      "a result of another call",
      { ...batch(completed(0), planned(1)), entries: [user, R, entry("r0", result(1))] },
    ],
    [
      "tool_result_mismatch",
      "a result that terminates under a call that does not",
      {
        ...batch(completed(0), planned(1)),
        entries: [user, R, { ...entry("r0", result(0)), terminate: true } as Entry],
      },
    ],
    [
      "aborted_while_running",
      "an aborted response of a run that nobody cancelled",
      stored(run(needAssistant(), { latestAssistantEntryId: "R" }), entry("R", assistant("aborted"))),
    ],
    ["reserved_id_taken", "a response that exists before its settlement", stored(run(pending()), R)],
    [
      "reserved_id_taken",
      "a usage id that is an entry",
      stored(run(pending()), entry("U", { role: "user", content: "", timestamp: 1 })),
    ],
    [
      "reserved_id_taken",
      "a result that exists before its settlement",
      { ...batch(started(0), planned(1)), entries: [user, R, entry("r0", result(0))] },
    ],
    [
      "queued_id_placed",
      "an item that is queued and placed",
      {
        ...stored(queued({ steer: ["q"] }), entry("q", { role: "user", content: "", timestamp: 1 })),
        pending: [["q", message]],
      },
    ],
    ["pending_entry_missing", "a queued item without content", stored(queued({ followUp: ["q"] }))],
    [
      "pending_entry_missing",
      "a drained item without content",
      { ...stored(run(needAssistant(), { control: CANCELLED })), pending: [["q1", message]] },
    ],
    [
      "pending_entry_missing",
      "a next-run item of an idle lane without content",
      idle({ laneState: { currentOperationId: null, pendingNextRun: ["q"] } }),
    ],
    [
      "pending_entry_of_wrong_kind",
      "steering that is no message",
      { ...stored(queued({ steer: ["q"] })), pending: [["q", { type: "custom", customType: "note" }]] },
    ],
    [
      "tool_arguments_missing",
      "a started call without its arguments",
      { ...batch(started(0), planned(1)), toolArguments: [] },
    ],
    [
      "preparation_missing",
      "a summary without its preparation",
      {
        registers: open(
          {
            kind: "navigation",
            control: { status: "running" },
            summarize: true,
            targetId: "R",
            phase: { kind: "summary", structural: { taskId: "t", status: "deciding" } },
          },
          {
            ...OPERATION,
            sourceLeafId: "e1",
            intent: { kind: "navigation", targetId: "R", summarize: true },
          },
        ),
        entries: [user, R],
      },
    ],
    [
      "preparation_of_wrong_kind",
      "a compaction over the preparation of a branch summary",
      {
        registers: open(
          {
            kind: "compaction",
            control: { status: "running" },
            structural: { taskId: "t", status: "deciding" },
          },
          compact,
        ),
        entries: [user],
        preparations: [["O:t", { kind: "branch_summary" }]],
      },
    ],
  ];

  it.each([...cases, ...structuralCases])("%s: %s", (reason, _name, given) => {
    const checking = () => check(given);
    expect(checking).toThrow(Corruption);
    expect(checking).toThrow(`[${reason}]`);
    expect(checking).toThrow("nothing was changed");
  });

  it("by every reason that it has", () => {
    const tested = new Set([...cases, ...structuralCases].map(([reason]) => reason));
    expect(CORRUPTION_REASONS.filter((reason) => !tested.has(reason))).toEqual([]);
  });
});
