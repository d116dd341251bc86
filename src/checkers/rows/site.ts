/**
 * A site: one transaction with everything a row may ask about it, taken from its writes and the model before it.
 */
import { jsonEquals } from "../../foundation/index.ts";
import type {
  AssistantMessage,
  Deferred,
  Entry,
  EntryDraft,
  Generation,
  LaneState,
  Operation,
  OperationState,
  RunState,
  StructuralDecision,
  SummaryGeneration,
  ToolBatch,
  ToolCall,
  ToolCallContent,
  ToolResultMessage,
  UsageRowDraft,
  Write,
} from "../../model/index.ts";
import type { StoreModel } from "../store-model.ts";
import { type PhaseName, phaseOf } from "./phase.ts";

/** See the module header. */
export interface Site {
  readonly writes: readonly Write[];
  /** The session before the transaction. */
  readonly model: StoreModel;
  readonly lane: string | undefined;
  readonly operationId: string | undefined;
  /** `op.meta`, from the transaction or from before it. */
  readonly operation: Operation | undefined;
  readonly before: OperationState | undefined;
  readonly after: OperationState | undefined;
  readonly from: PhaseName;
  readonly to: PhaseName;
  /** The lane's leaf before; `undefined` if the lane has none. */
  readonly leaf: string | null | undefined;
  readonly laneBefore: LaneState | undefined;
  readonly laneAfter: LaneState | undefined;
  readonly entries: readonly EntryDraft[];
  readonly usage: readonly UsageRowDraft[];
  /** The one call that the transaction changes, if the operation stood in a batch. */
  readonly call: ChangedCall | undefined;
}

/** Reads a transaction. Throws nothing: what is missing stays undefined, and no row will hold. */
export function siteOf(writes: readonly Write[], model: StoreModel): Site {
  let operationId: string | undefined;
  let laneKey: string | undefined;
  let meta: Operation | undefined;
  let after: OperationState | undefined;
  let laneAfter: LaneState | undefined;
  let isTouched = false;
  let isGone = false;
  const entries: EntryDraft[] = [];
  const usage: UsageRowDraft[] = [];
  for (const write of writes) {
    if (write.kind === "entry") entries.push(write.entry);
    else if (write.kind === "usage") usage.push(write.row);
    else if (write.namespace === "op.meta" || write.namespace === "op.state") {
      operationId ??= write.key;
      if (write.namespace === "op.meta") {
        if (write.op === "set") meta = write.value;
      } else {
        isTouched = true;
        isGone = write.op === "delete";
        if (write.op === "set") after = write.value;
      }
    } else if (write.namespace === "lane.state" || write.namespace === "lane.leaf") {
      laneKey ??= write.key;
      if (write.op === "set" && write.namespace === "lane.state") laneAfter = write.value;
    } else if (write.namespace === "lane.config" || write.namespace === "lane.lastResult") {
      laneKey ??= write.key;
    }
  }
  const operation = meta ?? (operationId === undefined ? undefined : model.value("op.meta", operationId));
  const lane = operation?.lane ?? laneKey;
  const before = operationId === undefined ? undefined : model.value("op.state", operationId);
  return {
    writes,
    model,
    lane,
    operationId,
    operation,
    before,
    after,
    from: !isTouched ? "untouched" : before === undefined ? "none" : phaseOf(before),
    to: !isTouched ? "untouched" : isGone || after === undefined ? "gone" : phaseOf(after),
    leaf: lane === undefined ? undefined : model.value("lane.leaf", lane),
    laneBefore: lane === undefined ? undefined : model.value("lane.state", lane),
    laneAfter,
    entries,
    usage,
    call: changedCall(before, after, model),
  };
}

/** The run before, or undefined if the operation is no run. */
export function runBefore(site: Site): RunState | undefined {
  return site.before?.kind === "run" ? site.before : undefined;
}

/** The run after, or undefined if the operation is no run. */
export function runAfter(site: Site): RunState | undefined {
  return site.after?.kind === "run" ? site.after : undefined;
}

/** No state of an effect. */
const NONE = {};

export function generationOf(run: RunState | undefined): {
  [S in Generation["status"]]?: Extract<Generation, { status: S }>;
} {
  if (run?.phase.kind !== "assistant") return NONE;
  const { generation } = run.phase;
  switch (generation.status) {
    case "ready":
      return { ready: generation };
    case "effect_pending":
      return { effect_pending: generation };
    case "retry_wait":
      return { retry_wait: generation };
  }
}

export function deferredOf(run: RunState | undefined): {
  [S in Deferred["status"]]?: Extract<Deferred, { status: S }>;
} {
  if (run?.phase.kind !== "deferred") return NONE;
  const { deferred } = run.phase;
  return deferred.status === "suspended" ? { suspended: deferred } : { effect_pending: deferred };
}

export function batchOf(run: RunState | undefined): ToolBatch | undefined {
  return run?.phase.kind === "tools" ? run.phase.batch : undefined;
}

export function checkpointOf(run: RunState | undefined) {
  return run?.phase.kind === "checkpoint" ? run.phase : undefined;
}

/** The structural decision of any kind of operation. */
export function decisionOf(state: OperationState | undefined): StructuralDecision | undefined {
  switch (state?.kind) {
    case "compaction":
      return state.structural;
    case "navigation":
      return state.summarize ? state.phase.structural : undefined;
    case "run":
      return state.phase.kind === "compaction" ? state.phase.structural : undefined;
    case undefined:
      return undefined;
  }
}

export function summaryOf(state: OperationState | undefined): {
  [S in SummaryGeneration["status"]]?: Extract<SummaryGeneration, { status: S }>;
} {
  const decision = decisionOf(state);
  return decision?.status === "generating" ? { [decision.generation.status]: decision.generation } : {};
}

/** The assistant message of an entry. */
export function assistantIn(entry: Entry | EntryDraft | undefined): AssistantMessage | undefined {
  if (entry?.type !== "message" || entry.message.role !== "assistant") return undefined;
  return entry.message;
}

/** The tool result of an entry. */
export function toolResultIn(entry: Entry | EntryDraft | undefined): ToolResultMessage | undefined {
  if (entry?.type !== "message" || entry.message.role !== "toolResult") return undefined;
  return entry.message;
}

/** The tool calls of a message, in source order. */
export function callsIn(message: AssistantMessage | undefined): readonly ToolCallContent[] {
  return message?.content.filter((block) => block.type === "toolCall") ?? [];
}

/** The one call whose status a batch transition changed, before and after, with its place in the batch. */
export interface ChangedCall {
  readonly index: number;
  readonly before: ToolCall;
  readonly after: ToolCall | undefined;
  /** What the provider asked for. */
  readonly source: ToolCallContent | undefined;
}

/** Every pending id that belongs to the operation: queued, deferred and drained (spec §3.13). */
export function ownedPendingIds(state: OperationState | undefined): readonly string[] {
  if (state === undefined) return [];
  const { control } = state;
  const drained =
    control.status === "cancel_requested" ? [...control.drainedSteer, ...control.drainedFollowUp] : [];
  if (state.kind !== "run") return drained;
  const { steer, followUp, writes } = state.inbox;
  return [...steer, ...followUp, ...writes, ...drained];
}

/**
 * The call that a transaction changes. When the batch is left (its last call completed) the state after no longer
 * holds it, so it is the only call that was not completed before.
 */
function changedCall(
  before: OperationState | undefined,
  after: OperationState | undefined,
  model: StoreModel,
): ChangedCall | undefined {
  const batch = before?.kind === "run" ? batchOf(before) : undefined;
  if (batch === undefined) return undefined;
  const afterBatch = after?.kind === "run" ? batchOf(after) : undefined;
  let only: number | undefined;
  for (const [index, call] of batch.calls.entries()) {
    const isSame =
      afterBatch === undefined ? call.status === "completed" : jsonEquals(call, afterBatch.calls[index]);
    if (isSame) continue;
    if (only !== undefined) return undefined;
    only = index;
  }
  const changed = only === undefined ? undefined : batch.calls[only];
  if (only === undefined || changed === undefined) return undefined;
  const source = callsIn(assistantIn(model.entry(batch.assistantEntryId)))[only];
  return { index: only, before: changed, after: afterBatch?.calls[only], source };
}
