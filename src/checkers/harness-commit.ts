/**
 * The payload of a `commit` event in the timeline of the harness subject, and the one place that reads it.
 */
import type { RecordedCommit, RecordedFailure } from "../faults/index.ts";
import { isRecord } from "../foundation/index.ts";

/** One confirmed transaction of a harness: what was written, and what the store answered. */
export type HarnessCommit = RecordedCommit;

/** The payload of a `commit` event as what it is; a foreign payload is a defect of the wiring and throws. */
export function harnessCommitOf(payload: unknown): HarnessCommit {
  if (
    isRecord(payload) &&
    Array.isArray(payload.writes) &&
    isRecord(payload.result) &&
    isRecord(payload.stats)
  ) {
    return payload as unknown as HarnessCommit;
  }
  throw new TypeError(
    "a commit event of the harness carries { writes, result, stats }; this timeline belongs to another system",
  );
}

/** One transaction that failed: what was to be written, and when. */
export type HarnessFailure = RecordedFailure;

/** The payload of a `commit-failed` event. */
export function failureOf(payload: unknown): HarnessFailure {
  if (isRecord(payload) && Array.isArray(payload.writes)) return payload as unknown as HarnessFailure;
  throw new TypeError(
    "a commit-failed event of the harness carries { writes }; this timeline is another system's",
  );
}
