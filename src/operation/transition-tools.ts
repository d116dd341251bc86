/**
 * Transitions of a tool batch: clearance, settlement, completion (spec §3.8).
 *
 * Results are committed in source order, whatever order the effects finish in. The settlement of the last call is
 * also the end of the batch: in the same transaction the stored arguments of the batch go, and the run moves to its
 * checkpoint. Calls that never ran (unknown, refused, truncated, interrupted) settle through the same transition.
 *
 * Order of a settlement: result entry, `lane.leaf`, usage row, deletes of stored arguments, state.
 */
import type {
  CheckpointPhase,
  EntryDraft,
  JsonObject,
  RunPhase,
  RunState,
  ToolBatch,
  ToolCall,
  ToolReplay,
  ToolResultMessage,
  Usage,
  Write,
} from "../model/index.ts";
import {
  type CurrentOperation,
  leafWrite,
  stateWrite,
  type Transition,
  toolArgumentsKey,
  withPhase,
} from "./current.ts";

/** A call passed look-up, preparation, validation and hooks: its intent is to be committed. */
export interface ToolCleared {
  readonly kind: "tool_cleared";
  readonly sourceIndex: number;
  /** What the tool will be executed with; stored always, because preparation and hooks may have changed it. */
  readonly arguments: JsonObject;
  /** The tool's declaration now; recovery trusts it only together with the declaration then. */
  readonly replay: ToolReplay;
}

/** A call has its result, real or synthetic. */
export interface ToolSettled {
  readonly kind: "tool_settled";
  readonly sourceIndex: number;
  readonly message: ToolResultMessage;
  readonly terminate: boolean;
  /** What the tool reported as its own cost, under an id minted now. */
  readonly usage?: { readonly id: string; readonly usage: Usage };
  /** Keys of the batch's stored arguments; read only when this is the last call. */
  readonly argumentKeys: readonly string[];
}

/** planned → effect_pending: the durable intent, with the effective arguments. */
export function clearTool(
  current: CurrentOperation<RunState>,
  batch: ToolBatch,
  cleared: ToolCleared,
): Transition {
  const { operation, state } = current;
  const call = callAt(batch, cleared.sourceIndex, "planned");
  const key = toolArgumentsKey(operation.operationId, batch.turnId, cleared.sourceIndex);
  const next = withPhase(state, {
    kind: "tools",
    batch: withCall(batch, {
      status: "effect_pending",
      sourceIndex: call.sourceIndex,
      resultEntryId: call.resultEntryId,
      replay: cleared.replay,
    }),
  });
  return {
    writes: [
      { kind: "register", op: "set", namespace: "op.tool_args", key, value: cleared.arguments },
      stateWrite(operation.operationId, next),
    ],
    state: next,
    leafId: current.leafId,
  };
}

/** planned or effect_pending → completed; with the last call, the batch → checkpoint. */
export function settleTool(
  current: CurrentOperation<RunState>,
  batch: ToolBatch,
  settled: ToolSettled,
): Transition {
  const { operation, state } = current;
  const call = callAt(batch, settled.sourceIndex, "planned", "effect_pending");
  const { sourceIndex, resultEntryId } = call;
  const { message, terminate } = settled;
  const settledBatch = withCall(batch, { status: "completed", sourceIndex, resultEntryId, terminate });
  const isLast = settledBatch.calls.every(({ status }) => status === "completed");
  const phase: RunPhase = isLast ? checkpointAfter(settledBatch) : { kind: "tools", batch: settledBatch };
  const next = withPhase(state, phase);
  const entry: EntryDraft = {
    type: "message",
    id: resultEntryId,
    parentId: current.leafId,
    message,
    ...(terminate ? { terminate } : {}),
  };
  const writes: Write[] = [{ kind: "entry", entry }, leafWrite(operation.lane, resultEntryId)];
  if (settled.usage) {
    const { id, usage } = settled.usage;
    writes.push({ kind: "usage", row: { id, usage, entryId: resultEntryId, adjustment: false } });
  }
  if (isLast) {
    for (const key of settled.argumentKeys) {
      writes.push({ kind: "register", op: "delete", namespace: "op.tool_args", key });
    }
  }
  writes.push(stateWrite(operation.operationId, next));
  return { writes, state: next, leafId: resultEntryId };
}

/** Whether settling this call completes the batch. */
export function isLastCall(batch: ToolBatch, sourceIndex: number): boolean {
  return batch.calls.every((call) => call.sourceIndex === sourceIndex || call.status === "completed");
}

/** A run ends here without another request only if every call asks for it. */
function checkpointAfter(batch: ToolBatch): CheckpointPhase {
  const isTerminated = batch.calls.every((call) => call.status === "completed" && call.terminate);
  const newest = batch.calls.at(-1);
  if (newest === undefined) throw new Error("a tool batch has at least one call");
  return {
    kind: "checkpoint",
    continuation: isTerminated
      ? { kind: "may_finish", includeFinalAssistant: false }
      : { kind: "need_assistant", overflowRecoveryUsed: false },
    triggerEntryId: newest.resultEntryId,
  };
}

function callAt(batch: ToolBatch, sourceIndex: number, ...statuses: ToolCall["status"][]): ToolCall {
  const call = batch.calls[sourceIndex];
  if (!call || !statuses.includes(call.status)) {
    throw new Error(`call ${sourceIndex} is ${call?.status ?? "absent"}, not ${statuses.join(" or ")}`);
  }
  return call;
}

function withCall(batch: ToolBatch, changed: ToolCall): ToolBatch {
  return {
    ...batch,
    calls: batch.calls.map((call) => (call.sourceIndex === changed.sourceIndex ? changed : call)),
  };
}
