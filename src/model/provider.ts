/**
 * Providers: models, the registry that dispatches to them, and the events of a streamed response.
 *
 * Live interfaces, nothing stored. The rule that matters to a harness: no failure is thrown. An unknown provider,
 * missing credentials, a broken stream all arrive as an `error` event or an `error` message.
 */
import type { ThinkingLevel } from "./lane.ts";
import type { AssistantMessage, DeferredHandle, Message, StopReason, ToolCallContent } from "./message.ts";
import type { AgentHarnessStreamOptions } from "./settings.ts";
import type { Tool } from "./tool.ts";

/** Prices in USD per million tokens. */
export interface ModelPrices {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}
/** Prices of requests whose input, cached tokens included, is above `inputTokensAbove`. */
export interface ModelPriceTier extends ModelPrices {
  inputTokensAbove: number;
}

/** A model of the registry. Its durable identity is `{provider, modelId}`, with `modelId` = `id`. */
export interface Model {
  id: string;
  name: string;
  api: string;
  provider: string;
  baseUrl: string;
  reasoning: boolean;
  /** The provider's value for a level; `null` marks a level that the model does not support. */
  thinkingLevelMap?: Partial<Record<ThinkingLevel, string | null>>;
  input: ("text" | "image")[];
  cost: ModelPrices & { tiers?: ModelPriceTier[] };
  /** Tokens. */
  contextWindow: number;
  /** The largest output, in tokens. */
  maxTokens: number;
  samplingParams?: unknown;
  headers?: Record<string, string>;
  compat?: unknown;
}

/** What a provider is asked with. */
export interface ProviderContext {
  systemPrompt?: string;
  messages: Message[];
  tools?: Tool[];
}

/** Options of one request: the curated, durable ones and what only a live request can carry. */
export interface ProviderStreamOptions extends Omit<AgentHarnessStreamOptions, "headers"> {
  signal?: AbortSignal;
  telemetryContext?: unknown;
  apiKey?: string;
  env?: Record<string, string | undefined>;
  /** `null` suppresses a default header. */
  headers?: Record<string, string | null>;
  /** Sees the wire payload and may replace it; `undefined` keeps it. */
  onPayload?: (payload: unknown, model: Model) => unknown | Promise<unknown>;
  onResponse?: (
    response: { status: number; headers: Record<string, string> },
    model: Model,
  ) => void | Promise<void>;
  temperature?: number;
  maxTokens?: number;
  sessionId?: string;
  /** Omitted for the level `off`. */
  reasoning?: Exclude<ThinkingLevel, "off">;
}

/** Options of one poll; `wait` is in ms, 0 checks once. */
export interface DeferredFetchOptions extends ProviderStreamOptions {
  wait?: number;
}

/** A registered provider, as far as the registry shows it. */
export interface Provider {
  id: string;
}

/** The registry of models: the minimum that a harness needs. */
export interface Models {
  getModel(provider: string, id: string): Model | undefined;
  getProvider(id: string): Provider | undefined;
  /** A provider that throws lists nothing. */
  getModels(provider?: string): readonly Model[];
  /** Returns the stream at once; credentials are resolved inside. */
  streamSimple(
    model: Model,
    context: ProviderContext,
    options?: ProviderStreamOptions,
  ): AssistantMessageEventStream;
  /** The final message of a stream. */
  completeSimple(
    model: Model,
    context: ProviderContext,
    options?: ProviderStreamOptions,
  ): Promise<AssistantMessage>;
  /** Asks once for a deferred job; failures come in-band as `error`. */
  fetchDeferred(
    model: Model,
    handle: DeferredHandle,
    options?: DeferredFetchOptions,
  ): Promise<AssistantMessage>;
  /** Best effort; may reject. */
  cancelDeferred(model: Model, handle: DeferredHandle, options?: ProviderStreamOptions): Promise<void>;
}

/** Every event but the last; `partial` is the message so far, with the stop reason `pending`. */
export type AssistantMessageProgressEvent = { partial: AssistantMessage } & (
  | { type: "start" }
  | { type: "text_start" | "thinking_start" | "toolcall_start"; contentIndex: number }
  | { type: "text_delta" | "thinking_delta" | "toolcall_delta"; contentIndex: number; delta: string }
  | { type: "text_end" | "thinking_end"; contentIndex: number; content: string }
  | { type: "toolcall_end"; contentIndex: number; toolCall: ToolCallContent }
);
/** The one event that ends a stream. */
export type AssistantMessageTerminalEvent =
  | {
      type: "done";
      reason: Extract<StopReason, "stop" | "length" | "toolUse" | "deferred">;
      message: AssistantMessage;
    }
  | { type: "error"; reason: Extract<StopReason, "error" | "aborted">; error: AssistantMessage };
/** One event of a streamed response. */
export type AssistantMessageEvent = AssistantMessageProgressEvent | AssistantMessageTerminalEvent;

/** A streamed response: its events, and the final message. */
export interface AssistantMessageEventStream extends AsyncIterable<AssistantMessageEvent> {
  result(): Promise<AssistantMessage>;
}
