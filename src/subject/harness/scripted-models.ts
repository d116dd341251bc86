/**
 * The scripted world as the registry of models that a harness asks: one provider, one model, answers by turn.
 *
 * The turn of a request is the number of answers that the session has settled, on whatever branch and in whatever
 * context, and that of a poll stands in its handle. The ask is one more than the failed and deferred answers that the
 * turn has settled, so that an answer that was lost in a crash is given again. A request whose durable intent is that of
 * a summary is answered as one.
 *
 * A further lane of a scenario has a model of its own, by which its requests and its answers are known.
 */
import {
  filledIn,
  MODEL_LIMITS,
  type Moment,
  type Scenario,
  ScriptExhausted,
  type ScriptedReply,
  type ScriptedUsage,
  type World,
  type WorldAccess,
} from "../../faults/index.ts";
import {
  type AssistantMessage,
  type AssistantMessageEventStream,
  type DeferredFetchOptions,
  type DeferredHandle,
  type Entry,
  isInContext,
  type Model,
  type Models,
  type ProviderContext,
  type ProviderStreamOptions,
  type Usage,
} from "../../model/index.ts";
import { summaryGenerationOf } from "../../operation/index.ts";
import type { Storage } from "../../storage/index.ts";
import { misgive } from "./misbehaviour.ts";
import { SettledStream, said } from "./settled-stream.ts";
import { shownAs, wordsIn } from "./shown-as.ts";

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
  contextWindow: MODEL_LIMITS.contextWindow,
  maxTokens: MODEL_LIMITS.outputTokens,
};

/** A second one, which nobody asks unless it is chosen; for races about the choice. */
export const OTHER_MODEL_ID = "scripted-2";

/** The model as a scenario wants it, for its first lane or for the named one. */
export function scriptedModel({ settings }: Scenario, lane?: string): Model {
  const id = lane === undefined ? SCRIPTED_MODEL.id : `${SCRIPTED_MODEL.id}@${lane}`;
  return { ...SCRIPTED_MODEL, id, contextWindow: settings.contextWindow ?? SCRIPTED_MODEL.contextWindow };
}

/** The lane of a model; undefined for the first one. */
function laneOf({ id }: Pick<Model, "id">): string | undefined {
  const at = id.indexOf("@");
  return at < 0 ? undefined : id.slice(at + 1);
}

/** What the adapters of a life pass through: the world, and the application, which may have something to say. */
export interface LifeAccess extends WorldAccess {
  /**
   * Called once an effect has happened, before it answers; resolves when the application is done. `lane`: the further lane
   * for which it happened; a tool is known by its call.
   */
  readonly during?: (moment: Moment, lane?: string) => Promise<void>;
}

/** An ask of a turn. */
export interface Stand {
  readonly turn: number;
  /** From 1. */
  readonly ask: number;
}

/**
 * Where a conversation stands: its turn, and the next ask of it. A cancelled answer counts also where it stands in for
 * one that is lost, because nobody asks for that again.
 */
export function standOf(entries: readonly Entry[]): Stand {
  let turn = 0;
  let ask = 1;
  for (const entry of entries) {
    if (entry.type !== "message" || entry.message.role !== "assistant") continue;
    const isCancelled = entry.message.stopReason === "aborted";
    if (isInContext(entry.message)) {
      turn++;
      ask = 1;
    } else if (isCancelled || !isSynthetic(entry.message)) ask++;
  }
  return { turn, ask };
}

/** What is looked at of the options of a request. */
type AskOptions = Pick<ProviderStreamOptions, "signal" | "reasoning" | "timeoutMs">;

/** A reply in the words of what was asked. */
function saidOf(reply: ScriptedReply, { id }: Model, { reasoning, timeoutMs }: AskOptions): ScriptedReply {
  if (reply.text === undefined) return reply;
  const asked = { model: id, thinking: reasoning ?? "off", timeoutMs };
  return { ...reply, text: filledIn(reply.text, asked) };
}

/** The registry. */
export class ScriptedModels implements Models {
  readonly #world: World;
  readonly #access: LifeAccess;
  /** That of the first lane, then those of the others. */
  readonly #models: readonly Model[];
  /** Read beside the gate: looking at what is durable is no effect. */
  readonly #store: Storage;

  constructor(world: World, access: LifeAccess, store: Storage) {
    this.#world = world;
    this.#access = access;
    const { scenario } = world;
    const others = (scenario.lanes ?? []).map(({ lane }) => scriptedModel(scenario, lane));
    this.#models = [scriptedModel(scenario), ...others];
    this.#store = store;
  }

  /** The newest ask that failed: a run that waits to try again waits because of it. */
  async lastFailure(): Promise<Stand | undefined> {
    const { turn, ask } = standOf(await this.#store.scanEntries({ type: "message" }));
    return ask === 1 ? undefined : { turn, ask: ask - 1 };
  }

  getModel(provider: string, id: string): Model | undefined {
    if (provider !== SCRIPTED_MODEL.provider) return undefined;
    if (id === OTHER_MODEL_ID) return { ...scriptedModel(this.#world.scenario), id };
    return this.#models.find((model) => model.id === id);
  }

  getProvider(id: string): { id: string } | undefined {
    return id === SCRIPTED_MODEL.provider ? { id } : undefined;
  }

  getModels(): readonly Model[] {
    return this.#models;
  }

  streamSimple(
    model: Model,
    context: ProviderContext,
    options?: ProviderStreamOptions,
  ): AssistantMessageEventStream {
    return new SettledStream(this.#answer(model, context, options));
  }

  completeSimple(
    model: Model,
    context: ProviderContext,
    options?: ProviderStreamOptions,
  ): Promise<AssistantMessage> {
    return said(this.#answer(model, context, options));
  }

  async fetchDeferred(
    model: Model,
    handle: DeferredHandle,
    options?: DeferredFetchOptions,
  ): Promise<AssistantMessage> {
    const { turn } = jobDataOf(handle);
    const { ask } = this.#standOf(model, await this.#store.scanEntries({ type: "message" }));
    const send = () => this.#world.poll(this.#access, turn, ask, laneOf(model), handle.id);
    return said(this.#ask(model, { turn, ask }, send, { ...options, polled: handle }));
  }

  cancelDeferred(_model: Model, { id }: DeferredHandle): Promise<void> {
    return this.#world.cancelJob(this.#access, id);
  }

  async #answer(
    model: Model,
    { messages }: ProviderContext,
    options: AskOptions = {},
  ): Promise<AssistantMessage> {
    const entries = await this.#store.scanEntries({});
    const request = await openSummaryRequest(this.#store);
    if (request !== undefined) {
      const task = taskOf(entries);
      const told = messages.map(({ content }) => wordsIn(content)).join("\n");
      const send = async () => {
        const reply = await this.#world.requestSummary(this.#access, { task, ...request, told });
        await this.#access.during?.({ summary: task, request: request.index });
        return reply;
      };
      return this.#scripted(model, send, options);
    }
    const stand = this.#standOf(model, entries);
    const { turn, ask } = stand;
    const send = () => this.#world.request(this.#access, turn, ask, laneOf(model), messages.map(shownAs));
    return this.#ask(model, stand, send, options);
  }

  /** Where a lane stands, by its model. */
  #standOf({ id }: Model, entries: readonly Entry[]): Stand {
    if (this.#models.length === 1) return standOf(entries);
    return standOf(entries.filter((entry) => isAnswerOf(entry, id)));
  }

  #ask(
    model: Model,
    stand: Stand,
    send: () => Promise<ScriptedReply>,
    { polled, ...options }: AskOptions & { readonly polled?: DeferredHandle },
  ): Promise<AssistantMessage> {
    const answer = async () => {
      const reply = await send();
      await this.#access.during?.(stand, laneOf(model));
      return reply;
    };
    return this.#scripted(model, answer, options, (job) => {
      // A job that is still pending is named by the very handle that was polled.
      return job.id === polled?.id ? polled : handleOf(model, job, stand.turn, this.#world.clock.now());
    });
  }

  async #scripted(
    model: Model,
    send: () => Promise<ScriptedReply>,
    options: AskOptions,
    handle?: (job: NonNullable<ScriptedReply["job"]>) => DeferredHandle,
  ): Promise<AssistantMessage> {
    const { signal } = options;
    try {
      const reply = await send();
      const message = assistantMessage(model, saidOf(reply, model, options), this.#world.clock.now());
      const right = reply.job && handle ? { ...message, deferred: handle(reply.job) } : message;
      const within = { timeline: this.#access.timeline, signal };
      if (reply.fault !== undefined) return await misgive(reply.fault, right, within);
      if (signal?.aborted) return { ...message, stopReason: "aborted", errorMessage: "aborted" };
      return right;
    } catch (error) {
      if (!(error instanceof ScriptExhausted)) throw error;
      const usage = { input: 0, output: 0 };
      const reply = { stopReason: "error", errorMessage: error.message, usage } as const;
      return assistantMessage(model, reply, this.#world.clock.now());
    }
  }
}

function isAnswerOf(entry: Entry, modelId: string): boolean {
  return entry.type === "message" && entry.message.role === "assistant" && entry.message.model === modelId;
}

/** Which work on the tree comes next, as scenarios count it: how many compactions and branch summaries there are. */
export function taskOf(entries: readonly Entry[]): number {
  return entries.filter(({ type }) => type === "compaction" || type === "branch_summary").length;
}

/** The request of a summary that is durably intended, if one is. */
async function openSummaryRequest(store: Storage): Promise<{ index: number; attempt: number } | undefined> {
  for (const { value } of await store.listRegisters("op.state")) {
    const generation = summaryGenerationOf(value);
    if (generation?.status !== "effect_pending" || generation.request === undefined) continue;
    return { index: generation.request.index, attempt: generation.attempt };
  }
  return undefined;
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

/**
 * Marks what the scripted provider really answered; a synthetic settlement has no response id, and costs nothing if it
 * stands in for what was lost.
 */
const RESPONSE_ID = "scripted";

function isSynthetic(message: AssistantMessage): boolean {
  return message.responseId !== RESPONSE_ID && message.usage.totalTokens === 0;
}
