/**
 * Records: what the runtime did around the conversation (spec §3.5). Each type has a file of its own but for the two
 * short ones here; an unknown type is a fault.
 */
import { type FactNamed, PLAIN_FACT } from "../named.ts";
import type { FactCode } from "../refusal.ts";
import { referenceFault, type SessionTables } from "../tables.ts";
import { hasOnly, isObject, isStoredError, type JsonObject, keys } from "../values.ts";
import type { Fact } from "./envelope.ts";
import { applyOperationFinished } from "./operation-finished.ts";
import { applyCompactionStarted, applyRunStarted } from "./operation-started.ts";
import { applyStepAttempt } from "./step-attempt.ts";
import { applyToolStarted } from "./tool-started.ts";

export function applyRecord(tables: SessionTables, fact: Fact): FactNamed | FactCode {
  if (!hasOnly(fact, FACT_KEYS) || !isObject(fact.record)) return "INVALID_FACT";
  const record = fact.record;
  if (record.type === "toolStarted") return applyToolStarted(tables, fact.id, record);
  return applyPlain(tables, record) ?? PLAIN_FACT;
}

/** The records that nothing refers to by their fact id. */
function applyPlain(tables: SessionTables, record: JsonObject): FactCode | undefined {
  switch (record.type) {
    case "runStarted":
      return applyRunStarted(tables, record);
    case "compactionStarted":
      return applyCompactionStarted(tables, record);
    case "stepAttempt":
      return applyStepAttempt(tables, record);
    case "stepFailed":
      return applyStepFailed(tables, record);
    case "abortRequested":
      return applyAbortRequested(tables, record);
    case "operationFinished":
      return applyOperationFinished(tables, record);
    default:
      return "INVALID_FACT";
  }
}

/** A living process saw the request fail: final, the step is not tried again. */
function applyStepFailed(tables: SessionTables, record: JsonObject): FactCode | undefined {
  if (!hasOnly(record, STEP_FAILED_KEYS)) return "INVALID_FACT";
  const operation = tables.lookup(record.operationId);
  if (typeof operation === "string") return operation;
  if (!isStoredError(record.error)) return "INVALID_FACT";
  const attempt = tables.attempt(record.attemptId);
  if (attempt === undefined) return referenceFault(record.attemptId);
  if (attempt.operationId !== operation.operationId) return "INVALID_REFERENCE";
  if (attempt.stepId !== record.stepId || !attempt.isOpen) return "INVALID_REFERENCE";
  tables.close(attempt, "failed");
  return undefined;
}

function applyAbortRequested(tables: SessionTables, record: JsonObject): FactCode | undefined {
  if (!hasOnly(record, ABORT_KEYS)) return "INVALID_FACT";
  const operation = tables.lookup(record.operationId);
  if (typeof operation === "string") return operation;
  if (record.operationKind !== operation.kind || record.reason !== "escape") return "INVALID_TRANSITION";
  const { phase, toolCallId } = record;
  if (phase !== "model" && phase !== "tool" && phase !== "compact") return "INVALID_FACT";
  // The call is not looked up: the abort concerns the operation, the id only tells what ran at that time.
  if ((phase === "tool") !== (typeof toolCallId === "string")) return "INVALID_FACT";
  if (operation.abortRequested) return "INVALID_TRANSITION";
  tables.undo.assign(operation, "abortRequested", true);
  return undefined;
}

const FACT_KEYS = keys("kind", "seq", "id", "timestamp", "record");
const STEP_FAILED_KEYS = keys("type", "operationId", "stepId", "attemptId", "error");
const ABORT_KEYS = keys("type", "operationId", "operationKind", "phase", "toolCallId", "reason");
