/**
 * One request: what a provider is asked with, and what becomes of what it does.
 */
import { describe, expect, it } from "vitest";
import type { AssistantMessage, AssistantMessageEventStream, Models } from "../model/index.ts";
import { calls, failure, MODEL, text, tokens, World } from "./testing/scripted.ts";

/** Runs one request over a provider that does as told, and gives the stored response. */
async function responseOf(streamSimple: Models["streamSimple"]) {
  const world = new World();
  const { harness } = await world.boot({ models: { ...world.models(), streamSimple } });
  const run = await harness.prompt("go");
  const entry = world.disk.dump().entries[1];
  const message = entry?.type === "message" && entry.message.role === "assistant" ? entry.message : undefined;
  return { run, message, usage: world.disk.dump().usage };
}

const answer = (message: object): AssistantMessage =>
  ({
    role: "assistant",
    content: [],
    api: MODEL.api,
    provider: MODEL.provider,
    model: MODEL.id,
    usage: tokens(1, 2),
    stopReason: "stop",
    timestamp: 1,
    ...message,
  }) as AssistantMessage;

/** A stream whose events end without a terminal one. */
const silent = (result: () => Promise<AssistantMessage>): AssistantMessageEventStream => ({
  result,
  async *[Symbol.asyncIterator]() {},
});

describe("a provider that fails", () => {
  it.each([
    ["throws at once", () => fail("no network"), "no network"],
    ["breaks its stream", () => silent(() => Promise.reject(new Error("cut"))), "cut"],
    [
      "ends without an answer",
      () => silent(async () => undefined as unknown as AssistantMessage),
      "without a response",
    ],
    [
      "answers while still pending",
      () => silent(async () => answer({ stopReason: "pending" })),
      "without a stop reason",
    ],
    [
      "answers another role",
      () => silent(async () => answer({ role: "user", content: "hi" })),
      "another role",
    ],
    [
      "answers a wrong shape",
      () => silent(async () => answer({ content: [{ type: "sound" }] })),
      "/content/0",
    ],
    ["answers what JSON cannot carry", () => silent(async () => answer({ responseId: 1n })), "bigint"],
    [
      "answers deferred without a handle",
      () => silent(async () => answer({ stopReason: "deferred" })),
      "/deferred",
    ],
    [
      "reports an abort of its own",
      () => silent(async () => answer({ stopReason: "aborted" })),
      "nobody asked for",
    ],
  ] as [string, Models["streamSimple"], string][])(
    "that %s gives an error response",
    async (_name, streamSimple, words) => {
      const { run, message } = await responseOf(streamSimple);
      expect(message).toMatchObject({ stopReason: "error" });
      expect(message?.errorMessage).toContain(words);
      expect(run).toMatchObject({ ok: true, value: { kind: "failed" } });
    },
  );

  it("keeps the usage of an unusable answer if that is valid, and counts nothing otherwise", async () => {
    const valid = await responseOf(() => silent(async () => answer({ content: "x" })));
    expect(valid.usage.map(({ usage }) => usage)).toEqual([tokens(1, 2)]);
    const invalid = await responseOf(() =>
      silent(async () => answer({ content: "x", usage: { input: "1" } })),
    );
    expect(invalid.usage.map(({ usage }) => usage)).toEqual([tokens(0, 0)]);
  });

  it("loses members that are undefined, and keeps those that nobody here reads", async () => {
    const { message } = await responseOf(() =>
      silent(async () => answer({ errorMessage: undefined, extra: 1 })),
    );
    expect(message).toEqual(answer({ extra: 1 }));
  });
});

describe("a request", () => {
  it("carries the system prompt, the active tools and the captured options, and the harness's own signal", async () => {
    const world = new World(text("hello"));
    const models = world.models();
    let asked: Parameters<Models["streamSimple"]> | undefined;
    const { harness } = await world.boot({
      models: {
        ...models,
        streamSimple: (...given) => {
          asked = given;
          return models.streamSimple(...given);
        },
      },
      systemPrompt: () => "be brief",
      tools: [world.tool("read"), world.tool("write")],
      activeToolNames: ["write"],
      thinkingLevel: "high",
      streamOptions: { timeoutMs: 5, headers: { a: "b" } },
    });
    await harness.prompt("go");
    const [model, context, options] = asked ?? [];
    expect(model).toBe(MODEL);
    expect(context?.systemPrompt).toBe("be brief");
    expect(context?.tools?.map(({ name }) => name)).toEqual(["write"]);
    expect(options).toMatchObject({
      timeoutMs: 5,
      headers: { a: "b" },
      reasoning: "high",
      sessionId: "session",
    });
    expect(options?.signal).toBeInstanceOf(AbortSignal);
  });

  it.each([
    ["unbounded", Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER],
    ["unknown", Number.NaN, 0],
    ["no whole number", 4096.5, 4097],
  ])("can be made of a model whose limits are %s", async (_what, limit, stored) => {
    const world = new World(text("hello"));
    const models: Models = {
      ...world.models(),
      getModel: () => ({ ...MODEL, contextWindow: limit, maxTokens: limit }),
    };
    const { harness } = await world.boot({ models });
    expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(JSON.stringify(world.commits)).toContain(
      `"intendedOutputLimit":${stored},"contextWindow":${stored}`,
    );
  });

  it("has no system prompt, no tools and no reasoning unless they are configured", async () => {
    const world = new World(text("hello"));
    const { harness } = await world.boot();
    await harness.prompt("go");
    expect(Object.keys(world.requests[0] ?? {})).toEqual(["messages"]);
  });

  it("grows at its end only, and leaves failed attempts out", async () => {
    const world = new World([failure("overloaded"), calls({ id: "c1", name: "read" })], text("done"));
    const retry = { enabled: true, maxRetries: 1, baseDelayMs: 1 };
    const { harness } = await world.boot({ retry, tools: [world.tool("read")] });
    await harness.prompt("go");
    await harness.prompt("more");
    const [first, second, third, fourth] = world.requests.map(({ messages }) => messages);
    expect(first?.map(({ role }) => role)).toEqual(["user"]);
    expect(second).toEqual(first);
    expect(third?.slice(0, 1)).toEqual(second);
    expect(third?.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult"]);
    expect(fourth?.slice(0, 3)).toEqual(third);
    expect(fourth).toHaveLength(5);
  });

  it("is the same whether the context was kept or read again", async () => {
    const kept = new World(calls({ id: "c1", name: "read" }), text("done"));
    const read = new World(calls({ id: "c1", name: "read" }), text("done"));
    await (await kept.boot({ tools: [kept.tool("read")] })).harness.prompt("go");
    const first = await read.boot({ tools: [read.tool("read")] });
    read.death = { commit: 7, position: "before" };
    await first.harness.prompt("go").catch(() => undefined);
    read.death = undefined;
    await (await read.boot({ tools: [read.tool("read")] })).harness.resume();
    expect(read.requests[1]?.messages).toEqual(kept.requests[1]?.messages);
  });

  it("waits between attempts by the captured policy, in the clock's time", async () => {
    const world = new World([failure("overloaded"), failure("overloaded"), text("hello")]);
    const { harness } = await world.boot({ retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } });
    const start = world.clock.now();
    expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(world.clock.now() - start).toBe(1000 + 2000);
    expect(world.requests).toHaveLength(3);
    expect(world.disk.dump().usage).toHaveLength(3);
  });
});

describe("options", () => {
  it.each([
    [
      "a retry policy",
      { retry: { enabled: true, maxRetries: -1, baseDelayMs: 0 } },
      "option retry/maxRetries",
    ],
    ["stream options", { streamOptions: { timeoutMs: "5" } as never }, "option streamOptions/timeoutMs"],
    [
      "stream options with a signal",
      { streamOptions: { signal: 1 } as never },
      "option streamOptions/signal",
    ],
    ["compaction settings", { compaction: { enabled: true } as never }, "option compaction/reserveTokens"],
  ])("are refused at creation: %s", async (_name, options, words) => {
    const world = new World(text("hello"));
    await expect(world.boot(options)).rejects.toThrow(words);
    expect(world.commitCount).toBe(0);
  });
});

function fail(message: string): never {
  throw new Error(message);
}
