/**
 * The building blocks of an agent loop, for whoever drives one without a session (spec §5.7): one request, and the three
 * stages of a tool call. Nothing here is durable, and nothing is thrown because of a provider, a tool or a callback.
 *
 * A call is *prepared* (look-up, `prepareArguments`, validation, `beforeToolCall` with validation of what it replaces),
 * *executed*, and *finalized* (`afterToolCall`). What is refused before its execution is an immediate result: one text
 * block, `details: {}`, an error. In `executeToolBatch` preparation and dispatch go in source order, executions side by side
 * unless one tool of the batch is sequential, finalization in source order; the calls of a response that reached its
 * output limit are answered and not executed. The batch terminates only if every result of it does.
 */
import type {
  AgentMessage,
  AgentTool,
  AgentToolResult,
  AgentToolUpdate,
  AssistantMessage,
  AssistantMessageEvent,
  JsonObject,
  Message,
  Model,
  Models,
  ProviderStreamOptions,
  SettledAssistantMessage,
  ThinkingLevel,
  ToolCallContent,
  ToolExecutionMode,
  ToolResultMessage,
} from "../model/index.ts";
import { validateMessage } from "../model/index.ts";
import { syntheticResponse, syntheticToolText, toolCallsOf } from "../operation/index.ts";
import { detachJson } from "../session/index.ts";
import { messageOf } from "./errors.ts";
import type { HookMap } from "./hooks.ts";
import { repairForProvider } from "./provider-messages.ts";
import { inRequestSpan, inSpan, type TelemetryContext } from "./telemetry.ts";
import { checkArguments } from "./tools.ts";

/** What a loop tells while it goes. */
export type AgentLoopEvent =
  | { type: "message_start" | "message_end"; message: AgentMessage }
  | { type: "message_update"; message: AgentMessage; assistantMessageEvent: AssistantMessageEvent }
  | { type: "tool_execution_start"; toolCallId: string; toolName: string; args: JsonObject }
  | {
      type: "tool_execution_update";
      toolCallId: string;
      toolName: string;
      args: JsonObject;
      partialResult: AgentToolResult;
    }
  | {
      type: "tool_execution_end";
      toolCallId: string;
      toolName: string;
      result: AgentToolResult;
      isError: boolean;
    };

/** Takes the events of a loop, and is waited for. */
export type AgentEventSink = (event: AgentLoopEvent) => void | Promise<void>;

export interface StreamAssistantConfig {
  model: Model;
  thinkingLevel: ThinkingLevel;
  systemPrompt?: string;
  tools?: readonly AgentTool[];
  transformContext?: (messages: AgentMessage[], signal: AbortSignal) => Promise<AgentMessage[]>;
  toProviderMessages: (messages: AgentMessage[]) => Message[] | Promise<Message[]>;
  models: Models;
  streamOptions?: Omit<ProviderStreamOptions, "signal" | "onPayload" | "onResponse" | "telemetryContext">;
  /** `undefined` keeps the payload. */
  transformPayload?: (payload: unknown, model: Model) => unknown | Promise<unknown>;
  /** The last word on the response, before `message_end`. */
  transformResponse?: (
    message: SettledAssistantMessage,
    metadata: { status?: number; headers?: Record<string, string> },
  ) => Promise<SettledAssistantMessage>;
  telemetryContext: TelemetryContext;
  signal: AbortSignal;
}

/** One request: streams it to the sink and answers the settled response. A failure is a response with `error`. */
export async function streamAssistant(
  messages: readonly AgentMessage[],
  config: StreamAssistantConfig,
  emit: AgentEventSink,
): Promise<SettledAssistantMessage> {
  const identity = { provider: config.model.provider, modelId: config.model.id };
  const seen: { status?: number; headers?: Record<string, string> } = {};
  let isStarted = false;
  const start = async (message: AgentMessage) => {
    if (isStarted) return;
    isStarted = true;
    await emit({ type: "message_start", message });
  };
  const answer = await inRequestSpan(
    config.telemetryContext,
    identity,
    "stream",
    async (telemetryContext) => {
      const { model, models, tools = [], systemPrompt, signal } = config;
      const transformed = (await config.transformContext?.([...messages], signal)) ?? [...messages];
      const converted = repairForProvider(await config.toProviderMessages(transformed), model);
      const context = {
        ...(systemPrompt === undefined ? {} : { systemPrompt }),
        messages: converted,
        ...(tools.length === 0
          ? {}
          : { tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })) }),
      };
      const { transformPayload, thinkingLevel } = config;
      const stream = models.streamSimple(model, context, {
        ...config.streamOptions,
        ...(thinkingLevel === "off" ? {} : { reasoning: thinkingLevel }),
        ...(transformPayload === undefined ? {} : { onPayload: transformPayload }),
        onResponse: ({ status, headers }) => {
          seen.status = status;
          seen.headers = { ...headers };
        },
        telemetryContext,
        signal,
      });
      for await (const event of stream) {
        if (event.type === "done") return event.message;
        if (event.type === "error") return event.error;
        await start(event.partial);
        if (event.type !== "start") {
          await emit({ type: "message_update", message: event.partial, assistantMessageEvent: event });
        }
      }
      return stream.result();
    },
  ).catch((error: unknown) => failed(identity, messageOf(error), messages));
  const settled = settledResponse(answer, config, messages);
  const final = (await config.transformResponse?.(settled, seen)) ?? settled;
  await start(final);
  await emit({ type: "message_end", message: final });
  return final;
}

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
  signal: AbortSignal,
): Promise<PreparedToolCall | ImmediateOutcome> {
  const tool = tools.find(({ name }) => name === toolCall.name);
  if (tool === undefined) {
    const activeToolNames = tools.map(({ name }) => name);
    return immediate(syntheticToolText(toolCall.name, { kind: "unknown_tool", activeToolNames }));
  }
  if (signal.aborted) return immediate(syntheticToolText(toolCall.name, { kind: "cancelled" }));
  try {
    const raw: unknown = structuredClone(toolCall.arguments);
    const checked = checkArguments(tool.parameters, tool.prepareArguments?.(raw) ?? raw);
    if ("refusal" in checked) return refused(toolCall, checked.refusal);
    const answer = await callbacks.beforeToolCall?.(toolCall, structuredClone(checked.arguments));
    if (answer?.block) return immediate(answer.block.reason, answer.block.terminate === true);
    if (answer?.args === undefined) return { kind: "prepared", toolCall, tool, args: checked.arguments };
    const again = checkArguments(tool.parameters, answer.args);
    if ("refusal" in again) return refused(toolCall, again.refusal);
    return { kind: "prepared", toolCall, tool, args: again.arguments };
  } catch (error) {
    return refused(toolCall, messageOf(error));
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
    if (!isSettled) void emit({ type: "tool_execution_update", ...site, args, partialResult });
  };
  const work = async (): Promise<ExecutedToolCall> => {
    try {
      return {
        result: await tool.execute(toolCall.id, structuredClone(args) as never, signal, update),
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
): Promise<FinalizedToolCall> {
  const { result, isError } = executed;
  const finalized = { toolCall, result, isError, terminate: result.terminate === true };
  try {
    const patch = await callbacks.afterToolCall?.(toolCall, structuredClone(args), result, isError);
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
      : await prepareToolCall(toolCall, tools, callbacks, signal);
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
      const finalized = await finalizeToolCall(prepared, executed, callbacks);
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
    const message = resultMessage(finalized, options.nowMs());
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

function resultMessage({ toolCall, result, isError }: FinalizedToolCall, nowMs: number): ToolResultMessage {
  const { content = [], details, usage, addedToolNames } = result;
  const message = {
    ...{
      role: "toolResult",
      toolCallId: toolCall.id,
      toolName: toolCall.name,
      content,
      isError,
      timestamp: nowMs,
    },
    ...(details === undefined ? {} : { details }),
    ...(usage === undefined ? {} : { usage }),
    ...(addedToolNames === undefined ? {} : { addedToolNames }),
  };
  try {
    const detached = detachJson(message);
    if (validateMessage(detached) === undefined) return detached as ToolResultMessage;
  } catch {
    // Not JSON: said below, like every other result that cannot be stored.
  }
  const { id: toolCallId, name: toolName } = toolCall;
  const said = textResult(`The result of ${toolName} could not be stored.`).content ?? [];
  return {
    role: "toolResult",
    toolCallId,
    toolName,
    content: said,
    details: {},
    isError: true,
    timestamp: nowMs,
  };
}

function settledResponse(
  answer: AssistantMessage | undefined,
  { model, signal }: StreamAssistantConfig,
  messages: readonly AgentMessage[],
): SettledAssistantMessage {
  const identity = { provider: model.provider, modelId: model.id };
  if (answer === undefined) return failed(identity, "the stream ended without a response", messages);
  if (answer.stopReason === "pending") {
    return { ...answer, stopReason: "error", errorMessage: "the stream ended without a stop reason" };
  }
  if (answer.stopReason === "aborted" && !signal.aborted) {
    return {
      ...answer,
      stopReason: "error",
      errorMessage: "the provider reported an abort that nobody asked for",
    };
  }
  return answer as SettledAssistantMessage;
}

/** There is no clock here: what stands in for a response has the time of what it would have answered. */
function failed(
  model: { provider: string; modelId: string },
  errorMessage: string,
  messages: readonly AgentMessage[],
): SettledAssistantMessage {
  return syntheticResponse({
    model,
    stopReason: "error",
    errorMessage,
    nowMs: messages.at(-1)?.timestamp ?? 0,
  });
}

function refused({ name }: ToolCallContent, message: string): ImmediateOutcome {
  return immediate(syntheticToolText(name, { kind: "arguments_refused", message }));
}

function immediate(text: string, terminate = false): ImmediateOutcome {
  return { kind: "immediate", result: textResult(text), isError: true, terminate };
}

function textResult(text: string): AgentToolResult {
  return { content: [{ type: "text", text }], details: {} };
}
