/**
 * The two records that accept work (spec §3.5). At most one operation is unfinished at a time.
 */
import { digestOf } from "../digest.ts";
import { COMPACTION_RESULT, type Operation } from "../named.ts";
import type { FactCode } from "../refusal.ts";
import type { RetainedMessage } from "../state.ts";
import { referenceFault, reservationFault, type SessionTables } from "../tables.ts";
import { hasOnly, isDigest, isUuid, type JsonObject, keys } from "../values.ts";

export function applyRunStarted(tables: SessionTables, record: JsonObject): FactCode | undefined {
  if (!hasOnly(record, RUN_KEYS)) return "INVALID_FACT";
  if (record.operationKind !== "run" || tables.current !== undefined) return "INVALID_TRANSITION";
  const { operationId, inputEntryId } = record;
  if (!tables.isFree(operationId)) return reservationFault(operationId);
  const input = tables.message(inputEntryId);
  if (input?.message.role !== "user") return referenceFault(inputEntryId);
  start(tables, {
    kind: "run",
    operationId,
    inputEntryId: input.entryId,
    toolCalls: [],
    pendingCount: 0,
    step: undefined,
    abortRequested: false,
    finished: false,
  });
  return undefined;
}

export function applyCompactionStarted(tables: SessionTables, record: JsonObject): FactCode | undefined {
  if (!hasOnly(record, COMPACTION_KEYS)) return "INVALID_FACT";
  if (record.operationKind !== "compaction" || tables.current !== undefined) return "INVALID_TRANSITION";
  const { operationId, inputThroughEntryId, resultEntryId, compactedEntryIds, retainedEntryIds } = record;
  if (!tables.isFree(operationId)) return reservationFault(operationId);
  if (!isUuid(inputThroughEntryId)) return "INVALID_FACT";
  if (!tables.isFree(resultEntryId)) return reservationFault(resultEntryId);
  if (resultEntryId === operationId) return "DUPLICATE_ID";
  const input = tables.names.get(inputThroughEntryId);
  if (input?.kind !== "message" && input?.kind !== "summary") return "INVALID_REFERENCE";
  if (!Array.isArray(compactedEntryIds) || compactedEntryIds.length === 0) return "INVALID_FACT";
  if (!Array.isArray(retainedEntryIds)) return "INVALID_FACT";
  if (!compactedEntryIds.every(isUuid) || !retainedEntryIds.every(isUuid)) return "INVALID_FACT";
  if (input.kind !== "message") return "INVALID_REFERENCE";
  // Earlier compactions do not shorten the list: the partition always covers the file from its first message.
  const sources = tables.messages.slice(0, input.messagesThrough);
  const named = [...compactedEntryIds, ...retainedEntryIds];
  if (named.length !== sources.length) return "INVALID_REFERENCE";
  if (!sources.every((source, index) => source.entryId === named[index])) return "INVALID_REFERENCE";
  if (!isDigest(record.sourceDigest)) return "INVALID_FACT";
  const digested = sources.map(({ entryId, message }) => ({ sourceEntryId: entryId, message }));
  if (sourceDigest(digested) !== record.sourceDigest) return "INVALID_REFERENCE";
  tables.undo.put(tables.names, resultEntryId, COMPACTION_RESULT);
  start(tables, {
    kind: "compaction",
    operationId,
    inputThroughEntryId,
    resultEntryId,
    compactedEntryIds,
    step: undefined,
    abortRequested: false,
    finished: false,
  });
  return undefined;
}

/** The digest of the messages that a compaction reads (spec §3.7). */
export function sourceDigest(sources: readonly RetainedMessage[]): string {
  return digestOf(sources);
}

function start(tables: SessionTables, operation: Operation): void {
  tables.undo.put(tables.names, operation.operationId, operation);
  tables.current = operation;
}

const RUN_KEYS = keys("type", "operationId", "operationKind", "inputEntryId");
const COMPACTION_KEYS = keys(
  "type",
  "operationId",
  "operationKind",
  "inputThroughEntryId",
  "resultEntryId",
  "compactedEntryIds",
  "retainedEntryIds",
  "sourceDigest",
);
