/**
 * The messages of a conversation, as the file holds them (spec §3.3).
 *
 * Call ids may recur in other messages of a session. A call is therefore addressed by its *pair*: the entry id of the
 * assistant message and the zero-based index of the call in it.
 */
import type { FactCode } from "./refusal.ts";
import { hasOnly, isName, isObject, isText, type JsonObject, keys } from "./values.ts";

export interface UserMessage {
  readonly role: "user";
  readonly content: string;
}

/** One call that the model asks for. `arguments` is the model's own text, parsed only when the call is started. */
export interface ToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: string | null;
  readonly tool_calls?: readonly ToolCall[];
}

export interface ToolMessage {
  readonly role: "tool";
  readonly content: string;
  readonly tool_call_id: string;
}

export type Message = UserMessage | AssistantMessage | ToolMessage;

export type StopReason = "stop" | "toolUse" | "length";

/** The message itself if it has the shape of one, else the code of the first fault. */
export function readMessage(value: unknown): Message | FactCode {
  if (!isObject(value)) return "INVALID_FACT";
  switch (value.role) {
    case "user":
      if (!hasOnly(value, USER_KEYS) || !isName(value.content)) return "INVALID_FACT";
      return value as unknown as UserMessage;
    case "tool":
      if (!hasOnly(value, TOOL_KEYS) || !isText(value.content) || !isName(value.tool_call_id)) {
        return "INVALID_FACT";
      }
      return value as unknown as ToolMessage;
    case "assistant":
      return readAssistant(value);
    default:
      return "INVALID_FACT";
  }
}

function readAssistant(value: JsonObject): AssistantMessage | FactCode {
  if (!hasOnly(value, ASSISTANT_KEYS)) return "INVALID_FACT";
  if (value.content !== null && !isText(value.content)) return "INVALID_FACT";
  const calls = value.tool_calls;
  if (calls !== undefined) {
    if (!Array.isArray(calls) || calls.length === 0 || !calls.every(isToolCall)) return "INVALID_FACT";
    if (calls.length > 1 && new Set(calls.map((call) => call.id)).size < calls.length) {
      return "INVALID_TRANSCRIPT";
    }
  }
  return value as unknown as AssistantMessage;
}

function isToolCall(value: unknown): value is ToolCall {
  if (!isObject(value) || !hasOnly(value, CALL_KEYS) || !isName(value.id)) return false;
  const called = value.function;
  if (value.type !== "function" || !isObject(called) || !hasOnly(called, FUNCTION_KEYS)) return false;
  return isName(called.name) && isText(called.arguments);
}

/** The calls of a message; none for users and tools. */
export function callsOf(message: Message): readonly ToolCall[] {
  return message.role === "assistant" ? (message.tool_calls ?? []) : [];
}

const USER_KEYS = keys("role", "content");
const TOOL_KEYS = keys("role", "content", "tool_call_id");
const ASSISTANT_KEYS = keys("role", "content", "tool_calls");
const CALL_KEYS = keys("id", "type", "function");
const FUNCTION_KEYS = keys("name", "arguments");
