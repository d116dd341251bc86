/**
 * The stages of a tool call in an agent loop, for whoever drives one without a session (spec §5.7). Nothing here is durable,
 * and nothing is thrown because of a tool, or of a callback that is asked. Who keeps what happens (`onToolStart`,
 * `onToolResult`, the sink) is waited for, and ends the batch by rejecting.
 *
 * A call is *prepared* (look-up, `prepareArguments`, validation, `beforeToolCall` with validation of what it replaces),
 * *executed*, and *finalized* (`afterToolCall`). What is refused before its execution is an immediate result: one text
 * block, `details: {}`, an error. In `executeToolBatch` preparation and dispatch go in source order, executions side by side
 * unless one tool of the batch is sequential, finalization in source order; the calls of a response that reached its
 * output limit are answered and not executed. The batch terminates only if every result of it does.
 */
import {
  type AgentTool,
  type AgentToolResult,
  type AgentToolUpdate,
  type JsonObject,
  NO_CUSTOM_SCHEMAS,
  type SettledAssistantMessage,
  type ToolCallContent,
  type ToolExecutionMode,
  type ToolResultMessage,
} from "../model/index.ts";
import { syntheticToolText, toolCallsOf } from "../operation/index.ts";
import { admitMessage } from "../session/index.ts";
import type { AgentEventSink } from "./agent-events.ts";
import { messageOf } from "./errors.ts";
import type { HookMap } from "./hooks.ts";
import { inSpan, type TelemetryContext } from "./telemetry.ts";
import {
  type AdmitMessage,
  checkArguments,
  copyJson,
  preparedArguments,
  returnedResult,
} from "./tool-call.ts";

/** A call that may be executed. */
export interface PreparedToolCall {
  readonly kind: "prepared";
  readonly toolCall: ToolCallContent;
  readonly tool: AgentTool;
  readonly args: JsonObject;
}

/** The result of a call that is not executed. */
export interface ImmediateOutcome {
  readonly kind: "immediate";
  readonly result: AgentToolResult;
  readonly isError: true;
  readonly terminate: boolean;
}

export interface ExecutedToolCall {
  readonly result: AgentToolResult;
  readonly isError: boolean;
}

export interface FinalizedToolCall extends ExecutedToolCall {
  readonly toolCall: ToolCallContent;
  readonly terminate: boolean;
}

export interface ToolCallbacks {
  beforeToolCall?(call: ToolCallContent, args: JsonObject): Promise<HookMap["before_tool"]["result"]>;
  afterToolCall?(
    call: ToolCallContent,
    args: JsonObject,
    result: AgentToolResult,
    isError: boolean,
  ): Promise<HookMap["after_tool"]["result"]>;
  /** Executes in the place of the tool. */
  executeTool?(call: PreparedToolCall): Promise<ExecutedToolCall>;
  /** With the effective arguments, before the execution. */
  onToolStart?(call: ToolCallContent, effectiveArgs: JsonObject): Promise<void>;
  /** With the final message. */
  onToolResult?(call: ToolCallContent, message: ToolResultMessage, terminate: boolean): Promise<void>;
}

/** The first stage: may the call be executed, and with which arguments? */
export async function prepareToolCall(
  toolCall: ToolCallContent,
  tools: readonly AgentTool[],
  callbacks: ToolCallbacks,
  telemetry: TelemetryContext,
  signal: AbortSignal,
): Promise<PreparedToolCall | ImmediateOutcome> {
  const tool = tools.find(({ name }) => name === toolCall.name);
  if (tool === undefined) {
    const activeToolNames = tools.map(({ name }) => name);
    return immediate(syntheticToolText(toolCall.name, { kind: "unknown_tool", activeToolNames }));
  }
  if (signal.aborted) return immediate(syntheticToolText(toolCall.name, { kind: "cancelled" }));
  const checked = preparedArguments(tool, toolCall.arguments);
  if ("refusal" in checked) return refused(toolCall, checked.refusal);
  if (callbacks.beforeToolCall === undefined)
    return { kind: "prepared", toolCall, tool, args: checked.arguments };
  const span = telemetry.start("pi.harness.hook", { "pi.harness.hook_name": "before_tool" });
  try {
    const answer = await inSpan(span, async () =>
      callbacks.beforeToolCall?.(toolCall, copyJson(checked.arguments)),
    );
    if (answer?.block) return immediate(messageOf(answer.block.reason), answer.block.terminate === true);
    if (answer?.args === undefined) return { kind: "prepared", toolCall, tool, args: checked.arguments };
    const again = checkArguments(tool.parameters, answer.args);
    if ("refusal" in again) return refused(toolCall, again.refusal);
    return { kind: "prepared", toolCall, tool, args: again.arguments };
  } catch (error) {
    return immediate(messageOf(error));
  }
}

/** The second stage: the effect. A tool that throws is a result with `isError`. */
export function executeToolCall(
  { toolCall, tool, args }: PreparedToolCall,
  emit: AgentEventSink,
  telemetry: TelemetryContext,
  signal: AbortSignal,
): Promise<ExecutedToolCall> {
  const site = { toolCallId: toolCall.id, toolName: toolCall.name };
  const span = telemetry.start("pi.harness.tool", {
    "pi.harness.tool_name": toolCall.name,
    "pi.harness.tool_call_id": toolCall.id,
    "pi.harness.is_replay": false,
  });
  let isSettled = false;
  const update: AgentToolUpdate = (partialResult) => {
    if (isSettled) return;
    const telling = async () => emit({ type: "tool_execution_update", ...site, args, partialResult });
    // A tool does not wait for who listens, and does not fail with them.
    telling().catch(() => undefined);
  };
  const work = async (): Promise<ExecutedToolCall> => {
    try {
      return {
        result: await tool.execute(toolCall.id, copyJson(args) as never, signal, update),
        isError: false,
      };
    } catch (error) {
      return { result: textResult(messageOf(error)), isError: true };
    } finally {
      isSettled = true;
    }
  };
  return inSpan(span, work, ({ isError }) => ({ "pi.harness.is_error": isError }));
}

/** The third stage: the last word on the result. A callback that throws makes it an error. */
export async function finalizeToolCall(
  { toolCall, args }: PreparedToolCall,
  executed: ExecutedToolCall,
  callbacks: ToolCallbacks,
  telemetry: TelemetryContext,
  signal: AbortSignal,
): Promise<FinalizedToolCall> {
  const { result, isError } = executed;
  // A tool may answer anything.
  const terminate = (result as AgentToolResult | null | undefined)?.terminate === true;
  const finalized = { toolCall, result, isError, terminate };
  // A result that a cancellation came before asks for nothing.
  if (signal.aborted) return { ...finalized, terminate: false };
  if (callbacks.afterToolCall === undefined) return finalized;
  const span = telemetry.start("pi.harness.hook", { "pi.harness.hook_name": "after_tool" });
  try {
    const patch = await inSpan(span, async () =>
      callbacks.afterToolCall?.(toolCall, copyJson(args), result, isError),
    );
    if (patch === undefined) return finalized;
    const { content, details, usage } = patch;
    return {
      toolCall,
      result: {
        ...result,
        ...(content === undefined ? {} : { content }),
        ...(details === undefined ? {} : { details }),
        ...(usage === undefined ? {} : { usage }),
      },
      isError: patch.isError ?? isError,
      terminate: patch.terminate ?? finalized.terminate,
    };
  } catch (error) {
    return { toolCall, result: textResult(messageOf(error)), isError: true, terminate: false };
  }
}

/** The calls of a response, from the first to the last stage; see the module header. */
export async function executeToolBatch(
  response: SettledAssistantMessage,
  tools: readonly AgentTool[],
  options: {
    readonly mode?: ToolExecutionMode;
    readonly callbacks?: ToolCallbacks;
    readonly emit: AgentEventSink;
    readonly telemetryContext: TelemetryContext;
    readonly signal: AbortSignal;
    /** Unix ms, for the messages of the results. */
    nowMs(): number;
  },
): Promise<{
  readonly results: readonly FinalizedToolCall[];
  readonly messages: ToolResultMessage[];
  readonly terminate: boolean;
}> {
  const { callbacks = {}, emit, telemetryContext, signal } = options;
  const calls = toolCallsOf(response);
  const isTruncated = response.stopReason === "length";
  const isSequential =
    options.mode === "sequential" ||
    calls.some(({ name }) => tools.find((tool) => tool.name === name)?.executionMode === "sequential");
  const results: FinalizedToolCall[] = [];
  const messages: ToolResultMessage[] = [];
  const dispatch = async (toolCall: ToolCallContent): Promise<() => Promise<FinalizedToolCall>> => {
    const prepared = isTruncated
      ? immediate(syntheticToolText(toolCall.name, { kind: "truncated" }))
      : await prepareToolCall(toolCall, tools, callbacks, telemetryContext, signal);
    if (prepared.kind === "immediate") return async () => ({ toolCall, ...prepared });
    const { args } = prepared;
    await callbacks.onToolStart?.(toolCall, args);
    await emit({ type: "tool_execution_start", toolCallId: toolCall.id, toolName: toolCall.name, args });
    const executing =
      callbacks.executeTool?.(prepared) ?? executeToolCall(prepared, emit, telemetryContext, signal);
    executing.catch(() => undefined);
    return async () => {
      const executed = await executing.catch((error: unknown) => ({
        result: textResult(messageOf(error)),
        isError: true,
      }));
      const finalized = await finalizeToolCall(prepared, executed, callbacks, telemetryContext, signal);
      const { result, isError } = finalized;
      await emit({
        type: "tool_execution_end",
        toolCallId: toolCall.id,
        toolName: toolCall.name,
        result,
        isError,
      });
      return finalized;
    };
  };
  const settle = async (finish: () => Promise<FinalizedToolCall>) => {
    const finalized = await finish();
    const { toolCall, result, isError } = finalized;
    const message = returnedResult(admit, toolCall, result, options.nowMs(), isError);
    results.push(finalized);
    messages.push(message);
    await emit({ type: "message_start", message });
    await emit({ type: "message_end", message });
    await callbacks.onToolResult?.(finalized.toolCall, message, finalized.terminate);
  };
  const dispatched: (() => Promise<FinalizedToolCall>)[] = [];
  for (const call of calls) {
    const finish = await dispatch(call);
    if (isSequential) await settle(finish);
    else dispatched.push(finish);
  }
  for (const finish of dispatched) await settle(finish);
  return { results, messages, terminate: results.length > 0 && results.every(({ terminate }) => terminate) };
}

const admit: AdmitMessage = (message) => admitMessage(message, NO_CUSTOM_SCHEMAS);

function refused({ name }: ToolCallContent, message: string): ImmediateOutcome {
  return immediate(syntheticToolText(name, { kind: "arguments_refused", message }));
}

function immediate(text: string, terminate = false): ImmediateOutcome {
  return { kind: "immediate", result: textResult(text), isError: true, terminate };
}

function textResult(text: string): AgentToolResult {
  return { content: [{ type: "text", text }], details: {} };
}
