/**
 * What every call of a tool goes through, whoever drives it: its arguments as the tool takes them, its result as it may be
 * stored (spec §5.7, message-types §9).
 *
 * A result that cannot be stored becomes an error that says what is wrong with it, and keeps the usage if that is valid.
 */
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { Clone, Convert } from "typebox/value";
import { NotJson, type Result } from "../foundation/index.ts";
import {
  type AgentToolResult,
  isJsonObject,
  issueOf,
  type JsonObject,
  type ShapeIssue,
  type ToolCallContent,
  type ToolResultMessage,
  type Usage,
  validateUsageRowDraft,
} from "../model/index.ts";
import { errorToolResult } from "../operation/index.ts";
import { detachJson } from "../session/index.ts";
import { messageOf, readOr } from "./errors.ts";

/** Arguments that a tool takes, or why it does not. */
export type CheckedArguments = { readonly arguments: JsonObject } | { readonly refusal: string };

/** The arguments of a call as its tool takes them: prepared, coerced, checked. Touches nothing outside; never throws. */
export function preparedArguments(
  tool: { readonly parameters: TSchema; prepareArguments?(raw: unknown): unknown },
  given: JsonObject,
): CheckedArguments {
  try {
    const raw: unknown = copyJson(given);
    return checkArguments(tool.parameters, tool.prepareArguments ? tool.prepareArguments(raw) : raw);
  } catch (error) {
    return { refusal: messageOf(error) };
  }
}

/** Arguments as a tool takes them: coerced where a model got them nearly right, and checked. */
export function checkArguments(schema: TSchema, prepared: unknown): CheckedArguments {
  const check = validatorOf(schema);
  // Coercion is for what a model got nearly right ("3" for 3); what is right already is left alone.
  const value = check(prepared) ? prepared : Convert(schema, Clone(prepared));
  if (!check(value)) {
    const issue = issueOf(schema, value);
    if (issue === undefined) return { refusal: "they do not satisfy the schema of the tool" };
    return { refusal: `${issue.path || "they"} should be ${issue.expected}, and found was ${issue.found}` };
  }
  const detached = detachJson(value);
  return isJsonObject(detached) ? { arguments: detached } : { refusal: "they are no JSON object" };
}

/** Whether a message may be stored, under the schemas of whoever asks. */
export type AdmitMessage = <Message extends object>(message: Message) => Result<Message, ShapeIssue>;

/** What a tool returned, as it may be stored. */
export function returnedResult(
  admit: AdmitMessage,
  call: ToolCallContent,
  result: unknown,
  nowMs: number,
  isError = false,
): ToolResultMessage {
  const unstorable = (why: string) =>
    errorToolResult(call, `The result of ${call.name} could not be stored: ${why}.`, nowMs);
  if (typeof result !== "object" || result === null) {
    return unstorable("it is no object with content and details");
  }
  const refused = (why: string) => {
    const kept = validUsage(readOr(() => (result as Partial<AgentToolResult>).usage));
    return kept ? { ...unstorable(why), usage: kept } : unstorable(why);
  };
  let given: Pick<Partial<AgentToolResult>, "content" | "details" | "usage" | "addedToolNames">;
  try {
    const { content, details, usage, addedToolNames } = result as Partial<AgentToolResult>;
    given = { content, details, usage, addedToolNames } as typeof given;
  } catch (error) {
    return refused(`it cannot be read: ${messageOf(error)}`);
  }
  const { content, details, usage, addedToolNames } = given;
  const admitted = admit({
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: content ?? [],
    ...(details === undefined ? {} : { details }),
    ...(usage === undefined ? {} : { usage }),
    ...(addedToolNames === undefined ? {} : { addedToolNames }),
    isError,
    timestamp: nowMs,
  });
  if (admitted.ok) return admitted.value as ToolResultMessage;
  const { path, expected, found } = admitted.error;
  return refused(`${path || "it"} should be ${expected}, and is ${found}`);
}

/** A usage that can stand in the ledger by itself, detached; otherwise undefined. */
export function validUsage(usage: unknown): Usage | undefined {
  if (usage === undefined) return undefined;
  try {
    const admitted = detachJson(usage);
    const issue = validateUsageRowDraft({ id: "usage", usage: admitted, adjustment: false });
    return issue ? undefined : (admitted as Usage);
  } catch (error) {
    if (error instanceof NotJson) return undefined;
    throw error;
  }
}

/** Compiled once per schema object, however many harnesses come and go. */
const validators = new WeakMap<TSchema, (value: unknown) => boolean>();

function validatorOf(schema: TSchema): (value: unknown) => boolean {
  let check = validators.get(schema);
  if (!check) {
    const compiled = Compile(schema);
    check = (value) => compiled.Check(value);
    validators.set(schema, check);
  }
  return check;
}

/** A mutable copy of a JSON value. */
export function copyJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson) as T;
  const copy: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    Object.defineProperty(copy, key, {
      value: copyJson(member),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return copy as T;
}
