/**
 * The payload of a `commit` event in the timeline of the harness subject, and the one place that reads it.
 */
import type { CommitResult, Write } from "../model/index.ts";
import type { SessionStats } from "../storage/index.ts";

/** One confirmed transaction of a harness: what was written, and what the store answered. */
export interface HarnessCommit {
  readonly writes: readonly Write[];
  readonly result: CommitResult;
  /** What `getStats` answered right after the commit, when the observer asked; see `ledger-conservation.ts`. */
  readonly stats?: SessionStats;
}

/** A transaction whose outcome is unknown: the payload of `commit-failed`. */
export type FailedHarnessCommit = Pick<HarnessCommit, "writes">;

/** The payload of a `commit` event as what it is; a foreign payload is a defect of the wiring and throws. */
export function harnessCommitOf(payload: unknown): HarnessCommit {
  if (isRecord(payload) && Array.isArray(payload.writes) && isRecord(payload.result)) {
    return payload as unknown as HarnessCommit;
  }
  throw new TypeError(
    "a commit event of the harness carries { writes, result }; this timeline belongs to another system",
  );
}

/** The writes of a `commit-failed` event. */
export function failedWritesOf(payload: unknown): readonly Write[] {
  if (isRecord(payload) && Array.isArray(payload.writes)) return payload.writes as readonly Write[];
  throw new TypeError(
    "a commit-failed event of the harness carries { writes }; this timeline is another system's",
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
