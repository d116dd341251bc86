/**
 * The terminal transaction: an operation ends by ceasing to exist (spec §3.13).
 *
 * Order of writes: publication of a result (structural operations: usage row of a hook, leaf at the target of a
 * navigation, summary entry, leaf at it, label), delete `op.meta`, delete `op.state`, delete
 * `op.tool_args/{O}:*`, delete `op.preparation/{O}:*`, delete `pending.entry` for every id that the operation still
 * owns, `lane.lastResult`, `lane.state` without the operation. Ledger rows are never deleted, and `pendingNextRun`
 * belongs to the lane.
 *
 * This file is the only one that makes a `LaneLastResult`.
 */
import type {
  CompactionState,
  LaneLastResult,
  LaneState,
  NavigationState,
  OperationError,
  OperationState,
  RegisterNamespace,
  RunState,
  Write,
} from "../model/index.ts";
import { type CurrentOperation, leafWrite, type Transition } from "./current.ts";
import type { Summary } from "./structural.ts";
import { type Publication, publicationWrites } from "./transition-structural.ts";

/** How an operation ends, before it is written down. */
export type TerminalOutcome =
  /** A run that owes nothing, or a navigation without a summary. */
  | { readonly kind: "completed" }
  /** A structural operation, with what it came to. */
  | { readonly kind: "published"; readonly summary: Summary; readonly fromHook: boolean }
  | { readonly kind: "declined" }
  | { readonly kind: "aborted" }
  /** A run fails with the error that it drains. */
  | { readonly kind: "failed"; readonly error?: OperationError };

/** What the terminal transaction reads inside its own turn on the mutation line. */
export interface TerminalReads {
  /** The lane's state now: queued `nextRun` items that were admitted meanwhile stay. */
  readonly laneState: LaneState;
  /** Keys under `{operationId}:` of each namespace. */
  readonly argumentKeys: readonly string[];
  readonly preparationKeys: readonly string[];
}

/** The end of an operation. */
export interface Finished {
  readonly kind: "finished";
  readonly outcome: TerminalOutcome;
  /** With a published outcome: the ids under which the summary is stored. */
  readonly publication?: Publication;
  readonly reads: TerminalReads;
}

/** The durable result of an operation that stands at its end. */
export function resultOf(
  current: CurrentOperation,
  outcome: TerminalOutcome,
  publication?: Publication,
): LaneLastResult {
  const { state } = current;
  return state.kind === "run"
    ? runResult({ ...current, state }, outcome)
    : structuralResult({ ...current, state }, outcome, publication);
}

function runResult(current: CurrentOperation<RunState>, outcome: TerminalOutcome): LaneLastResult {
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
    case "declined":
    case "published":
      throw new Error(`a run is never ${outcome.kind}`);
  }
}

function structuralResult(
  current: CurrentOperation<CompactionState | NavigationState>,
  outcome: TerminalOutcome,
  publication: Publication | undefined,
): LaneLastResult {
  const { operation, state, leafId } = current;
  const common = { operationId: operation.operationId, kind: state.kind, leafId } as const;
  switch (outcome.kind) {
    case "aborted":
    case "declined":
      return { ...common, outcome: outcome.kind };
    case "failed":
      if (outcome.error === undefined) throw new Error("a structural operation fails with an error");
      return { ...common, outcome: "failed", error: outcome.error };
    case "completed":
      if (state.kind !== "navigation" || state.summarize) throw new Error("a summary is published");
      return { ...common, leafId: state.targetId, outcome: "completed" };
    case "published":
      if (publication === undefined) throw new Error("a publication has its ids");
      return { ...common, leafId: publication.entryId, outcome: "completed" };
  }
}

/** The terminal transaction. */
export function finish(
  current: CurrentOperation,
  { outcome, publication, reads }: Pick<Finished, "outcome" | "publication" | "reads">,
): Transition {
  const { operationId, lane } = current.operation;
  const result = resultOf(current, outcome, publication);
  const remove = (namespace: RegisterNamespace, key: string): Write => ({
    kind: "register",
    op: "delete",
    namespace,
    key,
  });
  const writes: Write[] = [
    ...publishedWrites(current, outcome, publication),
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

/**
 * What an operation publishes with its end. A navigation moves the leaf to its target first, so that the summary hangs
 * below it; its label is for the entry at which the lane then stands.
 */
function publishedWrites(
  { operation, state, leafId }: CurrentOperation,
  outcome: TerminalOutcome,
  publication: Publication | undefined,
): Write[] {
  const { lane, sourceLeafId } = operation;
  const isDone = outcome.kind === "completed" || outcome.kind === "published";
  if (state.kind === "run" || !isDone) return [];
  const parentId = state.kind === "navigation" ? state.targetId : leafId;
  const moved = state.kind === "navigation" ? [leafWrite(lane, parentId)] : [];
  const end = publication?.entryId ?? parentId;
  const published = publication && publicationWrites(publication, parentId, sourceLeafId);
  const label = state.kind === "navigation" && end !== null ? state.label : undefined;
  return [
    ...(published?.usage ?? []),
    ...moved,
    ...(published ? [published.entry, leafWrite(lane, end)] : []),
    ...(label === undefined || end === null
      ? []
      : [{ kind: "register", op: "set", namespace: "fact.label", key: end, value: label } as const]),
  ];
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
