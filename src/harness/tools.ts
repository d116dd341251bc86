/**
 * Tool calls: clearance, execution, result (spec §3.8, §5.7, message-types §9).
 *
 * *Clearance* decides whether a call may be executed and with which arguments: look-up by name, `prepareArguments`,
 * validation against the tool's schema (copy, coerce primitives, check). It may be repeated after a crash, so it
 * touches nothing outside. *Execution* is the effect. The *result* is what is stored of it.
 *
 * Failures before execution are results, not exceptions: the model reads them and goes on. So is a result that cannot
 * be stored: it becomes an error that says what was wrong with it, and keeps the usage if that is valid.
 */
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { Clone, Convert } from "typebox/value";
import { NotJson } from "../foundation/index.ts";
import {
  type AgentToolResult,
  type AgentToolUpdate,
  isJsonObject,
  issueOf,
  type JsonObject,
  type ToolBatch,
  type ToolCallContent,
  type ToolReplay,
  type ToolResultMessage,
  type Usage,
  validateUsageRowDraft,
} from "../model/index.ts";
import {
  errorToolResult,
  type SyntheticToolReason,
  syntheticToolText,
  type ToolSettled,
} from "../operation/index.ts";
import { detachJson } from "../session/index.ts";
import type { BoundBatch, DriveState } from "./drive-state.ts";
import type { ToolExecution, ToolPlan } from "./effects.ts";
import type { AnyTool, Environment, ToolRegistry } from "./environment.ts";
import { messageOf } from "./errors.ts";

/** A call that may be executed, or the reason why it gets a result without. */
export type Clearance =
  | { readonly kind: "cleared"; readonly arguments: JsonObject; readonly replay: ToolReplay }
  | { readonly kind: "refused"; readonly reason: SyntheticToolReason };

/** Clears one call of a batch; see the module header. */
export function clearCall(tools: ToolRegistry, batch: ToolBatch, call: ToolCallContent): Clearance {
  const { activeToolNames } = batch.configuration;
  const tool = activeToolNames.includes(call.name) ? tools.get(call.name) : undefined;
  if (tool === undefined) return { kind: "refused", reason: { kind: "unknown_tool", activeToolNames } };
  try {
    const raw: unknown = copyJson(call.arguments);
    const prepared = tool.prepareArguments ? tool.prepareArguments(raw) : raw;
    const checked = checkArguments(tool.parameters, prepared);
    if ("refusal" in checked) return refusedArguments(checked.refusal);
    return { kind: "cleared", arguments: checked.arguments, replay: tool.replay ?? "never" };
  } catch (error) {
    return refusedArguments(messageOf(error));
  }
}

/** Executes a call whose intent is durable. Never rejects because of the tool. */
export async function executeTool(
  environment: Environment,
  live: DriveState,
  plan: ToolPlan,
  onUpdate: AgentToolUpdate,
): Promise<ToolExecution> {
  const { batch, call } = plan;
  const bound = boundBatch(environment, live, batch.assistantEntryId);
  const tool = bound.tools.get(call.name);
  if (tool === undefined) {
    const { activeToolNames } = batch.configuration;
    return { kind: "synthetic", reason: { kind: "unknown_tool", activeToolNames } };
  }
  bound.context ??= environment.resolveToolContext();
  const context = await bound.context;
  if (live.controller.signal.aborted) return notExecuted(plan);
  let isSettled = false;
  try {
    // A copy: a tool may change what it is given, and what is stored must stay what was committed.
    const parameters = copyJson(plan.arguments);
    const result: unknown = await tool.execute(
      call.id,
      parameters,
      live.controller.signal,
      (partial) => {
        if (!isSettled) onUpdate(partial);
      },
      context,
    );
    return { kind: "returned", result };
  } catch (error) {
    return { kind: "threw", message: messageOf(error) };
  } finally {
    isSettled = true;
  }
}

/** The end of a call that a cancellation kept from being executed by this process. */
export function notExecuted({ isReplay }: ToolPlan): ToolExecution {
  return { kind: "synthetic", reason: { kind: isReplay ? "interrupted" : "cancelled" } };
}

/** The event that settles a call, with the message as it is stored. */
export function toolSettlement(
  environment: Environment,
  settled: {
    readonly call: ToolCallContent;
    readonly sourceIndex: number;
    readonly execution: ToolExecution;
    readonly isCutShort: boolean;
    readonly argumentKeys: readonly string[];
  },
): ToolSettled {
  const { call, sourceIndex, execution, isCutShort, argumentKeys } = settled;
  const { message, usage, ...result } = resultOf(environment, call, execution);
  const terminate = result.terminate && !isCutShort;
  const row = usage && { id: environment.session.idGenerator.next(), usage };
  return {
    kind: "tool_settled",
    sourceIndex,
    message,
    terminate,
    argumentKeys,
    ...(row ? { usage: row } : {}),
  };
}

/** A result as it is stored. */
export interface StoredResult {
  readonly message: ToolResultMessage;
  readonly terminate: boolean;
  readonly usage?: Usage;
}

/** What is stored of an execution. */
export function resultOf(
  environment: Environment,
  call: ToolCallContent,
  execution: ToolExecution,
): StoredResult {
  const nowMs = environment.clock.now();
  const failed = (text: string): StoredResult => ({
    message: errorToolResult(call, text, nowMs),
    terminate: false,
  });
  switch (execution.kind) {
    case "synthetic": {
      const { reason } = execution;
      const terminate = reason.kind === "blocked" && reason.terminate;
      return { ...failed(syntheticToolText(call.name, reason)), terminate };
    }
    case "finalized":
      return execution.result;
    case "threw":
      return failed(execution.message);
    case "returned": {
      const result = execution.result;
      if (typeof result !== "object" || result === null) {
        return failed(
          `The result of ${call.name} could not be stored: it is no object with content and details.`,
        );
      }
      return storedResult(environment, call, result as Partial<AgentToolResult>, nowMs);
    }
  }
}

function storedResult(
  environment: Environment,
  call: ToolCallContent,
  result: Partial<AgentToolResult>,
  nowMs: number,
): StoredResult {
  const { content, details, usage, addedToolNames } = result;
  const admitted = environment.session.admitMessage({
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: content ?? [],
    ...(details === undefined ? {} : { details }),
    ...(usage === undefined ? {} : { usage }),
    ...(addedToolNames === undefined ? {} : { addedToolNames }),
    isError: false,
    timestamp: nowMs,
  });
  if (admitted.ok) {
    const message = admitted.value as ToolResultMessage;
    return {
      message,
      terminate: result.terminate === true,
      ...(message.usage ? { usage: message.usage } : {}),
    };
  }
  const { path, expected, found } = admitted.error;
  const text = `The result of ${call.name} could not be stored: ${path || "it"} should be ${expected}, and is ${found}.`;
  const message = errorToolResult(call, text, nowMs);
  const kept = validUsage(usage);
  return kept
    ? { message: { ...message, usage: kept }, terminate: false, usage: kept }
    : { message, terminate: false };
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

/** Arguments as a tool takes them: coerced where a model got them nearly right, and checked. */
export function checkArguments(
  schema: TSchema,
  prepared: unknown,
): { readonly arguments: JsonObject } | { readonly refusal: string } {
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

function refusedArguments(message: string): Clearance {
  return { kind: "refused", reason: { kind: "arguments_refused", message } };
}

/** What a batch is bound to; tools that are set later are for later batches. */
export function boundBatch({ tools }: Environment, live: DriveState, assistantEntryId: string): BoundBatch {
  if (live.toolBatch?.assistantEntryId !== assistantEntryId) {
    live.toolBatch = { assistantEntryId, tools, context: undefined };
  }
  return live.toolBatch;
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
function copyJson<T>(value: T): T {
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

export type { AnyTool };
