/**
 * The scripted world as the registry of models that a harness asks: one provider, one model, answers by turn.
 *
 * The turn of a request is the number of assistant messages in its context, and that of a poll stands in its handle. The
 * ask is one more than the failed and deferred answers that the turn has settled already, so that an answer that was
 * lost in a crash is given again.
 */
import {
  type Moment,
  ScriptExhausted,
  type ScriptedReply,
  type ScriptedUsage,
  type World,
  type WorldAccess,
} from "../../faults/index.ts";
import type {
  AssistantMessage,
  AssistantMessageEvent,
  AssistantMessageEventStream,
  DeferredFetchOptions,
  DeferredHandle,
  Entry,
  Model,
  Models,
  ProviderContext,
  ProviderStreamOptions,
  Usage,
} from "../../model/index.ts";

/** The one model of the scripted world. */
export const SCRIPTED_MODEL: Model = {
  id: "scripted-1",
  name: "Scripted",
  api: "scripted",
  provider: "scripted",
  baseUrl: "scripted:",
  reasoning: false,
  input: ["text"],
  cost: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
  contextWindow: 1_000_000,
  maxTokens: 8_192,
};

/** What the adapters of a life pass through: the world, and the application, which may have something to say. */
export interface LifeAccess extends WorldAccess {
  /** Called once an effect has happened, before it answers; resolves when the application is done. */
  readonly during?: (moment: Moment) => Promise<void>;
}

/**
 * Answers that are settled and leave their turn open, by turn: what the next ask of each turn depends on. A cancelled one
 * counts also where it stands in for an answer that is lost, because nobody asks for that again.
 */
export function settledAsks(entries: readonly Entry[]): Map<number, number> {
  const asks = new Map<number, number>();
  let turn = 0;
  for (const entry of entries) {
    if (entry.type !== "message" || entry.message.role !== "assistant") continue;
    const isCancelled = entry.message.stopReason === "aborted";
    if (!leavesTurnOpen(entry.message)) turn++;
    else if (isCancelled || !isSynthetic(entry.message)) asks.set(turn, (asks.get(turn) ?? 0) + 1);
  }
  return asks;
}

/** The registry. `asks` as {@link settledAsks} counted them when the life began; it is kept up to date. */
export class ScriptedModels implements Models {
  readonly #world: World;
  readonly #access: LifeAccess;
  #asks: Map<number, number>;

  constructor(world: World, access: LifeAccess, asks: Map<number, number>) {
    this.#world = world;
    this.#access = access;
    this.#asks = asks;
  }

  /** Takes over what {@link settledAsks} counts now. */
  recount(asks: Map<number, number>): void {
    this.#asks = asks;
  }

  /** The newest ask that failed: a run that waits to try again waits because of it. */
  get lastFailure(): { readonly turn: number; readonly ask: number } | undefined {
    const turn = Math.max(...this.#asks.keys());
    const ask = this.#asks.get(turn);
    return ask === undefined ? undefined : { turn, ask };
  }

  getModel(provider: string, id: string): Model | undefined {
    return provider === SCRIPTED_MODEL.provider && id === SCRIPTED_MODEL.id ? SCRIPTED_MODEL : undefined;
  }

  getProvider(id: string): { id: string } | undefined {
    return id === SCRIPTED_MODEL.provider ? { id } : undefined;
  }

  getModels(): readonly Model[] {
    return [SCRIPTED_MODEL];
  }

  streamSimple(
    model: Model,
    context: ProviderContext,
    options?: ProviderStreamOptions,
  ): AssistantMessageEventStream {
    return new SettledStream(this.#answer(model, context, options?.signal));
  }

  completeSimple(
    model: Model,
    context: ProviderContext,
    options?: ProviderStreamOptions,
  ): Promise<AssistantMessage> {
    return this.#answer(model, context, options?.signal);
  }

  fetchDeferred(
    model: Model,
    handle: DeferredHandle,
    options?: DeferredFetchOptions,
  ): Promise<AssistantMessage> {
    const { turn } = jobDataOf(handle);
    const send = (ask: number) => this.#world.poll(this.#access, turn, ask);
    return this.#ask(model, turn, send, { signal: options?.signal, polled: handle });
  }

  cancelDeferred(_model: Model, { id }: DeferredHandle): Promise<void> {
    return this.#world.cancelJob(this.#access, id);
  }

  #answer(
    model: Model,
    context: ProviderContext,
    signal: AbortSignal | undefined,
  ): Promise<AssistantMessage> {
    const turn = context.messages.filter((message) => message.role === "assistant").length;
    return this.#ask(model, turn, (ask) => this.#world.request(this.#access, turn, ask), { signal });
  }

  async #ask(
    model: Model,
    turn: number,
    send: (ask: number) => Promise<ScriptedReply>,
    { signal, polled }: { readonly signal: AbortSignal | undefined; readonly polled?: DeferredHandle },
  ): Promise<AssistantMessage> {
    const ask = (this.#asks.get(turn) ?? 0) + 1;
    const nowMs = () => this.#world.clock.now();
    try {
      const reply = await send(ask);
      await this.#access.during?.({ turn, ask });
      const isCancelled = signal?.aborted === true;
      if (leavesTurnOpen(reply) || isCancelled) this.#asks.set(turn, ask);
      const message = assistantMessage(model, reply, nowMs());
      if (isCancelled) return { ...message, stopReason: "aborted", errorMessage: "aborted" };
      if (reply.job === undefined) return message;
      // A job that is still pending is named by the very handle that was polled.
      const isPolled = reply.job.id === polled?.id;
      return { ...message, deferred: isPolled ? polled : handleOf(model, reply.job, turn, nowMs()) };
    } catch (error) {
      if (!(error instanceof ScriptExhausted)) throw error;
      const usage = { input: 0, output: 0 };
      return assistantMessage(model, { stopReason: "error", errorMessage: error.message, usage }, nowMs());
    }
  }
}

/** A failed answer is asked for again, a cancelled one by the next run, a deferred one polled: the turn stays. */
function leavesTurnOpen({ stopReason }: { readonly stopReason: string }): boolean {
  return stopReason === "error" || stopReason === "aborted" || stopReason === "deferred";
}

/** Tokens of the script as a usage: a millionth of a dollar a token. */
export function usageOf({ input, output }: ScriptedUsage): Usage {
  const cost = { input: input / 1e6, output: output / 1e6, cacheRead: 0, cacheWrite: 0 };
  return {
    input,
    output,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: input + output,
    cost: { ...cost, total: (input + output) / 1e6 },
  };
}

function assistantMessage(model: Model, reply: ScriptedReply, timestamp: number): AssistantMessage {
  return {
    role: "assistant",
    content: [
      ...(reply.text === undefined ? [] : [{ type: "text" as const, text: reply.text }]),
      ...(reply.toolCalls ?? []).map(({ id, name, arguments: args }) => ({
        type: "toolCall" as const,
        id,
        name,
        arguments: { ...args },
      })),
    ],
    api: model.api,
    provider: model.provider,
    model: model.id,
    responseId: RESPONSE_ID,
    usage: usageOf(reply.usage),
    stopReason: reply.stopReason,
    ...(reply.errorMessage === undefined ? {} : { errorMessage: reply.errorMessage }),
    timestamp,
  };
}

function handleOf(
  { api, provider, id: modelId }: Model,
  { id, takesMs }: NonNullable<ScriptedReply["job"]>,
  turn: number,
  nowMs: number,
): DeferredHandle {
  return { provider, modelId, api, id, data: { turn, notBefore: nowMs + takesMs } };
}

/** What a scripted handle says beside its id: the turn that the job answers, and when it should be done (Unix ms). */
export function jobDataOf({ data }: DeferredHandle): { readonly turn: number; readonly notBefore: number } {
  return data as { turn: number; notBefore: number };
}

/** Marks what the scripted provider really answered; a synthetic settlement has no response id. */
const RESPONSE_ID = "scripted";

function isSynthetic(message: AssistantMessage): boolean {
  return message.responseId !== RESPONSE_ID;
}

/** A stream whose events are made from the final message. */
class SettledStream implements AssistantMessageEventStream {
  readonly #message: Promise<AssistantMessage>;

  constructor(message: Promise<AssistantMessage>) {
    this.#message = message;
    // Whoever reads the stream sees the rejection; a stream that nobody reads must not end the process.
    message.catch(() => undefined);
  }

  result(): Promise<AssistantMessage> {
    return this.#message;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<AssistantMessageEvent> {
    const message = await this.#message;
    yield { type: "start", partial: { ...message, content: [], stopReason: "pending" } };
    switch (message.stopReason) {
      case "error":
      case "aborted":
        yield { type: "error", reason: message.stopReason, error: message };
        return;
      case "pending":
        return;
      default:
        yield { type: "done", reason: message.stopReason, message };
    }
  }
}
