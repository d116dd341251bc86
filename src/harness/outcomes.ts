/**
 * What callers get: outcomes of operations, in memory, built from the durable result (spec §3.13, §5.1).
 */
import type { Result } from "../foundation/index.ts";
import type {
  AgentMessage,
  AssistantMessage,
  BranchSummaryEntry,
  CompactionEntry,
  DeferredHandle,
  LaneLastResult,
  Operation,
  OperationError,
  OperationKind,
} from "../model/index.ts";
import type { MissingIdentities as Missing } from "../operation/index.ts";
import type { Session } from "../session/index.ts";
import type { DriveState } from "./drive-state.ts";
import type {
  Closed,
  InvalidMessage,
  InvalidNavigation,
  LaneBusy,
  MissingIdentities,
  NoActiveOperation,
  NoActiveRun,
  NothingToCompact,
  NothingToResume,
  UnknownSkill,
  UnknownTarget,
  UnknownTemplate,
} from "./errors.ts";
import type { Withdrawal } from "./queues.ts";

/** Both fields or neither: a run that its tools ended has no final assistant. */
export type OptionalFinalAssistant =
  | { finalEntryId: string; finalMessage: AssistantMessage }
  | { finalEntryId?: never; finalMessage?: never };

export interface MissingIdentitySuspension {
  kind: "suspended";
  reason: "missing_identities";
  missing: Missing;
}

/** How an accepted run ended, or where it waits. */
export type RunOutcome =
  | ({ kind: "completed"; leafId: string } & OptionalFinalAssistant)
  | ({ kind: "aborted"; leafId: string } & OptionalFinalAssistant)
  | ({ kind: "failed"; leafId: string; error: OperationError } & OptionalFinalAssistant)
  | { kind: "suspended"; reason: "deferred"; leafId: string; finalEntryId: string; deferred: DeferredHandle }
  | (MissingIdentitySuspension & { leafId: string });

export type RunResult = Result<
  { runId: string } & RunOutcome,
  LaneBusy | MissingIdentities | InvalidMessage | UnknownSkill | UnknownTemplate | Closed
>;

/** How a compaction of a caller ended. */
export type CompactionOutcome =
  | { kind: "completed"; leafId: string; entry: CompactionEntry }
  | { kind: "declined" | "aborted"; leafId: string }
  | { kind: "failed"; leafId: string; error: OperationError }
  | (MissingIdentitySuspension & { leafId: string });

export type CompactionResult = Result<
  { runId: string } & CompactionOutcome,
  LaneBusy | MissingIdentities | NothingToCompact | InvalidMessage | Closed
>;

/** How a navigation ended; `null` is the root. */
export type NavigationOutcome =
  | {
      kind: "completed";
      oldLeafId: string | null;
      newLeafId: string | null;
      summaryEntry?: BranchSummaryEntry;
    }
  | { kind: "declined" | "aborted"; leafId: string | null }
  | { kind: "failed"; leafId: string | null; error: OperationError }
  | (MissingIdentitySuspension & { leafId: string | null });

export type NavigationResult = Result<
  { runId: string } & NavigationOutcome,
  LaneBusy | MissingIdentities | InvalidNavigation | UnknownTarget | Closed
>;

export type RecordUsageResult = Result<{ usageId: string }, InvalidMessage | Closed>;

export type ResumeOutcome = { runId: string } & (
  | ({ operation: "run" } & RunOutcome)
  | ({ operation: "compaction" } & CompactionOutcome)
  | ({ operation: "navigation" } & NavigationOutcome)
);

export type ResumeResult = Result<ResumeOutcome, LaneBusy | NothingToResume | MissingIdentities | Closed>;

/** `entryId`: what the item's entry will be called, and what `cancelQueued` takes. */
export type QueueResult = Result<{ entryId: string }, NoActiveRun | InvalidMessage | Closed>;

export type NextRunResult = Result<{ entryId: string }, InvalidMessage | Closed>;

export type CancelQueuedResult = Result<{ kind: Withdrawal }, Closed>;

/** What was still queued for the operation when it was cancelled; it will not be said. */
export type AbortResult = Result<
  { runId: string; steer: AgentMessage[]; followUp: AgentMessage[] },
  NoActiveOperation | Closed
>;

/** An open operation that was found when the session was opened; `resume()` on its lane goes on with it. */
export interface SuspendedOperation {
  lane: string;
  operationId: string;
  kind: OperationKind;
  reason: "crash" | "deferred" | "missing_identities";
  /** Unix ms. */
  startedAt: number;
  prompt?: AgentMessage[];
  deferred?: DeferredHandle;
  /** Payloads that a cancellation drained from the queues. */
  aborting?: { steer: AgentMessage[]; followUp: AgentMessage[] };
  /** What today's registries lack of the captured configuration. */
  missing: Missing;
}

/** The outcome of a run, from its durable result. */
export async function runOutcome(
  session: Session,
  live: DriveState | undefined,
  result: LaneLastResult,
): Promise<RunOutcome> {
  // A run has appended at least its prompt, so its lane is not at the root.
  const leafId = result.leafId ?? "";
  const final = await finalAssistant(session, live, result.finalAssistantEntryId);
  switch (result.outcome) {
    case "completed":
      return { kind: "completed", leafId, ...final };
    case "aborted":
      return { kind: "aborted", leafId, ...final };
    case "failed":
      return { kind: "failed", leafId, error: result.error, ...final };
    case "declined":
      throw new Error("a run is never declined");
  }
}

/** The outcome of a compaction, from its durable result. */
export async function compactionOutcome(
  session: Session,
  result: LaneLastResult,
): Promise<CompactionOutcome> {
  // What is compacted has entries, so its lane is not at the root.
  const leafId = result.leafId ?? "";
  switch (result.outcome) {
    case "completed": {
      const entry = (await session.getEntries([leafId])).get(leafId);
      if (entry?.type !== "compaction") throw new Error(`entry ${leafId} of a compaction is none`);
      return { kind: "completed", leafId, entry };
    }
    case "failed":
      return { kind: "failed", leafId, error: result.error };
    case "declined":
    case "aborted":
      return { kind: result.outcome, leafId };
  }
}

/** The outcome of a navigation, from its durable result. */
export async function navigationOutcome(
  session: Session,
  { sourceLeafId, intent }: Operation,
  result: LaneLastResult,
): Promise<NavigationOutcome> {
  const { leafId } = result;
  switch (result.outcome) {
    case "completed": {
      const moved = { kind: "completed", oldLeafId: sourceLeafId, newLeafId: leafId } as const;
      if (intent.kind !== "navigation" || !intent.summarize || leafId === null) return moved;
      const entry = (await session.getEntries([leafId])).get(leafId);
      if (entry?.type !== "branch_summary") throw new Error(`entry ${leafId} of a navigation is no summary`);
      return { ...moved, summaryEntry: entry };
    }
    case "failed":
      return { kind: "failed", leafId, error: result.error };
    case "declined":
    case "aborted":
      return { kind: result.outcome, leafId };
  }
}

async function finalAssistant(
  session: Session,
  live: DriveState | undefined,
  entryId: string | undefined,
): Promise<OptionalFinalAssistant> {
  if (entryId === undefined) return {};
  if (live?.latestAssistant?.entryId === entryId) {
    return { finalEntryId: entryId, finalMessage: live.latestAssistant.message };
  }
  const entry = (await session.getEntries([entryId])).get(entryId);
  if (entry?.type !== "message" || entry.message.role !== "assistant") {
    throw new Error(`the final assistant ${entryId} of a run is no response`);
  }
  return { finalEntryId: entryId, finalMessage: entry.message };
}
