/**
 * From an outcome to the facts that record it (spec §5.4).
 *
 * Text is made well-formed before it is stored: a lone surrogate in an answer or a result must not keep what has happened
 * from being recorded (spec §3.8, duty 5). Usage that does not fit the ledger is left out for the same reason.
 */
import type { EntryBody, NewFact } from "../fact-types.ts";
import { isBlank } from "../facts/operation-finished.ts";
import { addUsage } from "../facts/usage.ts";
import type { AssistantMessage } from "../messages.ts";
import { ABORTED_ERROR } from "../plan.ts";
import type { CompactionPlan, RecoveryPoint, Usage } from "../state.ts";
import type { StoredError } from "../values.ts";
import type { ModelReply, ModelRequest, ToolOutcome } from "../world.ts";
import type { StartedCall } from "./decide.ts";

/** An answer that the file cannot hold, such as one with two calls of one id, is a request that failed. */
export const UNUSABLE_ANSWER_ERROR: StoredError = {
  code: "unusable_answer",
  message: "the provider's answer breaks the rules of a message",
};

/** A summary must be a whole text and nothing else. */
const UNUSABLE_SUMMARY_ERROR: StoredError = {
  code: "unusable_summary",
  message: "the model did not finish a summary",
};

type Answer = Extract<ModelReply, { type: "answer" }>;

/** What a reply settles its attempt with. After an abort the attempt is closed whatever came back. */
export function requestOutcome(point: RecoveryPoint, request: ModelRequest, reply: ModelReply): NewFact[] {
  const usage = usageFacts(point, reply.usage, request.operationId, { attemptId: request.attemptId });
  const { operation } = point.state;
  if (operation.kind !== "idle" && operation.abortRequested) {
    return [failedStep(request, ABORTED_ERROR), ...usage];
  }
  if (reply.type === "failed") return [failedStep(request, storable(reply.error)), ...usage];
  if (operation.kind !== "compaction" || point.compaction === undefined) {
    return [{ kind: "entry", entry: assistantEntry(request, reply) }, ...usage];
  }
  if (reply.stopReason !== "stop" || isBlank(reply.content)) {
    return [failedStep(request, UNUSABLE_SUMMARY_ERROR), ...usage];
  }
  const entry = summaryEntry(operation.operationId, point.compaction, reply.content ?? "");
  return [{ kind: "entry", id: operation.resultEntryId, entry }, ...usage];
}

export function failedStep(request: ModelRequest, error: StoredError): NewFact {
  const { operationId, stepId, attemptId } = request;
  return { kind: "record", record: { type: "stepFailed", operationId, stepId, attemptId, error } };
}

/** The result of a call, under the id that its intent reserved. A result that came is recorded after an abort too. */
export function toolOutcome(point: RecoveryPoint, call: StartedCall, outcome: ToolOutcome): NewFact[] {
  const { operationId, stepId, toolStartedId, toolCallId, toolName, resultEntryId } = call;
  const message = {
    role: "tool",
    content: outcome.content.toWellFormed(),
    tool_call_id: toolCallId,
  } as const;
  return [
    {
      kind: "entry",
      id: resultEntryId,
      entry: { type: "message", stepId, message, toolName, toolStartedId, result: { type: outcome.type } },
    },
    ...usageFacts(point, outcome.usage, operationId, { toolStartedId }),
  ];
}

function assistantEntry(request: ModelRequest, reply: Answer): EntryBody {
  const { stepId, attemptId } = request;
  const calls = reply.toolCalls ?? [];
  const content = reply.content?.toWellFormed() ?? null;
  const message: AssistantMessage =
    calls.length === 0
      ? { role: "assistant", content }
      : {
          role: "assistant",
          content,
          tool_calls: calls.map((call) => ({
            id: call.id.toWellFormed(),
            type: "function",
            function: { name: call.name.toWellFormed(), arguments: call.arguments.toWellFormed() },
          })),
        };
  return { type: "message", stepId, attemptId, stopReason: reply.stopReason, message };
}

function summaryEntry(operationId: string, plan: CompactionPlan, summary: string): EntryBody {
  const { compactedThroughEntryId, retainedTail } = plan;
  return {
    type: "compaction",
    operationId,
    summary: summary.toWellFormed(),
    compactedThroughEntryId,
    retainedTail,
  };
}

function usageFacts(
  point: RecoveryPoint,
  usage: Usage | undefined,
  operationId: string,
  owner: { readonly attemptId: string } | { readonly toolStartedId: string },
): NewFact[] {
  if (usage === undefined || addUsage(point.state.usage, { ...usage }) === undefined) return [];
  return [{ kind: "usage", operationId, usage, ...owner }];
}

/** A stored error has a code and a message. */
function storable(error: StoredError): StoredError {
  return {
    code: error.code.toWellFormed() || "unknown",
    message: error.message.toWellFormed() || "the provider gave no reason",
  };
}
