/**
 * A child that drives one harness through many turns on SQLite and says how much memory its process had resident on the
 * way: what a turn leaves behind in the process, beside what it leaves in the store.
 *
 * A turn is a prompt, a tool call and an answer, with somebody watching. The context is compacted every so often, as a
 * long conversation's is, so that a request does not grow; everything else may keep what it likes.
 */
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Type } from "typebox";
import { idsOfIncarnation, VirtualClock } from "../src/foundation/index.ts";
import { AgentHarness } from "../src/harness/index.ts";
import {
  type AgentHarnessTool,
  type AssistantMessage,
  type AssistantMessageEventStream,
  type Model,
  type Models,
  type ProviderContext,
  zeroUsage,
} from "../src/model/index.ts";
import { Session } from "../src/session/index.ts";
import { SqliteStorage } from "../src/storage/index.ts";

export interface TurnsRequest {
  readonly path: string;
  /** Turns after which the resident bytes are noted, rising. */
  readonly notes: readonly number[];
}

const COMPACT_EVERY = 100;

const MODEL: Model = {
  id: "bench",
  name: "Bench",
  api: "bench",
  provider: "bench",
  baseUrl: "bench:",
  reasoning: false,
  input: ["text"],
  cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1_000_000,
  maxTokens: 8_192,
};

export async function main(): Promise<void> {
  const { path, notes } = JSON.parse(readFileSync(0, "utf8")) as TurnsRequest;
  const clock = new VirtualClock();
  const metadata = { id: "bench", createdAt: clock.now(), storageVersion: 1 };
  const storage = await SqliteStorage.create({ kind: "file", path }, metadata, { clock, ownerId: "bench" });
  const session = new Session({ storage, metadata, idGenerator: idsOfIncarnation(1, 0, clock) });
  const compaction = { enabled: false, reserveTokens: 1_000, keepRecentTokens: 500 };
  const { harness } = await AgentHarness.create({
    session,
    models,
    model: MODEL,
    tools: [tool],
    clock,
    compaction,
  });
  (await harness.watch()).start(() => undefined);
  const resident: number[] = [];
  const last = notes.at(-1) ?? 0;
  for (let turn = 1; turn <= last; turn++) {
    const run = await harness.prompt(`turn ${turn}: ${"please ".repeat(20)}`);
    if (!run.ok || run.value.kind !== "completed") throw new Error(`turn ${turn} did not complete`);
    if (turn % COMPACT_EVERY === 0) {
      const compacted = await harness.compact();
      if (!compacted.ok || compacted.value.kind !== "completed")
        throw new Error(`turn ${turn} was not compacted`);
    }
    if (notes.includes(turn)) resident.push(residentBytes());
  }
  await harness.close();
  process.stdout.write(JSON.stringify(resident));
}

function residentBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let round = 0; round < 3; round++) collect();
  return process.memoryUsage().rss;
}

const tool: AgentHarnessTool = {
  name: "read",
  label: "Read",
  description: "Reads",
  parameters: Type.Object({}),
  replay: "safe",
  execute: async () => ({ content: [{ type: "text", text: "line ".repeat(40) }], details: {} }),
};

const models: Models = {
  getModel: () => MODEL,
  getProvider: (id) => ({ id }),
  getModels: () => [MODEL],
  streamSimple: (_model, context) => settled(answerTo(context)),
  completeSimple: async (_model, context) => answerTo(context),
  fetchDeferred: () => Promise.reject(new Error("nothing is deferred")),
  cancelDeferred: () => Promise.resolve(),
};

/** A call to whoever prompts, an answer to its result; a summary where one is asked for. */
function answerTo({ messages, tools }: ProviderContext): AssistantMessage {
  const last = messages.at(-1);
  const isPrompt = tools !== undefined && last?.role === "user";
  return {
    role: "assistant",
    content: isPrompt
      ? [{ type: "toolCall", id: `call-${messages.length}`, name: "read", arguments: {} }]
      : [{ type: "text", text: "It is done. ".repeat(10) }],
    api: MODEL.api,
    provider: MODEL.provider,
    model: MODEL.id,
    responseId: "bench",
    usage: { ...zeroUsage(), input: 10, output: 5, totalTokens: 15 },
    stopReason: isPrompt ? "toolUse" : "stop",
    timestamp: 1_700_000_000_000,
  };
}

function settled(message: AssistantMessage): AssistantMessageEventStream {
  return {
    result: async () => message,
    async *[Symbol.asyncIterator]() {
      yield { type: "done", reason: message.stopReason === "toolUse" ? "toolUse" : "stop", message };
    },
  };
}
