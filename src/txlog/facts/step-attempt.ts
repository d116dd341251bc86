/**
 * The intent of a model request (spec §3.5): it is on disk before the request leaves.
 *
 * A step has at most two attempts. The second is for a request that a crash orphaned, and repeats it exactly: same
 * context, same configuration. A request that failed before a living process is not repeated.
 */
import type { Attempt, Operation } from "../named.ts";
import type { FactCode } from "../refusal.ts";
import { referenceFault, reservationFault, type SessionTables } from "../tables.ts";
import { hasOnly, isCount, type JsonObject, keys } from "../values.ts";

const ATTEMPTS_MAX = 2;

export function applyStepAttempt(tables: SessionTables, record: JsonObject): FactCode | undefined {
  if (!hasOnly(record, STEP_ATTEMPT_KEYS)) return "INVALID_FACT";
  const operation = tables.lookup(record.operationId);
  if (typeof operation === "string") return operation;
  const { attempt: number, stepId, attemptId, stepKind, contextThroughEntryId } = record;
  if (!isCount(number, 1)) return "INVALID_FACT";
  if (number === 1 && !tables.isFree(stepId)) return reservationFault(stepId);
  if (!tables.isId(stepId)) return "INVALID_FACT";
  if (!tables.isFree(attemptId)) return reservationFault(attemptId);
  if (number === 1 && attemptId === stepId) return "DUPLICATE_ID";
  if (number > ATTEMPTS_MAX) return "INVALID_FACT";
  if (stepKind !== "assistant" && stepKind !== "compaction") return "INVALID_FACT";
  if ((stepKind === "assistant") !== (operation.kind === "run")) return "INVALID_TRANSITION";
  if (contextThroughEntryId === undefined || contextThroughEntryId !== tables.boundary) {
    const context = tables.names.get(contextThroughEntryId as string);
    if (context?.kind !== "message" && context?.kind !== "summary") {
      return referenceFault(contextThroughEntryId);
    }
    if (number === 1) return "INVALID_TRANSITION";
  }
  const configuration = tables.configurations.read(record.configurationSnapshot);
  if (configuration === undefined || configuration.digest !== record.configurationDigest)
    return "INVALID_FACT";

  const attempt: Attempt = {
    kind: "attempt",
    operationId: operation.operationId,
    stepId,
    attemptId,
    attempt: number,
    stepKind,
    contextThroughEntryId: contextThroughEntryId as string,
    configuration,
    isOpen: true,
    status: "attempting",
    settledEntryId: undefined,
    stopReason: undefined,
  };
  if (number === 1) {
    if (!mayStartStep(tables, operation)) return "INVALID_TRANSITION";
    tables.undo.put(tables.names, stepId, attempt);
  } else {
    const first = tables.names.get(stepId);
    if (first?.kind !== "attempt" || !mayRepeat(first, attempt)) return "INVALID_TRANSITION";
    tables.close(first);
  }
  tables.undo.put(tables.names, attemptId, attempt);
  tables.undo.assign(operation, "step", attempt);
  return undefined;
}

/** A first step, or the next one of a run whose last answer asked for tools that have all come back. */
function mayStartStep(tables: SessionTables, operation: Operation): boolean {
  const latest = operation.step;
  if (latest === undefined) return true;
  if (operation.kind !== "run" || latest.status !== "settled") return false;
  return latest.stopReason === "toolUse" && !tables.isToolPending();
}

/** An attempt 1 that is no longer open was settled, failed or repeated already. */
function mayRepeat(first: Attempt, second: Attempt): boolean {
  return (
    first.isOpen &&
    first.stepId === second.stepId &&
    first.stepKind === second.stepKind &&
    first.operationId === second.operationId &&
    first.contextThroughEntryId === second.contextThroughEntryId &&
    first.configuration.digest === second.configuration.digest
  );
}

const STEP_ATTEMPT_KEYS = keys(
  "type",
  "operationId",
  "stepId",
  "attemptId",
  "stepKind",
  "attempt",
  "contextThroughEntryId",
  "configurationSnapshot",
  "configurationDigest",
);
