/**
 * The intent of a tool call (spec §3.5): it is on disk before the tool runs.
 *
 * A file that ends after it says that the effect may have happened. Everything that decides about a replay is therefore
 * written here and never asked of the model again: the effective arguments, the replay policy and its key, and the
 * environment.
 */
import { callsOf } from "../messages.ts";
import { type StartedTool, TOOL_RESULT } from "../named.ts";
import type { FactCode } from "../refusal.ts";
import { referenceFault, type SessionTables } from "../tables.ts";
import { hasOnly, isCount, isName, isObject, isUuid, type JsonObject, keys } from "../values.ts";

export function applyToolStarted(
  tables: SessionTables,
  factId: string,
  record: JsonObject,
): StartedTool | FactCode {
  if (!hasOnly(record, TOOL_STARTED_KEYS)) return "INVALID_FACT";
  const operation = tables.lookup(record.operationId);
  if (typeof operation === "string") return operation;
  if (operation.kind !== "run") return "INVALID_TRANSITION";
  const { stepId, assistantEntryId, toolIndex, toolCallId, toolName, resultEntryId } = record;
  const assistant = tables.message(assistantEntryId);
  if (assistant === undefined) return referenceFault(assistantEntryId);
  if (assistant.attempt?.stopReason !== "toolUse") return "INVALID_REFERENCE";
  const { attempt } = assistant;
  if (attempt.operationId !== operation.operationId) return "INVALID_REFERENCE";
  if (!isCount(toolIndex) || !isName(toolCallId) || !isName(toolName)) return "INVALID_FACT";
  const call = callsOf(assistant.message)[toolIndex];
  if (call?.id !== toolCallId || call.function.name !== toolName) return "INVALID_REFERENCE";
  if (stepId !== attempt.stepId) return "INVALID_REFERENCE";
  if (assistant.usedCalls[toolIndex] !== false) return "INVALID_TRANSITION";
  const { arguments: effective, replay, replayKey, environmentIdentity } = record;
  if (!isObject(effective) || (replay !== "safe" && replay !== "never")) return "INVALID_FACT";
  if (!isName(replayKey) || !isName(environmentIdentity)) return "INVALID_FACT";
  if (!attempt.configuration.snapshot.tools.some((tool) => tool.name === toolName))
    return "INVALID_TRANSITION";
  if (!isUuid(resultEntryId)) return "INVALID_FACT";
  if (!tables.name(resultEntryId, TOOL_RESULT)) return "DUPLICATE_ID";

  tables.undo.assign(assistant.usedCalls, toolIndex, true);
  tables.undo.assign(operation, "pendingCount", operation.pendingCount + 1);
  const started: StartedTool["call"] = {
    operationId: operation.operationId,
    toolStartedId: factId,
    stepId: attempt.stepId,
    assistantEntryId: assistant.entryId,
    toolIndex,
    toolCallId,
    toolName,
    arguments: effective,
    replay,
    replayKey,
    environmentIdentity,
    resultEntryId,
    status: "pending",
  };
  tables.undo.append(operation.toolCalls, started);
  return { kind: "startedTool", run: operation, call: started };
}

const TOOL_STARTED_KEYS = keys(
  "type",
  "operationId",
  "stepId",
  "assistantEntryId",
  "toolIndex",
  "toolCallId",
  "toolName",
  "arguments",
  "replay",
  "replayKey",
  "environmentIdentity",
  "resultEntryId",
);
