/**
 * One request of an agent loop, for whoever drives one without a session (spec §5.7). Nothing here is durable, and nothing
 * is thrown because of a provider or a callback: a failure is a response with `error`, and a last word on a response that
 * fails is not had.
 */
import {
  type AgentMessage,
  type AgentTool,
  type AssistantMessage,
  type Message,
  type Model,
  type Models,
  NO_CUSTOM_SCHEMAS,
  type ProviderStreamOptions,
  type SettledAssistantMessage,
  type ThinkingLevel,
} from "../model/index.ts";
import { syntheticResponse } from "../operation/index.ts";
import { admitMessage } from "../session/index.ts";
import type { AgentEventSink } from "./agent-events.ts";
import { messageOf } from "./errors.ts";
import { type FailedResponse, offeredTool, settledForm, streamToEnd } from "./provider-answer.ts";
import { repairForProvider } from "./provider-messages.ts";
import { inRequestSpan, type TelemetryContext } from "./telemetry.ts";
import { validUsage } from "./tool-call.ts";

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

/** One request: streams it to the sink and answers the settled response. */
export async function streamAssistant(
  messages: readonly AgentMessage[],
  config: StreamAssistantConfig,
  emit: AgentEventSink,
): Promise<SettledAssistantMessage> {
  const { model, signal } = config;
  const failed = failedAfter(messages, model);
  const seen: { status?: number; headers?: Record<string, string> } = {};
  let isStarted = false;
  const start = async (message: AgentMessage) => {
    if (isStarted) return;
    isStarted = true;
    await emit({ type: "message_start", message });
  };
  const identity = { provider: model.provider, modelId: model.id };
  const send = async (telemetryContext: TelemetryContext): Promise<AssistantMessage | undefined> => {
    const { context, options } = await requestOf(messages, config, (response) =>
      Object.assign(seen, response),
    );
    const stream = config.models.streamSimple(model, context, { ...options, telemetryContext });
    return streamToEnd(stream, async (event) => {
      await start(event.partial);
      if (event.type === "start") return;
      await emit({ type: "message_update", message: event.partial, assistantMessageEvent: event });
    });
  };
  const settled = await inRequestSpan(config.telemetryContext, identity, "stream", send).then(
    (answer) =>
      answer === undefined
        ? failed("the stream ended without a response")
        : settledForm((message) => admitMessage(message, NO_CUSTOM_SCHEMAS), signal, answer, failed),
    (error: unknown) => failed(messageOf(error)),
  );
  const final = await Promise.resolve(config.transformResponse?.(settled, seen)).then(
    (transformed) => transformed ?? settled,
    () => settled,
  );
  await start(final);
  await emit({ type: "message_end", message: final });
  return final;
}

/** What is sent, and how. */
async function requestOf(
  messages: readonly AgentMessage[],
  config: StreamAssistantConfig,
  responded: (response: { status: number; headers: Record<string, string> }) => void,
) {
  const { tools = [], systemPrompt, signal, transformPayload, thinkingLevel, model } = config;
  const transformed = (await config.transformContext?.([...messages], signal)) ?? [...messages];
  const converted = repairForProvider(await config.toProviderMessages(transformed), model);
  const context = {
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    messages: converted,
    ...(tools.length === 0 ? {} : { tools: tools.map(offeredTool) }),
  };
  const options: ProviderStreamOptions = {
    ...config.streamOptions,
    ...(thinkingLevel === "off" ? {} : { reasoning: thinkingLevel }),
    ...(transformPayload === undefined ? {} : { onPayload: transformPayload }),
    onResponse: ({ status, headers }) => responded({ status, headers: { ...headers } }),
    signal,
  };
  return { context, options };
}

/** There is no clock here: what stands in for a response has the time of what it would have answered. */
function failedAfter(messages: readonly AgentMessage[], { provider, id: modelId }: Model): FailedResponse {
  const nowMs = messages.at(-1)?.timestamp ?? 0;
  return (errorMessage, usage) => {
    const kept = validUsage(usage);
    const model = { provider, modelId };
    return syntheticResponse({
      model,
      stopReason: "error",
      errorMessage,
      nowMs,
      ...(kept ? { usage: kept } : {}),
    });
  };
}
