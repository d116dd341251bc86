/**
 * The terminal of an operation (spec §3.5). After it the session is idle.
 *
 * A completed operation names its final entry, which must be what the latest step settled with: an earlier answer, or an
 * answer of another operation, does not finish this one.
 */
import { callsOf } from "../messages.ts";
import type { CompactionOperation, Operation, RunOperation } from "../named.ts";
import type { FactCode } from "../refusal.ts";
import { referenceFault, type SessionTables } from "../tables.ts";
import { hasOnly, isStoredError, type JsonObject, keys } from "../values.ts";

export function applyOperationFinished(tables: SessionTables, record: JsonObject): FactCode | undefined {
  if (!hasOnly(record, FINISHED_KEYS)) return "INVALID_FACT";
  const operation = tables.lookup(record.operationId);
  if (typeof operation === "string") return operation;
  if (record.operationKind !== operation.kind) return "INVALID_TRANSITION";
  const fault = checkOutcome(tables, operation, record);
  if (fault !== undefined) return fault;
  if (record.outcome !== "completed" && record.completion !== undefined) return "INVALID_FACT";
  const isErrorRight = record.outcome === "failed" ? isStoredError(record.error) : record.error === undefined;
  if (!isErrorRight) return "INVALID_FACT";
  tables.undo.assign(operation, "finished", true);
  tables.current = undefined;
  return undefined;
}

function checkOutcome(tables: SessionTables, operation: Operation, record: JsonObject): FactCode | undefined {
  switch (record.outcome) {
    case "completed":
      return operation.kind === "run"
        ? checkCompletedRun(tables, operation, record)
        : checkCompletedCompaction(tables, operation, record);
    case "aborted":
      if (record.finalEntryId !== undefined || !operation.abortRequested) return "INVALID_TRANSITION";
      if (tables.isToolPending() || operation.step?.status === "attempting") return "INVALID_TRANSITION";
      return undefined;
    case "failed":
      return record.finalEntryId === undefined ? undefined : "INVALID_FACT";
    default:
      return "INVALID_TRANSITION";
  }
}

function checkCompletedRun(
  tables: SessionTables,
  operation: RunOperation,
  record: JsonObject,
): FactCode | undefined {
  const { completion, finalEntryId } = record;
  if (completion !== "normal" && completion !== "truncated") return "INVALID_FACT";
  const final = tables.message(finalEntryId);
  if (final === undefined) return referenceFault(finalEntryId);
  if (final.attempt?.operationId !== operation.operationId) return "INVALID_REFERENCE";
  if (final.attempt.stopReason !== (completion === "normal" ? "stop" : "length")) return "INVALID_REFERENCE";
  // The step that settled with it must be the latest one: then its attempt is the operation's latest attempt.
  if (final.attempt !== operation.step) return "INVALID_REFERENCE";
  const isWhole =
    completion === "normal" ? !isBlank(final.message.content) : callsOf(final.message).length > 0;
  if (!isWhole || tables.isToolPending()) return "INVALID_TRANSCRIPT";
  return undefined;
}

function checkCompletedCompaction(
  tables: SessionTables,
  operation: CompactionOperation,
  record: JsonObject,
): FactCode | undefined {
  if (record.completion !== undefined) return "INVALID_FACT";
  const final = tables.names.get(record.finalEntryId as string);
  if (final?.kind !== "summary") return referenceFault(record.finalEntryId);
  // An attempt belongs to one operation, so the summary of another one fails here too.
  return final.attempt === operation.step ? undefined : "INVALID_REFERENCE";
}

/** Whether an answer says nothing. */
export function isBlank(content: string | null): boolean {
  return content === null || content.trim() === "";
}

const FINISHED_KEYS = keys(
  "type",
  "operationId",
  "operationKind",
  "outcome",
  "completion",
  "finalEntryId",
  "error",
);
