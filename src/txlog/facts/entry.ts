/**
 * Entries: what the conversation is made of (spec §3.4).
 *
 * For a message the shape of the message comes first, whatever else is wrong with the entry.
 */
import { type AssistantMessage, callsOf, readMessage, type UserMessage } from "../messages.ts";
import type { FactNamed, MessageEntry } from "../named.ts";
import type { FactCode } from "../refusal.ts";
import type { SessionTables } from "../tables.ts";
import { hasOnly, isObject, type JsonObject, keys } from "../values.ts";
import { applyCompaction } from "./compaction-entry.ts";
import type { Fact } from "./envelope.ts";
import { applyToolResult } from "./tool-result.ts";

export function applyEntry(tables: SessionTables, fact: Fact): FactNamed | FactCode {
  if (!hasOnly(fact, FACT_KEYS) || !isObject(fact.entry)) return "INVALID_FACT";
  const entry = fact.entry;
  if (entry.type === "compaction") return applyCompaction(tables, fact.id, entry);
  if (entry.type !== "message") return "INVALID_FACT";
  const message = readMessage(entry.message);
  if (typeof message === "string") return message;
  switch (message.role) {
    case "user":
      return applyUser(tables, fact.id, entry, message);
    case "assistant":
      return applyAssistant(tables, fact.id, entry, message);
    case "tool":
      return applyToolResult(tables, fact.id, entry, message);
  }
}

function applyUser(
  tables: SessionTables,
  factId: string,
  entry: JsonObject,
  message: UserMessage,
): MessageEntry | FactCode {
  if (tables.names.has(factId)) return "DUPLICATE_ID";
  if (!hasOnly(entry, USER_KEYS)) return "INVALID_FACT";
  return tables.appendMessage(factId, message);
}

/** The answer of the model: it settles the open attempt that it names. */
function applyAssistant(
  tables: SessionTables,
  factId: string,
  entry: JsonObject,
  message: AssistantMessage,
): MessageEntry | FactCode {
  if (tables.names.has(factId)) return "DUPLICATE_ID";
  const { stepId, attemptId, stopReason } = entry;
  if (!hasOnly(entry, ASSISTANT_KEYS) || !tables.isId(stepId) || !tables.isId(attemptId))
    return "INVALID_FACT";
  if (stopReason !== "stop" && stopReason !== "toolUse" && stopReason !== "length") return "INVALID_FACT";
  const attempt = tables.names.get(attemptId);
  if (attempt?.kind !== "attempt" || attempt.attemptId !== attemptId) return "INVALID_REFERENCE";
  if (attempt.stepId !== stepId || !attempt.isOpen) return "INVALID_REFERENCE";
  if (attempt.stepKind !== "assistant") return "INVALID_REFERENCE";
  if (tables.current?.operationId !== attempt.operationId) return "INVALID_TRANSITION";
  const callCount = callsOf(message).length;
  if (stopReason === "toolUse" && callCount === 0) return "INVALID_TRANSCRIPT";
  if (stopReason === "stop" && callCount > 0) return "INVALID_TRANSCRIPT";
  tables.close(attempt, "settled");
  tables.undo.assign(attempt, "settledEntryId", factId);
  tables.undo.assign(attempt, "stopReason", stopReason);
  return tables.appendMessage(factId, message, attempt);
}

const FACT_KEYS = keys("kind", "seq", "id", "timestamp", "entry");
const USER_KEYS = keys("type", "message");
const ASSISTANT_KEYS = keys("type", "stepId", "attemptId", "stopReason", "message");
