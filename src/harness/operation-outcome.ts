/**
 * From the end of a drive to what its caller gets, whatever kind of operation it was (spec §3.13, §4.9, §5.1).
 */
import { type CurrentOperation, checkLastResult } from "../operation/index.ts";
import type { Session } from "../session/index.ts";
import type { DriveState } from "./drive-state.ts";
import type { DriveEnd } from "./interpreter.ts";
import { compactionOutcome, navigationOutcome, type ResumeOutcome, runOutcome } from "./outcomes.ts";

/** See the module header. `accepted` is the operation as the drive began with it. */
export async function operationOutcome(
  session: Session,
  live: DriveState,
  accepted: CurrentOperation,
  end: DriveEnd,
): Promise<ResumeOutcome> {
  const { operationId: runId, lane } = accepted.operation;
  switch (end.kind) {
    case "finished":
      return endedOutcome(session, live, accepted, end.result);
    case "ended_elsewhere": {
      const last = live.endedFromOutside ?? (await session.getRegister("lane.lastResult", lane))?.value;
      if (last?.operationId !== runId) {
        throw new Error(`operation ${runId} was ended from outside and left no result`);
      }
      return endedOutcome(session, undefined, accepted, checkLastResult(lane, last));
    }
    case "deferred": {
      const finalEntryId = live.latestAssistant?.entryId ?? "";
      const leafId = end.current.leafId ?? "";
      const { handle: deferred } = end;
      return {
        operation: "run",
        runId,
        kind: "suspended",
        reason: "deferred",
        leafId,
        finalEntryId,
        deferred,
      };
    }
    case "missing_identities": {
      const { leafId } = end.current;
      const suspended = { kind: "suspended", reason: "missing_identities", missing: end.missing } as const;
      const operation = accepted.operation.intent.kind;
      return operation === "navigation"
        ? { operation, runId, ...suspended, leafId }
        : { operation, runId, ...suspended, leafId: leafId ?? "" };
    }
  }
}

async function endedOutcome(
  session: Session,
  live: DriveState | undefined,
  { operation }: CurrentOperation,
  result: Parameters<typeof runOutcome>[2],
): Promise<ResumeOutcome> {
  const runId = operation.operationId;
  switch (operation.intent.kind) {
    case "run":
      return { operation: "run", runId, ...(await runOutcome(session, live, result)) };
    case "compaction":
      return { operation: "compaction", runId, ...(await compactionOutcome(session, result)) };
    case "navigation":
      return { operation: "navigation", runId, ...(await navigationOutcome(session, operation, result)) };
  }
}
