/** The hooks around a request, and the patches of its options. */
import { describe, expect, it } from "vitest";
import type { Models, ProviderStreamOptions } from "../model/index.ts";
import { patchedStreamOptions } from "./stream-options.ts";
import { hooked, seeing, user } from "./testing/hooked.ts";
import { failure, gate, HANDLE, MODEL, text, tokens, World } from "./testing/scripted.ts";

describe("the hooks of a request", () => {
  it("change its context, options, payload and response, for each attempt, and not what is stored of the step", async () => {
    const seen: ProviderStreamOptions[] = [];
    const world = new World([failure("overloaded"), text("hello")]);
    const retry = { enabled: true, maxRetries: 1, baseDelayMs: 1 };
    const { harness, hooks, session } = await hooked(world, {
      models: seeing(world, seen),
      retry,
      streamOptions: { timeoutMs: 5, headers: { a: "1", b: "2" } },
    });
    const asked: unknown[] = [];
    hooks.on("transform_context", ({ messages }) => ({ messages: [...messages, user("by a hook")] }));
    hooks.on("before_request", ({ step, attempt, streamOptions, model }) => {
      asked.push([step, attempt, streamOptions.timeoutMs, model.id]);
      return { streamOptions: { timeoutMs: 9, headers: { a: undefined, c: "3" } } };
    });
    hooks.on("before_request", ({ streamOptions }) => {
      asked.push(streamOptions.headers);
      return { streamOptions: { signal: AbortSignal.abort() } as never };
    });
    hooks.on("before_payload", ({ payload }) => ({ payload: { wrapped: payload } }));
    hooks.on("after_response", ({ message, status }) => ({
      message: { ...message, content: [{ type: "text", text: `status ${status}` }] },
    }));
    await harness.prompt("go");
    expect(asked).toEqual([
      ["assistant", 1, 5, "large"],
      { b: "2", c: "3" },
      ["assistant", 2, 5, "large"],
      { b: "2", c: "3" },
    ]);
    expect(seen).toHaveLength(2);
    expect(seen[1]).toMatchObject({ timeoutMs: 9, headers: { b: "2", c: "3" } });
    expect(seen[1]?.signal?.aborted).toBe(false);
    expect(world.payloads).toEqual([{ wrapped: { model: "large" } }, { wrapped: { model: "large" } }]);
    expect(world.requests[1]?.messages.at(-1)).toMatchObject({ content: "by a hook" });
    const answer = await session.findEntry({ type: "message" });
    expect(answer).toMatchObject({ message: { content: [{ text: "status undefined" }] } });
    const states = world.commits
      .flat()
      .flatMap((write) =>
        write.kind === "register" && write.namespace === "op.state" && write.op === "set"
          ? [write.value]
          : [],
      );
    expect(states[1]).toMatchObject({
      phase: { generation: { context: { streamOptions: { timeoutMs: 5 } } } },
    });
  });

  it("that are wrong are passed over", async () => {
    const seen: ProviderStreamOptions[] = [];
    const world = new World(text("hello"));
    const { harness, hooks, errors, session } = await hooked(world, { models: seeing(world, seen) });
    hooks.on("transform_context", () => ({ messages: "none" as never }));
    hooks.on("transform_context", () => ({
      messages: [{ role: "user", content: 5, timestamp: 1 } as never],
    }));
    hooks.on("before_request", () => ({ streamOptions: { timeoutMs: -1 } }));
    hooks.on("before_request", () => ({ streamOptions: { metadata: { call: () => 1 } } }));
    hooks.on("after_response", ({ message }) => ({ message: { ...message, role: "user" } as never }));
    hooks.on("after_response", ({ message }) => ({ message: { ...message, stopReason: "aborted" } }));
    hooks.on("after_response", ({ message }) => ({ message: { ...message, usage: undefined } as never }));
    expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(
      errors.map((event) => event.type === "handler_error" && event.kind === "hook" && event.hook),
    ).toEqual([
      "before_request",
      "before_request",
      "transform_context",
      "transform_context",
      "after_response",
      "after_response",
      "after_response",
    ]);
    expect(await session.findEntry({ type: "message" })).toMatchObject({ message: { stopReason: "stop" } });
    expect(seen[0]).not.toHaveProperty("timeoutMs");
  });

  it("of a poll begin with the captured options, deferred off, and its number", async () => {
    const world = new World({ stopReason: "deferred", deferred: HANDLE });
    let polled: ProviderStreamOptions | undefined;
    const models: Models = {
      ...world.models(),
      fetchDeferred: async (_model, _handle, options) => {
        polled = options;
        const origin = { api: MODEL.api, provider: MODEL.provider, model: MODEL.id };
        return {
          role: "assistant",
          content: [],
          ...origin,
          usage: tokens(0, 1),
          stopReason: "stop",
          timestamp: 1,
        };
      },
    };
    const { harness, hooks } = await hooked(world, {
      models,
      streamOptions: { deferred: true, timeoutMs: 5 },
    });
    const asked: unknown[] = [];
    hooks.on("before_request", ({ step, attempt, streamOptions }) => {
      asked.push([step, attempt, streamOptions.deferred]);
      return { streamOptions: { deferred: true, timeoutMs: 6 } };
    });
    await harness.prompt("go");
    await harness.resume();
    expect(asked).toEqual([
      ["assistant", 1, true],
      ["deferred", 1, false],
    ]);
    expect(polled).toMatchObject({ timeoutMs: 6, deferred: false, wait: 0 });
  });

  it("after_response is not asked once the run is cancelled", async () => {
    const opened = gate();
    const world = new World(async () => {
      await opened.opened;
      return text("hello");
    });
    const { harness, hooks } = await hooked(world);
    let count = 0;
    hooks.on("after_response", () => {
      count++;
    });
    const run = harness.prompt("go");
    while (world.requests.length === 0) await Promise.resolve();
    await harness.abort();
    opened.open();
    expect(await run).toMatchObject({ ok: true, value: { kind: "aborted" } });
    expect(count).toBe(0);
  });
});

it("patches of stream options are judged by presence", () => {
  const options = { timeoutMs: 1, headers: { a: "1" }, metadata: { x: 1, y: 2 }, deferred: true };
  expect(patchedStreamOptions(options, {})).toEqual(options);
  expect(patchedStreamOptions(options, { timeoutMs: undefined, deferred: { window: "24h" } })).toEqual({
    headers: { a: "1" },
    metadata: { x: 1, y: 2 },
    deferred: { window: "24h" },
  });
  expect(
    patchedStreamOptions(options, { headers: { a: undefined }, metadata: { y: undefined, z: 3 } }),
  ).toEqual({
    timeoutMs: 1,
    metadata: { x: 1, z: 3 },
    deferred: true,
  });
  expect(patchedStreamOptions(options, { headers: undefined, metadata: undefined })).toEqual({
    timeoutMs: 1,
    deferred: true,
  });
  expect(
    patchedStreamOptions(options, { metadata: { z: { kept: 1, gone: undefined } } as never }),
  ).toMatchObject({ metadata: { z: { kept: 1 } } });
  expect(() => patchedStreamOptions(options, { metadata: { big: 1n } })).toThrow();
  expect(() => patchedStreamOptions(options, { transport: "carrier pigeon" as never })).toThrow(TypeError);
});
