/**
 * The compaction entry: a summary takes the place of older messages in the active context (spec §3.4).
 *
 * The transcript keeps every message. What the active context keeps is written into the entry and must be exactly the
 * messages between the summary's end and the compaction's input, so that nothing falls between the two.
 */
import { jsonEquals } from "../../foundation/index.ts";
import { type Message, readMessage } from "../messages.ts";
import type { MessageEntry, Named, SummaryEntry } from "../named.ts";
import type { FactCode } from "../refusal.ts";
import type { SessionTables } from "../tables.ts";
import { isTranscript } from "../transcript.ts";
import { hasOnly, isObject, isText, isUuid, type JsonObject, keys } from "../values.ts";

/** Stands before the summary in the message that the model is shown. */
const SUMMARY_PREFIX = "[Compacted history]\n";

export function applyCompaction(
  tables: SessionTables,
  factId: string,
  held: Named | undefined,
  entry: JsonObject,
): SummaryEntry | FactCode {
  if (held?.kind !== "compactionResult") return "INVALID_REFERENCE";
  if (!hasOnly(entry, COMPACTION_KEYS)) return "INVALID_FACT";
  const operation = tables.lookup(entry.operationId);
  if (typeof operation === "string") return operation;
  if (operation.kind !== "compaction") return "INVALID_TRANSITION";
  if (operation.resultEntryId !== factId) return "INVALID_REFERENCE";
  if (!isUuid(entry.compactedThroughEntryId)) return "INVALID_FACT";
  const through = tables.names.get(entry.compactedThroughEntryId);
  if (through?.kind !== "message" && through?.kind !== "summary") return "INVALID_REFERENCE";
  if (!isText(entry.summary) || !Array.isArray(entry.retainedTail)) return "INVALID_FACT";
  const expected = messagesBetween(tables, through, operation.inputThroughEntryId);
  if (expected === undefined) return "INVALID_REFERENCE";
  const tail = readTail(entry.retainedTail, expected);
  if (typeof tail === "string") return tail;
  if (!isTranscript(tail)) return "INVALID_TRANSCRIPT";
  const attempt = operation.step;
  if (attempt === undefined || !attempt.isOpen) return "INVALID_TRANSITION";

  tables.close(attempt, "settled");
  tables.undo.assign(attempt, "settledEntryId", factId);
  const summary: Message = { role: "user", content: SUMMARY_PREFIX + entry.summary };
  tables.activeContext = [summary, ...tail];
  tables.boundary = operation.inputThroughEntryId;
  return { kind: "summary", entryId: factId, messagesThrough: tables.messages.length, attempt };
}

/** The message entries after one entry through another, or nothing if the two stand in the wrong order. */
function messagesBetween(
  tables: SessionTables,
  after: MessageEntry | SummaryEntry,
  throughEntryId: string,
): readonly MessageEntry[] | undefined {
  const through = tables.names.get(throughEntryId);
  if (through?.kind !== "message" || through.messagesThrough < after.messagesThrough) return undefined;
  // A summary stands after the message up to which it counts.
  if (after.kind === "summary" && through.messagesThrough === after.messagesThrough) return undefined;
  return tables.messages.slice(after.messagesThrough, through.messagesThrough);
}

function readTail(items: readonly unknown[], expected: readonly MessageEntry[]): Message[] | FactCode {
  const tail: Message[] = [];
  for (const [index, item] of items.entries()) {
    if (!isObject(item) || !hasOnly(item, RETAINED_KEYS)) return "INVALID_FACT";
    if (!isUuid(item.sourceEntryId)) return "INVALID_FACT";
    const message = readMessage(item.message);
    if (typeof message === "string") return message;
    const source = expected[index];
    if (source === undefined || source.entryId !== item.sourceEntryId) return "INVALID_REFERENCE";
    if (!jsonEquals(source.message, message)) return "INVALID_REFERENCE";
    tail.push(message);
  }
  return tail.length === expected.length ? tail : "INVALID_REFERENCE";
}

const COMPACTION_KEYS = keys("type", "operationId", "summary", "compactedThroughEntryId", "retainedTail");
const RETAINED_KEYS = keys("sourceEntryId", "message");
