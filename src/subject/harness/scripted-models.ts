/**
 * The scripted world as the registry of models that a harness asks: one provider, one model, answers by turn.
 *
 * The turn of a request is the number of assistant messages in its context; the ask is one more than the failed
 * answers that the turn has settled already, so that an answer that was lost in a crash is given again.
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
  Entry,
  Model,
  Models,
  ProviderContext,
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

/** Failed answers that are settled in a session, by turn: what the next ask of each turn depends on. */
export function settledFailures(entries: readonly Entry[]): Map<number, number> {
  const failures = new Map<number, number>();
  let turn = 0;
  for (const entry of entries) {
    if (entry.type !== "message" || entry.message.role !== "assistant") continue;
    if (entry.message.stopReason !== "error") turn++;
    else if (!isSynthetic(entry.message)) failures.set(turn, (failures.get(turn) ?? 0) + 1);
  }
  return failures;
}

/** The registry. `failures` as {@link settledFailures} counted them when the life began; it is kept up to date. */
export class ScriptedModels implements Models {
  readonly #world: World;
  readonly #access: LifeAccess;
  readonly #failures: Map<number, number>;

  constructor(world: World, access: LifeAccess, failures: Map<number, number>) {
    this.#world = world;
    this.#access = access;
    this.#failures = failures;
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

  streamSimple(model: Model, context: ProviderContext): AssistantMessageEventStream {
    return new SettledStream(this.#answer(model, context));
  }

  completeSimple(model: Model, context: ProviderContext): Promise<AssistantMessage> {
    return this.#answer(model, context);
  }

  fetchDeferred(): Promise<AssistantMessage> {
    return Promise.reject(new Error("no scenario scripts a deferred answer"));
  }

  cancelDeferred(): Promise<void> {
    return Promise.reject(new Error("no scenario scripts a deferred answer"));
  }

  async #answer(model: Model, context: ProviderContext): Promise<AssistantMessage> {
    const turn = context.messages.filter((message) => message.role === "assistant").length;
    const ask = (this.#failures.get(turn) ?? 0) + 1;
    try {
      const reply = await this.#world.request(this.#access, turn, ask);
      await this.#access.during?.({ turn, ask });
      if (reply.stopReason === "error") this.#failures.set(turn, ask);
      return assistantMessage(model, reply, this.#world.clock.now());
    } catch (error) {
      if (!(error instanceof ScriptExhausted)) throw error;
      return assistantMessage(
        model,
        { stopReason: "error", errorMessage: error.message, usage: { input: 0, output: 0 } },
        this.#world.clock.now(),
      );
    }
  }
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
