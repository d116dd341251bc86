/**
 * The hook suite: what a harness relies on in the handlers of an extension (spec §5.6).
 *
 * A handler is held against the harness itself: a run with a tool, a resume after a death, a compaction, a navigation. What it returns
 * must be taken, so no `handler_error` may come; asked again after a crash it must answer as before, because nobody knows
 * whether it was asked; and it registers under the same ids in every process.
 */
import assert from "node:assert/strict";
import { Type } from "typebox";
import { idsOfIncarnation, VirtualClock } from "../../src/foundation/index.ts";
import { AgentHarness, type HarnessEvent, type HookName, type Hooks } from "../../src/harness/index.ts";
import {
  type AgentHarnessTool,
  type AssistantMessage,
  type AssistantMessageEventStream,
  type Model,
  type Models,
  type ProviderContext,
  zeroUsage,
} from "../../src/model/index.ts";
import { Session } from "../../src/session/index.ts";
import { MemoryDisk, MemoryStorage } from "../../src/storage/index.ts";
import type { ConformanceCase } from "../case.ts";
import { casesOf, type PromiseGroup, promiseOver, type SubjectFactory } from "../promise.ts";

export interface HookHandle {
  /** Registers the handlers, as the extension does in every process. */
  register(hooks: Hooks): void;
}

export type HookFactory = SubjectFactory<HookHandle, never>;

/** The cases for the handlers of one extension. */
export function createHookConformance(factory: HookFactory): ConformanceCase[] {
  return casesOf(GROUPS, factory);
}

type Group = PromiseGroup<HookHandle, never>;

const promise = promiseOver<HookHandle, never>();

const GROUPS: readonly Group[] = [
  {
    group: "registration",
    promises: [
      promise("handlers register, and register again in another process", "§5.6", [], async (handle) => {
        assert.deepEqual(idsOf(handle), idsOf(handle), "the names and ids of the two registrations");
      }),
    ],
  },
  {
    group: "answers",
    promises: [
      promise("a run with a tool takes every answer", "§5.6, §5.7", [], async (handle) => {
        const place = new Place(handle);
        const { harness, errors } = await place.boot();
        const run = await harness.prompt("read it");
        assert.ok(run.ok, "the run is accepted");
        assert.deepEqual(errors, []);
      }),
      promise("a compaction takes every answer", "§5.6, §3.9", [], async (handle) => {
        const place = new Place(handle);
        const { harness, errors } = await place.boot();
        await harness.prompt("read it");
        // What the run is answered is another promise.
        errors.length = 0;
        await harness.compact();
        assert.deepEqual(errors, []);
      }),
      promise("a navigation with a summary takes every answer", "§5.6, §3.11", [], async (handle) => {
        const place = new Place(handle);
        const { harness, errors } = await place.boot();
        await harness.prompt("read it");
        errors.length = 0;
        await navigate(harness);
        assert.deepEqual(errors, []);
      }),
      promise(
        "a resume after a death takes every answer, with what was stored for it",
        "§5.6",
        [],
        async (handle) => {
          const place = new Place(handle);
          const first = await place.boot("manual");
          const run = first.harness.prompt("read it");
          run.catch(() => undefined);
          // Dies with the run accepted and its first step durable.
          for (let action = await first.harness.peekAction(); action !== undefined; ) {
            await first.harness.executeAction();
            if (action.kind === "commit_transition") break;
            action = await first.harness.peekAction();
          }
          await first.harness.close();
          const second = await place.boot();
          if (second.isSuspended) await second.harness.resume();
          assert.deepEqual(second.errors, []);
        },
      ),
    ],
  },
  {
    group: "repetition",
    promises: [
      promise("a handler that is asked again answers as before", "§5.6", [], async (handle) => {
        const place = new Place(handle);
        const { harness, differences } = await place.boot("automatic", true);
        await harness.prompt("read it");
        await harness.compact();
        await navigate(harness);
        assert.deepEqual(differences, []);
      }),
    ],
  },
];

/** Back to the first entry of all, with a summary of what is left behind. */
async function navigate(harness: AgentHarness): Promise<void> {
  const first = await harness.session.findEntry({ order: "asc" });
  assert.ok(first !== undefined, "the session has an entry to go back to");
  const navigated = await harness.navigateTree(first.id, { summarize: true });
  assert.ok(navigated.ok, "the navigation is accepted");
}

/** The names and ids that a registration brings. */
function idsOf(handle: HookHandle): string[] {
  const seen: string[] = [];
  handle.register({
    on: (name, _handler, { id } = {}) => {
      if (name === "before_run" || name === "before_resume") assert.ok(id, `a handler of ${name} has an id`);
      seen.push(`${name} ${id ?? ""}`);
      return () => undefined;
    },
  });
  const withId = seen.filter((one) => !one.endsWith(" "));
  assert.equal(new Set(withId).size, withId.length, "ids are unique for each hook");
  return seen;
}

/** A session in memory with a scripted model and one tool, opened as often as is wanted. */
class Place {
  readonly #handle: HookHandle;
  readonly #clock = new VirtualClock();
  readonly #disk = MemoryDisk.create({ id: "hooks", createdAt: 1_700_000_000_000, storageVersion: 1 });
  #incarnation = 0;

  constructor(handle: HookHandle) {
    this.#handle = handle;
  }

  async boot(drive: "automatic" | "manual" = "automatic", isAskedTwice = false) {
    const storage = new MemoryStorage({ disk: this.#disk, clock: this.#clock });
    const idGenerator = idsOfIncarnation(1, this.#incarnation++, this.#clock);
    const session = new Session({ storage, metadata: storage.metadata, idGenerator });
    const compaction = { enabled: false, reserveTokens: 100, keepRecentTokens: 1 };
    const options = { session, models, model: MODEL, tools: [tool], clock: this.#clock, drive, compaction };
    const { harness, suspended } = await AgentHarness.create(options);
    const errors: string[] = [];
    harness.events.on("handler_error", (event: HarnessEvent) => {
      if (event.type === "handler_error" && event.kind === "hook")
        errors.push(`${event.hook}: ${event.error}`);
    });
    const differences: string[] = [];
    this.#handle.register(isAskedTwice ? twice(harness.hooks, differences) : harness.hooks);
    return { harness, errors, differences, isSuspended: suspended.length > 0 };
  }
}

/** Asks each handler twice with equal events, and notes where the answers differ. */
function twice(hooks: Hooks, differences: string[]): Hooks {
  return {
    on: (name, handler, options) => {
      const asked = async (event: never) => {
        const first = await handler(copyOf(name, event) as never);
        const second = await handler(copyOf(name, event) as never);
        if (JSON.stringify(first) !== JSON.stringify(second)) differences.push(name);
        return first;
      };
      return hooks.on(name, asked as never, options);
    },
  };
}

function copyOf(name: HookName, event: object): object {
  return name === "before_payload" || name === "before_request" ? { ...event } : structuredClone(event);
}

const MODEL: Model = {
  id: "hooked",
  name: "Hooked",
  api: "hooked",
  provider: "hooked",
  baseUrl: "hooked:",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 200_000,
  maxTokens: 4_096,
};

const tool: AgentHarnessTool = {
  name: "read",
  label: "Read",
  description: "Reads",
  parameters: Type.Object({}, { additionalProperties: true }),
  replay: "safe",
  execute: async () => ({ content: [{ type: "text", text: "read" }], details: {} }),
};

const models: Models = {
  getModel: () => MODEL,
  getProvider: (id) => ({ id }),
  getModels: () => [MODEL],
  streamSimple: (model, context, options) =>
    streamOf(answer(context, async (payload) => options?.onPayload?.(payload, model))),
  completeSimple: (_model, context) => answer(context),
  fetchDeferred: () => Promise.reject(new Error("nothing is deferred")),
  cancelDeferred: () => Promise.resolve(),
};

async function answer(
  { messages, tools }: ProviderContext,
  send: (payload: unknown) => Promise<unknown> = async () => undefined,
): Promise<AssistantMessage> {
  await send({ messages: messages.length });
  const isFirst = tools !== undefined && !messages.some(({ role }) => role === "assistant");
  return {
    role: "assistant",
    content: isFirst
      ? [{ type: "toolCall", id: "call-1", name: "read", arguments: { path: "a" } }]
      : [{ type: "text", text: "Done." }],
    api: MODEL.api,
    provider: MODEL.provider,
    model: MODEL.id,
    usage: zeroUsage(),
    stopReason: isFirst ? "toolUse" : "stop",
    timestamp: 1_700_000_000_000,
  };
}

function streamOf(message: Promise<AssistantMessage>): AssistantMessageEventStream {
  message.catch(() => undefined);
  return {
    result: () => message,
    async *[Symbol.asyncIterator]() {
      const final = await message;
      yield { type: "done", reason: final.stopReason === "toolUse" ? "toolUse" : "stop", message: final };
    },
  };
}
