/**
 * Entries: what the conversation is made of (spec §3.4).
 *
 * For a message the shape of the message comes first, whatever else is wrong with the entry. `held` is what the fact's id
 * was promised to; users and assistants need an id that nothing holds.
 */
import { type AssistantMessage, callsOf, readMessage, type UserMessage } from "../messages.ts";
import type { FactNamed, MessageEntry, Named } from "../named.ts";
import type { FactCode } from "../refusal.ts";
import type { SessionTables } from "../tables.ts";
import { hasOnly, isObject, isUuid, type JsonObject, keys } from "../values.ts";
import { applyCompaction } from "./compaction-entry.ts";
import type { Fact } from "./envelope.ts";
import { applyToolResult } from "./tool-result.ts";

export function applyEntry(tables: SessionTables, fact: Fact, held: Named | undefined): FactNamed | FactCode {
  if (!hasOnly(fact, FACT_KEYS) || !isObject(fact.entry)) return "INVALID_FACT";
  const entry = fact.entry;
  if (entry.type === "compaction") return applyCompaction(tables, fact.id, held, entry);
  if (entry.type !== "message") return "INVALID_FACT";
  const message = readMessage(entry.message);
  if (typeof message === "string") return message;
  switch (message.role) {
    case "user":
      return held === undefined ? applyUser(tables, fact.id, entry, message) : "DUPLICATE_ID";
    case "assistant":
      return held === undefined ? applyAssistant(tables, fact.id, entry, message) : "DUPLICATE_ID";
    case "tool":
      return applyToolResult(tables, fact.id, held, entry, message);
  }
}

function applyUser(
  tables: SessionTables,
  factId: string,
  entry: JsonObject,
  message: UserMessage,
): MessageEntry | FactCode {
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
  const { stepId, attemptId, stopReason } = entry;
  if (!hasOnly(entry, ASSISTANT_KEYS)) return "INVALID_FACT";
  if (stopReason !== "stop" && stopReason !== "toolUse" && stopReason !== "length") return "INVALID_FACT";
  const attempt = tables.attempt(attemptId);
  if (attempt === undefined || attempt.stepId !== stepId) {
    return isUuid(attemptId) && isUuid(stepId) ? "INVALID_REFERENCE" : "INVALID_FACT";
  }
  if (!attempt.isOpen) return "INVALID_REFERENCE";
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
