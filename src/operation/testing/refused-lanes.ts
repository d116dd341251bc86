/**
 * Stored lanes that no transition can leave, by the reason with which they are refused. A reason that has no line here does
 * not compile. Each differs from a lane that is right in one thing.
 */
import type {
  Entry,
  Generation,
  Operation,
  OperationState,
  RunState,
  SettledAssistantMessage,
} from "../../model/index.ts";
import type { CorruptionReason } from "../corruption-reasons.ts";
import {
  asks,
  assistant,
  CANCELLED,
  completed,
  deferred,
  entry,
  failureDrain,
  HANDLE,
  mayFinish,
  needAssistant,
  OPERATION,
  pending,
  planned,
  result,
  run,
  started,
  suspended,
} from "./states.ts";
import { at, batch, idle, lane, message, open, queued, R, type Stored, stored, user } from "./stored-lane.ts";
import { structuralCases } from "./stored-structural.ts";
import { manual } from "./structural-states.ts";

/** What is wrong, in words, and as it is stored. */
export type Refused = readonly [name: string, stored: Stored];

/** A lane whose run waits for a job, and stands at its source. */
function putOff(source: Entry = entry("R", assistant("deferred", { deferred: HANDLE }))): Stored {
  return at("R", stored(run(deferred(suspended(0, "R")), { latestAssistantEntryId: "R" }), source));
}

/** The same run with another newest response. */
function latest(id: string, given: Stored, ...entries: Entry[]): Stored {
  const { registers } = given;
  const state = { ...registers.state, latestAssistantEntryId: id } as RunState;
  return { ...given, registers: { ...registers, state }, entries: [...given.entries, ...entries] };
}

function failed(response: SettledAssistantMessage): SettledAssistantMessage {
  return { ...response, stopReason: "error", errorMessage: "no" };
}

function pendingGeneration(): Extract<Generation, { status: "effect_pending" }> {
  const phase = pending();
  if (phase.kind !== "assistant" || phase.generation.status !== "effect_pending")
    throw new Error("not pending");
  return phase.generation;
}

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
  run_leaf_moved: [
    ["a run at the root", { ...lane({ leafId: null }) }],
    ["a batch whose lane stands at the prompt", at("e1", batch(planned(0), planned(1)))],
    ["a batch whose lane stands before its newest result", at("R", batch(completed(0), planned(1)))],
    ["a deferred job whose lane stands elsewhere", at("e1", putOff())],
  ],
  latest_response_mismatch: [
    ["an end without a response", stored(run(mayFinish()), R)],
    ["an end of tools without a response", stored(run(mayFinish(false)), R)],
    ["an end at another response", latest("S", stored(run(mayFinish()), R, entry("S", assistant("stop"))))],
    [
      "a batch of another response",
      latest("S", batch(planned(0), planned(1)), entry("S", assistant("stop"))),
    ],
    ["a deferred job of another response", latest("S", putOff(), entry("S", assistant("stop")))],
    [
      "a failure of another response",
      latest("S", stored(run(failureDrain()), R, entry("S", assistant("stop")))),
    ],
    [
      "a compaction that goes back to an end without a response",
      {
        ...stored(
          run({
            kind: "compaction",
            reason: "threshold",
            structural: { taskId: "t", status: "deciding" },
            resumeAfter: {
              kind: "checkpoint",
              continuation: { kind: "may_finish", includeFinalAssistant: true },
              triggerEntryId: "e1",
              thresholdCheckedTriggerEntryId: "e1",
            },
          }),
        ),
        preparations: [["O:t", { kind: "compaction" }]],
      },
    ],
  ],
  cancellation_mismatch: [
    [
      "input that a cancellation left in its queue",
      {
        ...stored(
          run(needAssistant(), {
            control: { ...CANCELLED, drainedSteer: [], drainedFollowUp: [] } as RunState["control"],
            inbox: { steer: ["q"], followUp: [], writes: [] },
          }),
        ),
        pending: [["q", message]],
      },
    ],
    [
      "input that was drained from a compaction",
      {
        registers: open({ ...manual(), control: CANCELLED } as OperationState, compact),
        entries: [user],
        pending: [
          ["q1", message],
          ["q2", message],
        ],
        preparations: [["O:t", { kind: "compaction" }]],
      },
    ],
  ],
  queued_id_repeated: [
    ["an id in two queues", stored(queued({ steer: ["q"], followUp: ["q"] }))],
    [
      "an id twice in the next run",
      {
        ...idle({ laneState: { currentOperationId: null, pendingNextRun: ["q", "q"] } }),
        pending: [["q", message]],
      },
    ],
    [
      "an id in the next run and in a queue of this one",
      {
        ...stored(queued({ steer: ["q"] })),
        registers: {
          ...open(queued({ steer: ["q"] })),
          laneState: { currentOperationId: "O", pendingNextRun: ["q"] },
        },
        pending: [["q", message]],
      },
    ],
  ],
  reserved_id_repeated: [
    [
      "a response and its bill under one id",
      stored(
        run({
          kind: "assistant",
          generation: { ...pendingGeneration(), usageId: "R" },
        }),
      ),
    ],
    [
      "a response under the id of a queued item",
      {
        ...stored(run(pending(), { inbox: { steer: ["R"], followUp: [], writes: [] } })),
        pending: [["R", message]],
      },
    ],
    [
      "a result under the id of an item of the next run",
      {
        ...batch(planned(0), planned(1)),
        registers: {
          ...batch(planned(0), planned(1)).registers,
          laneState: { currentOperationId: "O", pendingNextRun: ["r1"] },
        },
        pending: [["r1", message]],
      },
    ],
    ...structural("reserved_id_repeated"),
  ],
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
    [
      "a failure's response that does not exist",
      stored(run(failureDrain(), { latestAssistantEntryId: "R" })),
    ],
    ...structural("entry_missing"),
  ],
  entry_of_wrong_kind: [
    ["a response that is a user message", stored(run(needAssistant(), { latestAssistantEntryId: "e1" }))],
    ["a deferred source without a handle", putOff(R)],
    ["a deferred source that failed", putOff(entry("R", assistant("error", { deferred: HANDLE })))],
    [
      "a batch of a response that failed",
      { ...batch(planned(0), planned(1)), entries: [user, entry("R", failed(asks("read", "write")))] },
    ],
    [
      "a prompt that is no message",
      {
        ...stored(run(needAssistant())),
        entries: [{ type: "custom", customType: "note", id: "e1", parentId: null, seq: 1, timestamp: 1 }],
      },
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
