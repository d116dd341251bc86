/**
 * The terminal transaction: an operation ends by ceasing to exist (spec §3.13).
 *
 * Order of writes: publication of a result (structural operations), delete `op.meta`, delete `op.state`, delete
 * `op.tool_args/{O}:*`, delete `op.preparation/{O}:*`, delete `pending.entry` for every id that the operation still
 * owns, `lane.lastResult`, `lane.state` without the operation. Ledger rows are never deleted, and `pendingNextRun`
 * belongs to the lane.
 *
 * This file is the only one that makes a `LaneLastResult`.
 */
import type {
  LaneLastResult,
  LaneState,
  OperationState,
  RegisterNamespace,
  RunState,
  Write,
} from "../model/index.ts";
import type { CurrentOperation, Transition } from "./current.ts";

/** How an operation ends, before it is written down. */
export type TerminalOutcome =
  | { readonly kind: "completed" }
  | { readonly kind: "aborted" }
  | { readonly kind: "failed" };

/** What the terminal transaction reads inside its own turn on the mutation line. */
export interface TerminalReads {
  /** The lane's state now: queued `nextRun` items that were admitted meanwhile stay. */
  readonly laneState: LaneState;
  /** Keys under `{operationId}:` of each namespace. */
  readonly argumentKeys: readonly string[];
  readonly preparationKeys: readonly string[];
}

/** The durable result of a run that stands at its end. */
export function runResult(current: CurrentOperation<RunState>, outcome: TerminalOutcome): LaneLastResult {
  const { operation, state, leafId } = current;
  const common = { operationId: operation.operationId, kind: "run", leafId } as const;
  const latest =
    state.latestAssistantEntryId === null ? {} : { finalAssistantEntryId: state.latestAssistantEntryId };
  switch (outcome.kind) {
    case "aborted":
      return { ...common, ...latest, outcome: "aborted" };
    case "failed":
      if (state.phase.kind !== "failure_drain") throw new Error("a run fails from failure_drain only");
      return { ...common, ...latest, outcome: "failed", error: state.phase.error };
    case "completed": {
      const { phase } = state;
      if (phase.kind !== "checkpoint" || phase.continuation.kind !== "may_finish") {
        throw new Error("a run completes from a checkpoint that may finish only");
      }
      if (!phase.continuation.includeFinalAssistant) {
        return { ...common, outcome: "completed", runCompletion: "terminated_tools" };
      }
      return { ...common, ...latest, outcome: "completed", runCompletion: "assistant" };
    }
  }
}

/** The terminal transaction with a result that was computed before it. */
export function finish(current: CurrentOperation, result: LaneLastResult, reads: TerminalReads): Transition {
  const { operationId, lane } = current.operation;
  const remove = (namespace: RegisterNamespace, key: string): Write => ({
    kind: "register",
    op: "delete",
    namespace,
    key,
  });
  const writes: Write[] = [
    remove("op.meta", operationId),
    remove("op.state", operationId),
    ...reads.argumentKeys.map((key) => remove("op.tool_args", key)),
    ...reads.preparationKeys.map((key) => remove("op.preparation", key)),
    ...ownedPendingIds(current.state).map((id) => remove("pending.entry", id)),
    { kind: "register", op: "set", namespace: "lane.lastResult", key: lane, value: result },
    {
      kind: "register",
      op: "set",
      namespace: "lane.state",
      key: lane,
      value: { ...reads.laneState, currentOperationId: null },
    },
  ];
  return { writes, state: undefined, leafId: result.leafId };
}

/** The queued ids that end with the operation: what its inbox still holds, and what an abort drained. */
export function ownedPendingIds(state: OperationState): string[] {
  const drained =
    state.control.status === "cancel_requested"
      ? [...state.control.drainedSteer, ...state.control.drainedFollowUp]
      : [];
  if (state.kind !== "run") return drained;
  return [...state.inbox.steer, ...state.inbox.followUp, ...state.inbox.writes, ...drained];
}
