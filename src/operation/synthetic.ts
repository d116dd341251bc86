/**
 * Synthetic settlements: what is stored where an effect gave nothing that could be stored (spec §4.5, §5.7).
 *
 * They stand under the reserved ids, like real ones. Their texts speak to the model that reads them next, so they
 * say what is known and what is not; they are fixed here, because recovered states are compared byte for byte.
 *
 * 1. A synthetic response has no content and zero usage, unless the provider reported a usage that is valid.
 * 2. A synthetic tool result has one text block, `details: {}` and `isError: true`.
 */
import type {
  ModelIdentity,
  SettledAssistantMessage,
  ToolCallContent,
  ToolResultMessage,
  Usage,
} from "../model/index.ts";
import { zeroUsage } from "../model/index.ts";

/** Codes of `OperationError`, the durable reason of a failed operation; the message says the particulars. */
export const OPERATION_ERROR_CODES = {
  /** The provider answered with an error that no retry was left or allowed for. */
  providerError: "provider_error",
  /** The context did not fit, and compaction was not possible or had been tried. */
  contextOverflow: "context_overflow",
  /** The process died while a request was under way, and the retry policy allowed no later attempt. */
  interrupted: "interrupted",
  /** A summary could not be made: an error that no retry was left or allowed for, or an answer without a text. */
  summarizationFailed: "summarization_failed",
  /** The context did not fit, and a hook declined to compact it. */
  compactionDeclined: "compaction_declined",
} as const;

/** The api of a synthetic response: the registry is not asked, because a synthetic settlement needs no identity. */
export const SYNTHETIC_API = "synthetic";

/** A response that the harness writes in place of one that is missing or unusable. */
export function syntheticResponse(fields: {
  readonly model: ModelIdentity;
  readonly stopReason: "error" | "aborted";
  readonly errorMessage: string;
  readonly nowMs: number;
  readonly usage?: Usage;
}): SettledAssistantMessage {
  return {
    role: "assistant",
    content: [],
    api: SYNTHETIC_API,
    provider: fields.model.provider,
    model: fields.model.modelId,
    usage: fields.usage ?? zeroUsage(),
    stopReason: fields.stopReason,
    errorMessage: fields.errorMessage,
    timestamp: fields.nowMs,
  };
}

/** The error of a request whose outcome is unknown after the last attempt that the policy allows. */
export function interruptedRequestText(attempt: number, maxAttempts: number): string {
  return (
    `The process ended while the request was under way (attempt ${attempt} of ${maxAttempts}). ` +
    "Its answer, if there was one, is lost."
  );
}

/** The error of a poll whose answer nobody waits for any more. */
export const CANCELLED_POLL_TEXT =
  "cancelled by the caller; the poll of the deferred job was under way, and its answer, if there was one, is lost";

/** The text of a response that a cancellation stands in for: nothing came back, or nobody learned of it. */
export function cancelledRequestText(attempt: number): string {
  return `Cancelled by the caller before attempt ${attempt} had an answer that is known.`;
}

/** Why a planned or pending tool call gets a result that no tool gave. */
export type SyntheticToolReason =
  | { readonly kind: "interrupted" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "truncated" }
  | { readonly kind: "unknown_tool"; readonly activeToolNames: readonly string[] }
  | { readonly kind: "arguments_refused"; readonly message: string }
  /** By a hook, which may ask for the run to end. */
  | { readonly kind: "blocked"; readonly message: string; readonly terminate: boolean };

/** The text of a synthetic tool result. */
export function syntheticToolText(toolName: string, reason: SyntheticToolReason): string {
  switch (reason.kind) {
    case "interrupted":
      return (
        `The tool call was interrupted: the process ended after ${toolName} had been started and before its result ` +
        "was stored. It may have taken effect, in whole or in part. It was not run again."
      );
    case "cancelled":
      return `The tool call was not executed: the caller cancelled the run before ${toolName} was started.`;
    case "truncated":
      return (
        "The tool call was not executed: the response reached the output limit, so its arguments may be incomplete. " +
        "Issue the call again."
      );
    case "unknown_tool": {
      const known = reason.activeToolNames.length > 0 ? reason.activeToolNames.join(", ") : "none";
      return `There is no tool named ${toolName}. Available tools: ${known}.`;
    }
    case "arguments_refused":
      return `The arguments of ${toolName} were refused: ${reason.message}`;
    case "blocked":
      return reason.message === "" ? `The call of ${toolName} was blocked.` : reason.message;
  }
}

/** A tool result with one text, marked as an error. */
export function errorToolResult(call: ToolCallContent, text: string, nowMs: number): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: [{ type: "text", text }],
    details: {},
    isError: true,
    timestamp: nowMs,
  };
}
