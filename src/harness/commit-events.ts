/**
 * What a commit means to those who listen (spec §5.5): pure, from the writes and the state before and after.
 *
 * Order: what begins with the commit, then each write in its order, then what ends with it. `opening` and `closing` are
 * the two outer parts; the writes are read by the publisher.
 *
 * Terms. *Turn*: from the start of a generation, or from the intent of a poll, until its response and the results of
 * its calls are settled. A retry stays in its turn; a deferred answer ends it.
 */
import type {
  BranchSummaryEntry,
  CompactionEntry,
  Entry,
  LaneLastResult,
  Operation,
  OperationError,
  OperationState,
} from "../model/index.ts";
import type { LaneEvent } from "./event-types.ts";
import type { LaneTrack, OpenTurn } from "./lane-track.ts";
import { retriesEnded, retryStarted } from "./retry-events.ts";

/** One commit of an operation. */
export interface OperationCommit {
  readonly operation: Operation;
  /** Undefined at its acceptance. */
  readonly before: OperationState | undefined;
  /** Undefined at its end. */
  readonly after: OperationState | undefined;
  /** Entries that it placed, with their seqs. */
  readonly entries: readonly Entry[];
  /** At its end. */
  readonly result: LaneLastResult | undefined;
}

/** What begins with a commit, and is told before its writes. */
export function opening({ operation, before, after }: OperationCommit): LaneEvent[] {
  if (before === undefined) return after === undefined ? [] : [startOf(operation)];
  return [];
}

/** The start of an operation; told again when a process resumes what another began. */
export function startOf({ operationId: runId, intent }: Operation): LaneEvent {
  switch (intent.kind) {
    case "run":
      return { type: "run_start", runId };
    case "compaction":
      return { type: "compaction_start", runId, reason: "manual" };
    case "navigation":
      return { type: "navigation_start", runId, targetId: intent.targetId };
  }
}

/** The start of structural work within a run, if that is where it stands. */
export function structuralStartIn(operation: Operation, state: OperationState): LaneEvent | undefined {
  if (state.kind !== "run" || state.phase.kind !== "compaction") return undefined;
  return { type: "compaction_start", runId: operation.operationId, reason: state.phase.reason };
}

/** The turn that a state stands in, by id. */
export function turnIdOf(state: OperationState | undefined): string | undefined {
  if (state?.kind !== "run") return undefined;
  const { phase } = state;
  switch (phase.kind) {
    case "assistant":
      return phase.generation.context.stepId;
    case "tools":
      return phase.batch.turnId;
    case "deferred": {
      const { status, stepId, poll } = phase.deferred;
      return status === "effect_pending" ? `${stepId}:poll:${poll}` : undefined;
    }
    case "checkpoint":
    case "compaction":
    case "failure_drain":
      return undefined;
  }
}

/** The turn that a state stands in, with what of it is placed already. */
export function turnAt(state: OperationState, entries: ReadonlyMap<string, Entry>): OpenTurn | undefined {
  const turnId = turnIdOf(state);
  if (turnId === undefined) return undefined;
  if (state.kind !== "run" || state.phase.kind !== "tools")
    return { turnId, message: undefined, toolResults: [] };
  const { assistantEntryId, calls } = state.phase.batch;
  const placed = (id: string) => {
    const entry = entries.get(id);
    return entry?.type === "message" ? entry.message : undefined;
  };
  const response = placed(assistantEntryId);
  const toolResults = calls.flatMap(({ resultEntryId }) => {
    const result = placed(resultEntryId);
    return result?.role === "toolResult" ? [result] : [];
  });
  return { turnId, message: response?.role === "assistant" ? response : undefined, toolResults };
}

/** What a commit ends or sets going, told after its writes. */
export function closing(commit: OperationCommit, track: LaneTrack): LaneEvent[] {
  const { operation, before, after, result } = commit;
  const runId = operation.operationId;
  const events: LaneEvent[] = [];
  events.push(...retriesEnded(runId, commit));
  const { turn } = track;
  // A batch that a poll brought stays in the turn of the poll.
  if (turn?.message !== undefined && turnIdOf(after) === undefined)
    events.push(turnEnd(runId, turn, turn.message));
  if (before !== undefined) events.push(...compactionInRun(commit));
  const opened = openedTurn(before, after);
  if (opened !== undefined) events.push({ type: "turn_start", runId, turnId: opened });
  events.push(...retryStarted(runId, commit));
  if (after === undefined && result !== undefined) events.push(endOf(commit, result, track));
  return events;
}

/** The turn that a commit opens. */
export function openedTurn(
  before: OperationState | undefined,
  after: OperationState | undefined,
): string | undefined {
  if (after?.kind !== "run") return undefined;
  const { phase } = after;
  if (phase.kind === "deferred") {
    const isIntent = phase.deferred.status === "effect_pending";
    const wasSuspended = before?.kind === "run" && turnIdOf(before) === undefined;
    return isIntent && wasSuspended ? turnIdOf(after) : undefined;
  }
  const wasCheckpoint = before?.kind === "run" && before.phase.kind === "checkpoint";
  return phase.kind === "assistant" && wasCheckpoint ? turnIdOf(after) : undefined;
}

/** The end of an operation. */
export function endOf(
  { operation, entries }: OperationCommit,
  result: LaneLastResult,
  track: LaneTrack,
): LaneEvent {
  const { operationId: runId } = operation;
  switch (result.kind) {
    case "run": {
      const { finalAssistantEntryId: finalEntryId } = result;
      const final =
        finalEntryId !== undefined && track.latestAssistant?.entryId === finalEntryId
          ? { finalEntryId, finalMessage: track.latestAssistant.message }
          : {};
      const common = { type: "run_end", runId, leafId: result.leafId, ...final } as const;
      if (result.outcome === "failed") return { ...common, outcome: "failed", error: result.error };
      return { ...common, outcome: result.outcome === "aborted" ? "aborted" : "completed" };
    }
    case "compaction":
      return compactionEnd(runId, "manual", structuralOutcome(result), compactionIn(entries));
    case "navigation": {
      const source = { oldLeafId: operation.sourceLeafId, newLeafId: result.leafId };
      const common = { type: "navigation_end", runId, ...source } as const;
      const outcome = structuralOutcome(result);
      if (outcome.kind === "failed") return { ...common, outcome: "failed", error: outcome.error };
      if (outcome.kind !== "completed") return { ...common, outcome: outcome.kind };
      const summaryEntry = entries.find(
        (entry): entry is BranchSummaryEntry => entry.type === "branch_summary",
      );
      return { ...common, outcome: "completed", ...(summaryEntry ? { summaryEntry } : {}) };
    }
  }
}

function turnEnd(
  runId: string,
  { turnId, toolResults }: OpenTurn,
  message: NonNullable<OpenTurn["message"]>,
): LaneEvent {
  return { type: "turn_end", runId, turnId, message, toolResults };
}

/** Structural work that begins or ends within a run. */
function compactionInRun({ operation, before, after, entries }: OperationCommit): LaneEvent[] {
  const runId = operation.operationId;
  const started =
    after &&
    before?.kind === "run" &&
    before.phase.kind !== "compaction" &&
    structuralStartIn(operation, after);
  if (started) return [started];
  if (before?.kind !== "run" || before.phase.kind !== "compaction") return [];
  const isOver = after === undefined || (after.kind === "run" && after.phase.kind !== "compaction");
  if (!isOver) return [];
  const { reason } = before.phase;
  const entry = compactionIn(entries);
  const { structural } = before.phase;
  const failure =
    after?.kind === "run" && after.phase.kind === "failure_drain" ? after.phase.error : undefined;
  const outcome: StructuralOutcome = entry
    ? { kind: "completed" }
    : before.control.status === "cancel_requested"
      ? { kind: "aborted" }
      : failure && structural.status === "generating"
        ? { kind: "failed", error: failure }
        : { kind: "declined" };
  return [compactionEnd(runId, reason, outcome, entry)];
}

type StructuralOutcome =
  | { readonly kind: "completed" | "declined" | "aborted" }
  | { readonly kind: "failed"; readonly error: OperationError };

function structuralOutcome(result: LaneLastResult): StructuralOutcome {
  return result.outcome === "failed" ? { kind: "failed", error: result.error } : { kind: result.outcome };
}

function compactionEnd(
  runId: string,
  reason: "manual" | "threshold" | "overflow",
  outcome: StructuralOutcome,
  entry: CompactionEntry | undefined,
): LaneEvent {
  const common = { type: "compaction_end", runId, reason } as const;
  if (outcome.kind === "failed") return { ...common, outcome: "failed", error: outcome.error };
  if (outcome.kind !== "completed") return { ...common, outcome: outcome.kind };
  if (entry === undefined) throw new Error("a compaction that completes places its entry in the same commit");
  return { ...common, outcome: "completed", entry, fromHook: entry.fromHook };
}

function compactionIn(entries: readonly Entry[]): CompactionEntry | undefined {
  return entries.find((entry): entry is CompactionEntry => entry.type === "compaction");
}
