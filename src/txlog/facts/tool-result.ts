/**
 * Tool messages: the result of a started call, or the answer to a call that was never started (spec §3.4).
 *
 * A result stands under the id that its intent reserved, so that a call has one result however often a process dies.
 * An answer without a start has an id of its own and marks its call as used, so that the call cannot be started later.
 */
import { callsOf, type ToolMessage } from "../messages.ts";
import type { MessageEntry, Named } from "../named.ts";
import type { FactCode } from "../refusal.ts";
import { isPreExecutionReason, SYNTHETIC_CONTENT } from "../synthetic.ts";
import { referenceFault, type SessionTables } from "../tables.ts";
import { hasOnly, isCount, isName, isObject, type JsonObject, keys } from "../values.ts";

export function applyToolResult(
  tables: SessionTables,
  factId: string,
  held: Named | undefined,
  entry: JsonObject,
  message: ToolMessage,
): MessageEntry | FactCode {
  const isPreExecution = entry.assistantEntryId !== undefined || entry.toolIndex !== undefined;
  const { result, stepId, toolName } = entry;
  if (!hasOnly(entry, isPreExecution ? PRE_EXECUTION_KEYS : RESULT_KEYS)) return "INVALID_FACT";
  if (!isObject(result) || !hasOnly(result, OUTCOME_KEYS)) return "INVALID_FACT";
  if (!tables.isId(stepId) || !isName(toolName)) return "INVALID_FACT";
  const parts: ResultParts = { factId, held, entry, message, result, stepId, toolName };
  return isPreExecution ? applyPreExecution(tables, parts) : applyStarted(tables, parts);
}

/** An entry whose common members have been read. */
interface ResultParts {
  readonly factId: string;
  /** What the id of the fact was promised to. */
  readonly held: Named | undefined;
  readonly entry: JsonObject;
  readonly message: ToolMessage;
  readonly result: JsonObject;
  readonly stepId: string;
  readonly toolName: string;
}

function applyStarted(tables: SessionTables, parts: ResultParts): MessageEntry | FactCode {
  const { factId, held, entry, message, result, stepId, toolName } = parts;
  if (held?.kind !== "toolResult") return "INVALID_REFERENCE";
  switch (result.type) {
    case "synthetic":
      if (result.reason !== "interrupted") return "INVALID_FACT";
      if (message.content !== SYNTHETIC_CONTENT.interrupted) return "INVALID_TRANSCRIPT";
      break;
    case "success":
    case "error":
      if (result.reason !== undefined) return "INVALID_FACT";
      break;
    default:
      return "INVALID_FACT";
  }
  const tool = tables.names.get(entry.toolStartedId as string);
  if (tool?.kind !== "startedTool") return referenceFault(entry.toolStartedId);
  const { call, run } = tool;
  if (call.status !== "pending") return "INVALID_REFERENCE";
  if (call.stepId !== stepId || call.resultEntryId !== factId) return "INVALID_REFERENCE";
  if (call.toolCallId !== message.tool_call_id || call.toolName !== toolName) return "INVALID_REFERENCE";
  // The run may be finished by now: a result that comes late is still the result.
  tables.undo.assign(call, "status", "completed");
  tables.undo.assign(run, "pendingCount", run.pendingCount - 1);
  return tables.appendMessage(factId, message);
}

function applyPreExecution(tables: SessionTables, parts: ResultParts): MessageEntry | FactCode {
  const { factId, held, entry, message, result, stepId, toolName } = parts;
  const { assistantEntryId, toolIndex } = entry;
  if (result.type !== "synthetic" || !isPreExecutionReason(result.reason)) return "INVALID_FACT";
  if (!isCount(toolIndex)) return "INVALID_FACT";
  const assistant = tables.message(assistantEntryId);
  if (assistant === undefined) return referenceFault(assistantEntryId);
  if (assistant.attempt?.stepId !== stepId) return "INVALID_REFERENCE";
  if (tables.current?.operationId !== assistant.attempt.operationId) return "INVALID_REFERENCE";
  const call = callsOf(assistant.message)[toolIndex];
  if (call?.id !== message.tool_call_id || call.function.name !== toolName) return "INVALID_REFERENCE";
  if (assistant.usedCalls[toolIndex] !== false) return "INVALID_TRANSITION";
  if (message.content !== SYNTHETIC_CONTENT[result.reason]) return "INVALID_TRANSCRIPT";
  if (held !== undefined) return "DUPLICATE_ID";
  tables.undo.assign(assistant.usedCalls, toolIndex, true);
  return tables.appendMessage(factId, message);
}

const RESULT_KEYS = keys("type", "stepId", "message", "toolName", "toolStartedId", "result");
const PRE_EXECUTION_KEYS = keys(
  "type",
  "stepId",
  "assistantEntryId",
  "toolIndex",
  "message",
  "toolName",
  "result",
);
const OUTCOME_KEYS = keys("type", "reason");
