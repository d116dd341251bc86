/**
 * Validity: may this stored state be executed at all (spec §3.3)?
 *
 * Only the current registers of a lane and what they name directly are looked at; there is no history to audit. Each
 * check refuses a state that no transition of this runtime can leave, with a `Corruption` whose reason is one of
 * `CORRUPTION_REASONS`. The form of each value was checked before, when it was decoded.
 *
 * Two steps, because the second needs reads: `checkRegisters` holds the registers against each other,
 * `checkReferences` holds them against the entries and registers that they name.
 *
 * Stricter than the letter of the specification in one place: a reserved id that exists as an entry while its state
 * says that it is still open is refused. Settlement is one transaction, so no correct writer leaves that, and going
 * on would run an effect whose result could never be stored.
 */
import { Corruption } from "../foundation/index.ts";
import type {
  Entry,
  LaneConfiguration,
  LaneState,
  Operation,
  OperationState,
  PendingEntry,
  RegisterNamespace,
  SettledAssistantMessage,
  ToolBatch,
} from "../model/index.ts";
import { toolCallsOf } from "./classification.ts";
import type { EntryReference, References } from "./references.ts";

/** Every reason with which a lane is refused. */
export const CORRUPTION_REASONS = [
  "lane_leaf_missing",
  "lane_config_missing",
  "operation_meta_missing",
  "operation_state_missing",
  "operation_id_mismatch",
  "operation_lane_mismatch",
  "operation_kind_mismatch",
  "navigation_mismatch",
  "structural_mismatch",
  "attempt_beyond_policy",
  "tool_calls_out_of_order",
  "tool_batch_finished",
  "tool_calls_incomplete",
  "result_id_repeated",
  "queued_id_repeated",
  "entry_missing",
  "entry_of_wrong_kind",
  "tool_result_mismatch",
  "aborted_while_running",
  "reserved_id_taken",
  "queued_id_placed",
  "pending_entry_missing",
  "pending_entry_of_wrong_kind",
  "tool_arguments_missing",
  "preparation_missing",
  "preparation_of_wrong_kind",
] as const;
export type CorruptionReason = (typeof CORRUPTION_REASONS)[number];

/** The registers of one lane, as read. `undefined`: the register does not exist. */
export interface LaneRegisters {
  readonly lane: string;
  readonly laneState: LaneState;
  readonly leafId: string | null | undefined;
  readonly configuration: LaneConfiguration | undefined;
  readonly operation: Operation | undefined;
  readonly state: OperationState | undefined;
}

/** Registers that agree with each other. */
export interface AgreeingRegisters {
  readonly leafId: string | null;
  readonly configuration: LaneConfiguration | undefined;
  readonly open: { readonly operation: Operation; readonly state: OperationState } | undefined;
}

/** Registers and entries that were read for the references of a lane. */
export interface LoadedReferences {
  readonly entries: ReadonlyMap<string, Entry>;
  readonly pending: ReadonlyMap<string, PendingEntry>;
  readonly toolArguments: { has(key: string): boolean };
  readonly preparations: ReadonlyMap<string, { readonly kind: "compaction" | "branch_summary" }>;
}

/** Holds the registers of a lane against each other. @throws Corruption */
export function checkRegisters(registers: LaneRegisters): AgreeingRegisters {
  const { lane, laneState, leafId, configuration, operation, state } = registers;
  const operationId = laneState.currentOperationId;
  if (leafId === undefined)
    refuse("lane_leaf_missing", "lane.leaf", lane, "the lane has a state but no leaf");
  // Only a fresh main may be without: it has not been attached to a harness yet, so it never ran anything.
  if (configuration === undefined && (lane !== "main" || operationId !== null)) {
    refuse("lane_config_missing", "lane.config", lane, "the lane has no configuration");
  }
  if (operationId === null) return { leafId, configuration, open: undefined };
  if (operation === undefined) {
    refuse("operation_meta_missing", "op.meta", operationId, `lane ${lane} names this operation`);
  }
  if (state === undefined) {
    refuse("operation_state_missing", "op.state", operationId, `lane ${lane} names this operation`);
  }
  checkOperation(lane, operationId, operation, state);
  return { leafId, configuration, open: { operation, state } };
}

/** Holds the registers of a lane against what they name. @throws Corruption */
export function checkReferences(
  agreeing: AgreeingRegisters,
  references: References,
  loaded: LoadedReferences,
): void {
  for (const reference of references.entries) checkEntry(reference, agreeing, loaded);
  for (const { id, place } of references.reserved) {
    if (loaded.entries.has(id)) {
      refuse("reserved_id_taken", "entry", id, `${place} reserves this id, and an entry exists under it`);
    }
  }
  for (const { id, place, isMessage } of references.queued) {
    const pending = loaded.pending.get(id);
    if (pending === undefined)
      refuse("pending_entry_missing", "pending.entry", id, `${place} queues this id`);
    if (isMessage && pending.type !== "message") {
      refuse(
        "pending_entry_of_wrong_kind",
        "pending.entry",
        id,
        `${place} queues messages, not ${pending.type}`,
      );
    }
    if (loaded.entries.has(id)) {
      refuse("queued_id_placed", "entry", id, `${place} queues this id, and it has its place already`);
    }
  }
  for (const key of references.toolArguments) {
    if (!loaded.toolArguments.has(key)) {
      refuse("tool_arguments_missing", "op.tool_args", key, "the call was started with stored arguments");
    }
  }
  for (const { key, kind } of references.preparations) {
    const preparation = loaded.preparations.get(key);
    if (preparation === undefined) {
      refuse("preparation_missing", "op.preparation", key, "structural work has a preparation");
    }
    if (preparation.kind !== kind) {
      refuse("preparation_of_wrong_kind", "op.preparation", key, `${kind} expected, not ${preparation.kind}`);
    }
  }
  const batch = batchOf(agreeing);
  if (batch) checkCalls(batch, agreeing, loaded);
}

function checkOperation(
  lane: string,
  operationId: string,
  operation: Operation,
  state: OperationState,
): void {
  if (operation.operationId !== operationId) {
    refuse("operation_id_mismatch", "op.meta", operationId, `it holds operation ${operation.operationId}`);
  }
  if (operation.lane !== lane) {
    refuse(
      "operation_lane_mismatch",
      "op.meta",
      operationId,
      `it belongs to lane ${operation.lane}, not ${lane}`,
    );
  }
  if (operation.intent.kind !== state.kind) {
    const found = `the intent is a ${operation.intent.kind}, the state that of a ${state.kind}`;
    refuse("operation_kind_mismatch", "op.state", operationId, found);
  }
  const queued = queuedIds(state);
  if (new Set(queued).size !== queued.length) {
    refuse("queued_id_repeated", "op.state", operationId, "an id is queued twice");
  }
  switch (state.kind) {
    case "run":
      checkRunPhase(operationId, state.phase);
      break;
    case "compaction":
      checkStructural(operationId, state.structural, "compaction", "manual");
      break;
    case "navigation":
      checkNavigation(operationId, operation, state);
      break;
  }
}

function checkRunPhase(operationId: string, phase: Extract<OperationState, { kind: "run" }>["phase"]): void {
  if (phase.kind === "assistant") {
    const { generation } = phase;
    const attempt = generation.status === "effect_pending" ? generation.attempt : generation.nextAttempt;
    const { maxAttempts } = generation.context.retryPolicy;
    if (attempt > maxAttempts) {
      refuse(
        "attempt_beyond_policy",
        "op.state",
        operationId,
        `attempt ${attempt} of at most ${maxAttempts}`,
      );
    }
  }
  if (phase.kind === "compaction") checkStructural(operationId, phase.structural, "compaction", phase.reason);
  if (phase.kind === "tools") checkBatch(operationId, phase.batch);
}

/** What can be said of a batch without its response: order, uniqueness, and that something is left to do. */
function checkBatch(operationId: string, { calls }: ToolBatch): void {
  let isOpen = false;
  for (const [position, call] of calls.entries()) {
    if (call.sourceIndex !== position) {
      const found = `call ${call.sourceIndex} stands at position ${position}`;
      refuse("tool_calls_incomplete", "op.state", operationId, found);
    }
    if (call.status !== "completed") isOpen = true;
    else if (isOpen) {
      const found = `call ${position} is completed before an earlier one`;
      refuse("tool_calls_out_of_order", "op.state", operationId, found);
    }
  }
  if (!isOpen) refuse("tool_batch_finished", "op.state", operationId, "no call of the batch is open");
  if (new Set(calls.map(({ resultEntryId }) => resultEntryId)).size !== calls.length) {
    refuse("result_id_repeated", "op.state", operationId, "two calls share a result id");
  }
}

function checkStructural(
  operationId: string,
  structural: Extract<OperationState, { kind: "compaction" }>["structural"],
  kind: "compaction" | "branch_summary",
  reason: "manual" | "threshold" | "overflow" | undefined,
): void {
  if (structural.status !== "generating") return;
  const { context } = structural.generation;
  if (context.taskId !== structural.taskId || context.kind !== kind || context.reason !== reason) {
    const found = `a ${kind} of task ${structural.taskId} generates a ${context.kind} of task ${context.taskId}`;
    refuse("structural_mismatch", "op.state", operationId, `${found}, for ${context.reason ?? "no reason"}`);
  }
}

function checkNavigation(
  operationId: string,
  operation: Operation,
  state: Extract<OperationState, { kind: "navigation" }>,
): void {
  const { intent, sourceLeafId } = operation;
  if (intent.kind !== "navigation") return;
  const agrees =
    intent.summarize === state.summarize &&
    intent.targetId === state.targetId &&
    intent.label === state.label &&
    state.targetId !== sourceLeafId &&
    (state.targetId !== null || state.label === undefined) &&
    (!state.summarize || sourceLeafId !== null);
  if (!agrees) {
    refuse(
      "navigation_mismatch",
      "op.state",
      operationId,
      "the state does not navigate what the intent asks for",
    );
  }
  if (state.summarize) checkStructural(operationId, state.phase.structural, "branch_summary", undefined);
}

function checkEntry(reference: EntryReference, agreeing: AgreeingRegisters, loaded: LoadedReferences): void {
  const { id, place, expected } = reference;
  const entry = loaded.entries.get(id);
  if (entry === undefined) refuse("entry_missing", "entry", id, `${place} names it, and it does not exist`);
  switch (expected.kind) {
    case "any":
      return;
    case "assistant":
    case "deferred_assistant": {
      const message = assistantOf(entry);
      if (message === undefined || (expected.kind === "deferred_assistant" && !message.deferred)) {
        refuse(
          "entry_of_wrong_kind",
          "entry",
          id,
          `${place} names a response, and it is another kind of entry`,
        );
      }
      if (message.stopReason === "aborted" && agreeing.open?.state.control.status === "running") {
        const found = `${place} is aborted, and no cancellation of the operation is durable`;
        refuse("aborted_while_running", "entry", id, found);
      }
      return;
    }
    case "tool_result":
      if (entry.type !== "message" || entry.message.role !== "toolResult") {
        refuse("entry_of_wrong_kind", "entry", id, `${place} names a tool result, and it is no such entry`);
      }
      if ((entry.terminate === true) !== expected.terminate) {
        const found = `${place}: the entry and the state disagree whether it terminates`;
        refuse("tool_result_mismatch", "entry", id, found);
      }
      return;
  }
}

/** The calls of a batch against the response that asked for them, and its results against the calls. */
function checkCalls(batch: ToolBatch, agreeing: AgreeingRegisters, loaded: LoadedReferences): void {
  const assistant = assistantOf(loaded.entries.get(batch.assistantEntryId));
  const sources = assistant === undefined ? [] : toolCallsOf(assistant);
  if (sources.length !== batch.calls.length) {
    const found = `the response asks for ${sources.length} calls, the batch holds ${batch.calls.length}`;
    refuse("tool_calls_incomplete", "op.state", agreeing.open?.operation.operationId ?? "", found);
  }
  for (const call of batch.calls) {
    if (call.status !== "completed") continue;
    const entry = loaded.entries.get(call.resultEntryId);
    const message =
      entry?.type === "message" && entry.message.role === "toolResult" ? entry.message : undefined;
    const source = sources[call.sourceIndex];
    if (message?.toolCallId !== source?.id || message?.toolName !== source?.name) {
      const found = `it answers call ${message?.toolCallId}, and call ${source?.id} stands there`;
      refuse("tool_result_mismatch", "entry", call.resultEntryId, found);
    }
  }
}

function batchOf({ open }: AgreeingRegisters): ToolBatch | undefined {
  return open?.state.kind === "run" && open.state.phase.kind === "tools" ? open.state.phase.batch : undefined;
}

function assistantOf(entry: Entry | undefined): SettledAssistantMessage | undefined {
  if (entry?.type !== "message" || entry.message.role !== "assistant") return undefined;
  return entry.message as SettledAssistantMessage;
}

function queuedIds(state: OperationState): string[] {
  const { control } = state;
  const drained =
    control.status === "cancel_requested" ? [...control.drainedSteer, ...control.drainedFollowUp] : [];
  if (state.kind !== "run") return drained;
  return [...state.inbox.steer, ...state.inbox.followUp, ...state.inbox.writes, ...drained];
}

function refuse(
  reason: CorruptionReason,
  namespace: RegisterNamespace | "entry",
  key: string,
  found: string,
): never {
  throw new Corruption(reason, `${found}; nothing was changed`, { subject: `${namespace}/${key}` });
}
