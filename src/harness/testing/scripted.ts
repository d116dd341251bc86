/**
 * A scripted provider, tools and a session in memory: what the tests of this room run a harness over.
 *
 * `turns[n]` answers a request whose context holds n responses, with its first, second, … answer; the last one stays.
 * So a request that is repeated by another life is answered like the first. What was asked, executed and committed is
 * kept in `log`, in order, so that a test can say "never before".
 */
import { type TObject, Type } from "typebox";
import { idsOfIncarnation, VirtualClock } from "../../foundation/index.ts";
import {
  type AgentHarnessTool,
  type AssistantMessage,
  type AssistantMessageEvent,
  type AssistantMessageEventStream,
  type CommitResult,
  type DeferredHandle,
  type Model,
  type Models,
  type ProviderContext,
  type ProviderStreamOptions,
  type ToolCallContent,
  type Transaction,
  type Usage,
  type Write,
  zeroUsage,
} from "../../model/index.ts";
import { Session } from "../../session/index.ts";
import { MemoryDisk, MemoryStorage, type Storage, StorageFault } from "../../storage/index.ts";
import { AgentHarness } from "../agent-harness.ts";
import type { AgentHarnessOptions } from "../options.ts";
import { SUMMARIZER_PROMPT } from "../summary-text.ts";

export const MODEL: Model = {
  id: "large",
  name: "Large",
  api: "acme-messages",
  provider: "acme",
  baseUrl: "https://acme.example",
  reasoning: false,
  input: ["text"],
  cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 200_000,
  maxTokens: 4096,
};

/** Names a job that a response put off. */
export const HANDLE: DeferredHandle = {
  provider: MODEL.provider,
  modelId: MODEL.id,
  api: MODEL.api,
  id: "job",
};

/** One schema for all tools: a schema object is compiled once. */
const PARAMETERS = Type.Object({ path: Type.Optional(Type.String()) });

/** One answer of the scripted provider; a function sees the request, and may wait. */
export type Answer =
  | Partial<AssistantMessage>
  | ((context: ProviderContext, signal: AbortSignal | undefined) => Promise<Partial<AssistantMessage>>);

export type LogLine =
  | { readonly kind: "boot" }
  | { readonly kind: "commit"; readonly writes: readonly Write[]; readonly result: CommitResult }
  | { readonly kind: "request"; readonly context: ProviderContext }
  | { readonly kind: "tool"; readonly name: string; readonly callId: string; readonly args: unknown };

/** A world: a disk, a clock, a script, and what happened. */
export class World {
  readonly clock = new VirtualClock();
  readonly log: LogLine[] = [];
  disk = MemoryDisk.create({ id: "session", createdAt: 1_700_000_000_000, storageVersion: 1 });
  readonly #turns: readonly (readonly Answer[])[];
  readonly #asks: number[] = [];
  #incarnation = 0;
  /** How many commits there were, failed ones not counted. */
  commitCount = 0;
  /** Dies at a commit: before it, or when it is on the disk and nobody knows. */
  death: { readonly commit: number; readonly position: "before" | "after" } | undefined;
  /** What summary requests are answered, over all lives; the last answer stays. */
  summaries: readonly Answer[] = [];
  #summaryCount = 0;
  /** The payloads of requests as `before_payload` left them, where there was one. */
  readonly payloads: unknown[] = [];
  /** Whether the registry knows the model. */
  hasModel = true;

  /** Each turn has one answer, or a list of answers. */
  constructor(...turns: (Answer | readonly Answer[])[]) {
    this.#turns = turns.map((turn) => (isList(turn) ? turn : [turn]));
  }

  get commits(): (readonly Write[])[] {
    return this.log.flatMap((line) => (line.kind === "commit" ? [line.writes] : []));
  }

  get requests(): ProviderContext[] {
    return this.log.flatMap((line) => (line.kind === "request" ? [line.context] : []));
  }

  get executions(): string[] {
    return this.log.flatMap((line) =>
      line.kind === "tool" ? [`${line.name} ${JSON.stringify(line.args)}`] : [],
    );
  }

  /** A new life over the disk. */
  async boot(options: Partial<AgentHarnessOptions> = {}) {
    const storage = new MemoryStorage({ disk: this.disk, clock: this.clock });
    const session = new Session({
      storage: this.#watched(storage),
      metadata: storage.metadata,
      idGenerator: idsOfIncarnation(7, this.#incarnation++, this.clock),
    });
    this.log.push({ kind: "boot" });
    const created = await AgentHarness.create({
      session,
      models: this.models(),
      model: MODEL,
      clock: this.clock,
      ...options,
    });
    return { ...created, session, storage };
  }

  models(): Models {
    const model = (provider: string, id: string) =>
      this.hasModel && provider === MODEL.provider && id === MODEL.id ? MODEL : undefined;
    return {
      getModel: model,
      getProvider: (id) => (id === MODEL.provider ? { id } : undefined),
      getModels: () => [MODEL],
      streamSimple: (model, context, options) => stream(this.#send(model, context, options)),
      completeSimple: (_model, context, options) => this.#answer(context, options?.signal),
      fetchDeferred: () => Promise.reject(new Error("no deferred jobs here")),
      cancelDeferred: () => Promise.resolve(),
    };
  }

  /** A tool that answers with its name and arguments, or does as told. */
  tool(
    name: string,
    options: Partial<AgentHarnessTool<undefined>> & { parameters?: TObject } = {},
  ): AgentHarnessTool<undefined> {
    const { execute, ...declaration } = options;
    return {
      name,
      label: name,
      description: name,
      parameters: PARAMETERS,
      ...declaration,
      execute: (id, args, signal, onUpdate, context) => {
        this.log.push({ kind: "tool", name, callId: id, args: structuredClone(args) });
        if (execute) return execute(id, args, signal, onUpdate, context);
        return Promise.resolve({ content: [{ type: "text", text: `${name} done` }], details: {} });
      },
    };
  }

  /** As an adapter does it: the payload is shown before it is sent, and not sent if the signal is up by then. */
  async #send(
    model: Model,
    context: ProviderContext,
    options: ProviderStreamOptions | undefined,
  ): Promise<AssistantMessage> {
    if (options?.onPayload) this.payloads.push(await options.onPayload({ model: model.id }, model));
    if (options?.signal?.aborted) return this.#message({ stopReason: "aborted" });
    return this.#answer(context, options?.signal);
  }

  async #answer(context: ProviderContext, signal: AbortSignal | undefined): Promise<AssistantMessage> {
    this.log.push({ kind: "request", context });
    const turn = context.messages.filter(({ role }) => role === "assistant").length;
    const ask = this.#asks[turn] ?? 0;
    if (!isSummaryRequest(context)) this.#asks[turn] = ask + 1;
    const answer = isSummaryRequest(context)
      ? (this.summaries[this.#summaryCount++] ?? this.summaries.at(-1))
      : (this.#turns[turn]?.[ask] ?? this.#turns[turn]?.at(-1));
    if (answer === undefined) throw new Error(`the script has no turn ${turn}`);
    return this.#message(typeof answer === "function" ? await answer(context, signal) : answer);
  }

  #message(said: Partial<AssistantMessage>): AssistantMessage {
    return {
      role: "assistant",
      content: [],
      api: MODEL.api,
      provider: MODEL.provider,
      model: MODEL.id,
      usage: tokens(10, 5),
      stopReason: "stop",
      timestamp: this.clock.now(),
      ...said,
    };
  }

  #watched(storage: Storage): Storage {
    return new Proxy(storage, {
      get: (target, property) => {
        if (property !== "commit") {
          const member: unknown = Reflect.get(target, property, target);
          return typeof member === "function" ? member.bind(target) : member;
        }
        return async (transaction: Transaction) => {
          const dies = this.death?.commit === this.commitCount ? this.death.position : undefined;
          if (dies === "before") throw new StorageFault("the process died before the commit", undefined);
          const result = await target.commit(transaction);
          this.commitCount++;
          this.log.push({ kind: "commit", writes: transaction.writes, result });
          if (dies === "after") throw new StorageFault("the process died after the commit", undefined);
          return result;
        };
      },
    });
  }
}

/** Whether a request asks for a summary and not for the next turn. */
export function isSummaryRequest({ systemPrompt }: ProviderContext): boolean {
  return systemPrompt === SUMMARIZER_PROMPT;
}

export function tokens(input: number, output: number): Usage {
  return { ...zeroUsage(), input, output, totalTokens: input + output };
}

export function text(said: string): Partial<AssistantMessage> {
  return { content: [{ type: "text", text: said }] };
}

export function calls(
  ...wanted: { id: string; name: string; args?: ToolCallContent["arguments"] }[]
): Partial<AssistantMessage> {
  return {
    stopReason: "toolUse",
    content: wanted.map(({ id, name, args }) => ({ type: "toolCall", id, name, arguments: args ?? {} })),
  };
}

export function failure(errorMessage: string): Partial<AssistantMessage> {
  return { stopReason: "error", errorMessage };
}

/** A write in a few words: `entry message:user`, `set op.state`, `delete op.meta`. */
export function inWords(write: Write): string {
  switch (write.kind) {
    case "entry":
      return write.entry.type === "message"
        ? `entry ${write.entry.message.role}`
        : `entry ${write.entry.type}`;
    case "usage":
      return "usage";
    case "register":
      return `${write.op} ${write.namespace}`;
  }
}

/** The phase that a commit leaves the run in: `assistant effect_pending`, `tools`, `gone`. */
export function phaseAfter(writes: readonly Write[]): string | undefined {
  for (const write of writes) {
    if (write.kind !== "register" || write.namespace !== "op.state") continue;
    if (write.op === "delete") return "gone";
    if (write.value.kind !== "run") return write.value.kind;
    const { phase } = write.value;
    return phase.kind === "assistant" ? `assistant ${phase.generation.status}` : phase.kind;
  }
  return undefined;
}

/** A promise that a test settles. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

function isList(turn: Answer | readonly Answer[]): turn is readonly Answer[] {
  return Array.isArray(turn);
}

function stream(answer: Promise<AssistantMessage>): AssistantMessageEventStream {
  return {
    result: () => answer,
    async *[Symbol.asyncIterator](): AsyncGenerator<AssistantMessageEvent> {
      const message = await answer;
      const { stopReason } = message;
      if (stopReason === "error" || stopReason === "aborted") {
        yield { type: "error", reason: stopReason, error: message };
      } else if (stopReason !== "pending") yield { type: "done", reason: stopReason, message };
    },
  };
}

/** Lets everything go on that waits for nothing else. */
export async function letOthersRun(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}
