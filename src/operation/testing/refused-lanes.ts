/**
 * Stored lanes that no transition can leave, by the reason with which they are refused. A reason that has no line here does
 * not compile. Each differs from a lane that is right in one thing.
 */
import type { Entry, Operation } from "../../model/index.ts";
import type { CorruptionReason } from "../corruption-reasons.ts";
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
  run,
  started,
} from "./states.ts";
import { batch, idle, lane, message, open, queued, R, type Stored, stored, user } from "./stored-lane.ts";
import { structuralCases } from "./stored-structural.ts";
import { manual } from "./structural-states.ts";

/** What is wrong, in words, and as it is stored. */
export type Refused = readonly [name: string, stored: Stored];

const compact = { ...OPERATION, sourceLeafId: "e1", intent: { kind: "compaction" } } as Operation;

/** The cases of structural work. */
const structural = (reason: CorruptionReason): Refused[] =>
  structuralCases.flatMap(([of, name, given]) => (of === reason ? [[name, given] as const] : []));

/** See the module header. */
export const REFUSED: Record<CorruptionReason, readonly Refused[]> = {
  lane_leaf_missing: [["a lane without leaf", lane({ leafId: undefined })]],
  lane_config_missing: [
    ["an open main without configuration", lane({ configuration: undefined })],
    ["another lane without configuration", idle({ lane: "side", configuration: undefined })],
  ],
  operation_meta_missing: [["a lane whose operation has no meta", lane({ operation: undefined })]],
  operation_state_missing: [["a lane whose operation has no state", lane({ state: undefined })]],
  operation_id_mismatch: [
    ["another operation's meta", lane({ operation: { ...OPERATION, operationId: "P" } })],
  ],
  operation_lane_mismatch: [
    ["another lane's operation", lane({ operation: { ...OPERATION, lane: "side" } })],
  ],
  operation_kind_mismatch: [
    ["a run's intent under a compaction's state", stored(manual())],
    ...structural("operation_kind_mismatch"),
  ],
  navigation_mismatch: [
    [
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
    ...structural("navigation_mismatch"),
  ],
  structural_mismatch: [...structural("structural_mismatch")],
  summary_requests_mismatch: [...structural("summary_requests_mismatch")],
  source_leaf_moved: [...structural("source_leaf_moved")],
  attempt_beyond_policy: [
    ["an attempt that the policy does not have", stored(run(pending(4)))],
    ...structural("attempt_beyond_policy"),
  ],
  tool_calls_out_of_order: [["a result before an earlier one", batch(planned(0), completed(1))]],
  tool_batch_finished: [
    ["a batch with nothing left to do", batch(completed(0), completed(1))],
    ["a batch without calls", batch()],
  ],
  tool_calls_incomplete: [
    [
      "a call out of its place",
      batch({ ...planned(1), resultEntryId: "x" }, { ...planned(0), resultEntryId: "y" }),
    ],
    ["fewer calls than the response asks for", batch(planned(0))],
    ["more calls than the response asks for", batch(planned(0), planned(1), planned(2))],
  ],
  result_id_repeated: [
    ["two calls with one result id", batch(planned(0), { ...planned(1), resultEntryId: "r0" })],
  ],
  queued_id_repeated: [["an id in two queues", stored(queued({ steer: ["q"], followUp: ["q"] }))]],
  entry_missing: [
    ["a leaf that does not exist", { ...stored(run(needAssistant())), entries: [] }],
    [
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
      "a source leaf that does not exist",
      {
        ...stored(run(needAssistant())),
        registers: open(run(needAssistant()), { ...OPERATION, sourceLeafId: "e0" }),
      },
    ],
    ["a response that does not exist", stored(run(needAssistant(), { latestAssistantEntryId: "R" }))],
    ["a trigger that does not exist", stored(run(pending(1, { triggerEntryId: "e9" })))],
    ["a failure's response that does not exist", stored(run(failureDrain()))],
    ...structural("entry_missing"),
  ],
  entry_of_wrong_kind: [
    ["a response that is a user message", stored(run(needAssistant(), { latestAssistantEntryId: "e1" }))],
    [
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
      "a result that is a user message",
      {
        ...batch(completed(0), planned(1)),
        entries: [user, R, entry("r0", { role: "user", content: "", timestamp: 1 })],
      },
    ],
  ],
  tool_result_mismatch: [
    [
      "a result of another call",
      { ...batch(completed(0), planned(1)), entries: [user, R, entry("r0", result(1))] },
    ],
    [
      "a result that terminates under a call that does not",
      {
        ...batch(completed(0), planned(1)),
        entries: [user, R, { ...entry("r0", result(0)), terminate: true } as Entry],
      },
    ],
  ],
  aborted_while_running: [
    [
      "an aborted response of a run that nobody cancelled",
      stored(run(needAssistant(), { latestAssistantEntryId: "R" }), entry("R", assistant("aborted"))),
    ],
  ],
  reserved_id_taken: [
    ["a response that exists before its settlement", stored(run(pending()), R)],
    [
      "a usage id that is an entry",
      stored(run(pending()), entry("U", { role: "user", content: "", timestamp: 1 })),
    ],
    [
      "a result that exists before its settlement",
      { ...batch(started(0), planned(1)), entries: [user, R, entry("r0", result(0))] },
    ],
    ...structural("reserved_id_taken"),
  ],
  queued_id_placed: [
    [
      "an item that is queued and placed",
      {
        ...stored(queued({ steer: ["q"] }), entry("q", { role: "user", content: "", timestamp: 1 })),
        pending: [["q", message]],
      },
    ],
  ],
  pending_entry_missing: [
    ["a queued item without content", stored(queued({ followUp: ["q"] }))],
    [
      "a drained item without content",
      { ...stored(run(needAssistant(), { control: CANCELLED })), pending: [["q1", message]] },
    ],
    [
      "a next-run item of an idle lane without content",
      idle({ laneState: { currentOperationId: null, pendingNextRun: ["q"] } }),
    ],
  ],
  pending_entry_of_wrong_kind: [
    [
      "steering that is no message",
      { ...stored(queued({ steer: ["q"] })), pending: [["q", { type: "custom", customType: "note" }]] },
    ],
  ],
  tool_arguments_missing: [
    ["a started call without its arguments", { ...batch(started(0), planned(1)), toolArguments: [] }],
  ],
  preparation_missing: [
    [
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
    ...structural("preparation_missing"),
  ],
  preparation_of_wrong_kind: [
    [
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
    ...structural("preparation_of_wrong_kind"),
  ],
};
