/** The hooks: where each runs, how handlers add up, and what becomes of what they get wrong. */
import { describe, expect, it } from "vitest";
import { recognise, StoreModel } from "../checkers/index.ts";
import type {
  AgentMessage,
  DeferredHandle,
  Models,
  ProviderContext,
  ProviderStreamOptions,
} from "../model/index.ts";
import type { HarnessEvent } from "./event-types.ts";
import type { HookName } from "./hooks.ts";
import { patchedStreamOptions } from "./stream-options.ts";
import { calls, failure, gate, MODEL, text, tokens, World } from "./testing/scripted.ts";

const user = (said: string): AgentMessage => ({ role: "user", content: said, timestamp: 1 });
const id = { id: "extension" };

/** A harness whose hook errors are kept. */
async function hooked(world: World, options: Parameters<World["boot"]>[0] = {}) {
  const booted = await world.boot(options);
  const errors: HarnessEvent[] = [];
  booted.harness.events.on("handler_error", (event) => {
    errors.push(event);
  });
  return { ...booted, errors, hooks: booted.harness.hooks };
}

/** Sees the options of each request. */
function seeing(world: World, seen: ProviderStreamOptions[]): Models {
  const models = world.models();
  return {
    ...models,
    streamSimple: (model, context: ProviderContext, options) => {
      seen.push(options ?? {});
      return models.streamSimple(model, context, options);
    },
  };
}

describe("before_run", () => {
  it("adds messages, replaces the system prompt for the whole run, and stores what resume gives back", async () => {
    const world = new World(async () => {
      await stuck.opened;
      return text("hello");
    }, text("again"));
    const stuck = gate();
    const { harness, hooks } = await hooked(world, { systemPrompt: "be kind" });
    const seen: unknown[] = [];
    hooks.on(
      "before_run",
      ({ prompt, systemPrompt, runId }) => {
        seen.push([prompt.length, systemPrompt, runId]);
        return { messages: [user("first")], systemPrompt: "be brief", resumeData: { kept: 1 } };
      },
      id,
    );
    hooks.on(
      "before_run",
      ({ prompt, systemPrompt }) => {
        seen.push([prompt.length, systemPrompt]);
        return { messages: [user("second")], resumeData: null };
      },
      { id: "other" },
    );
    harness.prompt("go").catch(() => undefined);
    while (world.requests.length === 0) await Promise.resolve();
    const { registers } = world.disk.dump();
    const meta = registers.find(({ namespace }) => namespace === "op.meta");
    expect(meta?.value).toMatchObject({
      intent: { systemPromptOverride: "be brief", resumeData: { extension: { kept: 1 }, other: null } },
    });
    expect(seen).toEqual([
      [1, "be kind", meta?.key],
      [2, "be brief"],
    ]);
    expect(world.requests[0]).toMatchObject({
      systemPrompt: "be brief",
      messages: [{}, { content: "first" }, { content: "second" }],
    });
    await harness.close();
    const next = await hooked(world, {
      retry: { enabled: true, maxRetries: 1, baseDelayMs: 1 },
      systemPrompt: "be kind",
    });
    const resumed: unknown[] = [];
    next.hooks.on(
      "before_resume",
      ({ resumeData, ...rest }) => {
        resumed.push([resumeData, rest]);
      },
      id,
    );
    next.hooks.on(
      "before_resume",
      (event) => {
        resumed.push("resumeData" in event);
      },
      { id: "a third" },
    );
    stuck.open();
    await next.harness.resume();
    expect(resumed).toMatchObject([
      [{ kept: 1 }, { kind: "run", prompt: [{ role: "user" }], systemPromptOverride: "be brief" }],
      false,
    ]);
  });

  it("that is wrong is passed over, and told of", async () => {
    const world = new World(text("hello"));
    const { harness, hooks, errors } = await hooked(world);
    hooks.on(
      "before_run",
      () => {
        throw new Error("no");
      },
      { id: "1" },
    );
    hooks.on("before_run", () => ({ messages: [{ role: "martian" } as never] }), { id: "2" });
    hooks.on("before_run", () => ({ resumeData: (() => 1) as never }), { id: "3" });
    hooks.on("before_run", () => ({ messages: [user("kept")] }), { id: "4" });
    expect(await harness.prompt("go")).toMatchObject({ ok: true });
    expect(world.requests[0]?.messages).toMatchObject([{}, { content: "kept" }]);
    expect(errors).toHaveLength(3);
    expect(errors[0]).toMatchObject({ kind: "hook", hook: "before_run", error: "no", lane: "main" });
  });

  it("is not asked of a lane that is taken, and dropped where one takes it meanwhile", async () => {
    const opened = gate();
    const world = new World(text("hello"));
    const { harness, hooks } = await hooked(world);
    let count = 0;
    hooks.on(
      "before_run",
      async () => {
        count++;
        await opened.opened;
        return undefined;
      },
      id,
    );
    const both = [harness.prompt("one"), harness.prompt("two")];
    while (count < 2) await Promise.resolve();
    opened.open();
    const results = await Promise.all(both);
    expect(results.map((result) => result.ok || result.error._tag)).toEqual([true, "LaneBusy"]);
    expect(world.disk.dump().entries).toHaveLength(2);
  });

  it("needs an id that is its own", async () => {
    const { hooks } = await hooked(new World(text("hello")));
    expect(() => hooks.on("before_run", () => undefined)).toThrow(TypeError);
    hooks.on("before_run", () => undefined, id);
    expect(() => hooks.on("before_run", () => undefined, id)).toThrow("has the id");
    const take = hooks.on("before_resume", () => undefined, id);
    take();
    hooks.on("before_resume", () => undefined, id);
    hooks.on("before_tool", () => undefined);
  });
});

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
      "after_response",
      "after_response",
      "after_response",
    ]);
    expect(await session.findEntry({ type: "message" })).toMatchObject({ message: { stopReason: "stop" } });
    expect(seen[0]).not.toHaveProperty("timeoutMs");
  });

  it("of a poll begin with the captured options, deferred off, and its number", async () => {
    const handle: DeferredHandle = { provider: MODEL.provider, modelId: MODEL.id, api: MODEL.api, id: "job" };
    const world = new World({ stopReason: "deferred", deferred: handle });
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

describe("the hooks of a tool", () => {
  const one = calls({ id: "c1", name: "read", args: { path: "a" } });

  it("replace arguments, which are stored and checked again, and patch results field by field", async () => {
    const world = new World(one, text("done"));
    const { harness, hooks, session } = await hooked(world, { tools: [world.tool("read")] });
    const seen: unknown[] = [];
    hooks.on("before_tool", ({ toolCallId, toolName, args }) => {
      seen.push([toolCallId, toolName, { ...args }]);
      args.path = "changed in place";
      return { args: { path: "b" } };
    });
    hooks.on("before_tool", ({ args }) => {
      seen.push(args);
    });
    hooks.on("after_tool", ({ content, args, isError }) => {
      seen.push([content, args, isError]);
      return { details: { patched: true }, usage: tokens(1, 1) };
    });
    hooks.on("after_tool", ({ details }) => ({
      content: [{ type: "text", text: JSON.stringify(details) }],
      isError: true,
    }));
    await harness.prompt("go");
    expect(seen).toEqual([
      ["c1", "read", { path: "a" }],
      { path: "b" },
      [[{ type: "text", text: "read done" }], { path: "b" }, false],
    ]);
    expect(world.executions).toEqual(['read {"path":"b"}']);
    const results = (await session.findEntries({ type: "message" })).flatMap((entry) =>
      entry.type === "message" && entry.message.role === "toolResult" ? [entry.message] : [],
    );
    expect(results).toMatchObject([
      { content: [{ text: '{"patched":true}' }], details: { patched: true }, isError: true },
    ]);
    expect(world.disk.dump().usage).toHaveLength(3);
  });

  it.each([
    ["blocks with its reason", () => ({ block: { reason: "not allowed" } }), "not allowed"],
    [
      "throws: a block",
      () => {
        throw new Error("broken hook");
      },
      "broken hook",
    ],
    [
      "gives arguments that the tool refuses: a block",
      () => ({ args: { path: ["no"] } as never }),
      "refuses",
    ],
  ])("before_tool %s", async (_name, handler, said) => {
    const world = new World(one, text("done"));
    const { harness, hooks, session } = await hooked(world, { tools: [world.tool("read")] });
    hooks.on("before_tool", handler as never);
    hooks.on("before_tool", () => {
      throw new Error("never asked after a block");
    });
    expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(world.executions).toEqual([]);
    expect(world.disk.dump().registers.filter(({ namespace }) => namespace === "op.tool_args")).toEqual([]);
    const [, result] = await session.findEntries({ type: "message" });
    expect(result).toMatchObject({
      message: {
        role: "toolResult",
        isError: true,
        details: {},
        content: [{ text: expect.stringContaining(said) }],
      },
    });
  });

  it("end the run where a block asks for it, or a patch", async () => {
    const world = new World(calls({ id: "c1", name: "read" }, { id: "c2", name: "read" }));
    const { harness, hooks } = await hooked(world, { tools: [world.tool("read")] });
    hooks.on("before_tool", ({ toolCallId }) =>
      toolCallId === "c1" ? { block: { reason: "enough", terminate: true } } : undefined,
    );
    hooks.on("after_tool", () => ({ terminate: true }));
    const run = await harness.prompt("go");
    expect(run).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(run.ok && run.value).not.toHaveProperty("finalMessage");
    expect(world.requests).toHaveLength(1);
  });

  it("after_tool that is wrong leaves the result, and is not asked of what was not executed", async () => {
    const world = new World(calls({ id: "c1", name: "read" }, { id: "c2", name: "unknown" }), text("done"));
    const { harness, hooks, errors, session } = await hooked(world, { tools: [world.tool("read")] });
    const asked: string[] = [];
    hooks.on("after_tool", ({ toolCallId }) => {
      asked.push(toolCallId);
      return { content: "text" as never };
    });
    await harness.prompt("go");
    expect(asked).toEqual(["c1"]);
    expect(errors).toMatchObject([{ hook: "after_tool" }]);
    const contents = (await session.findEntries({ type: "message", order: "asc" })).flatMap((entry) =>
      entry.type === "message" && entry.message.role === "toolResult" ? [entry.message.content] : [],
    );
    expect(contents[0]).toEqual([{ type: "text", text: "read done" }]);
  });
});

describe("before_run_end", () => {
  it("lets the run go on with what it says, at each normal end", async () => {
    const world = new World(text("one"), text("two"));
    const { harness, hooks } = await hooked(world);
    const seen: number[] = [];
    hooks.on("before_run_end", ({ messages }) => {
      seen.push(messages.length);
      return seen.length === 1 ? { followUp: "and?" } : undefined;
    });
    expect(await harness.prompt("go")).toMatchObject({
      ok: true,
      value: { kind: "completed", finalMessage: { content: [{ text: "two" }] } },
    });
    expect(seen).toEqual([2, 4]);
    const model = StoreModel.fresh();
    const rows = world.log.flatMap((line) => {
      if (line.kind !== "commit") return [];
      const found = recognise(line.writes, model);
      model.apply(line.writes, line.result);
      return [found.ok ? found.name : found.message];
    });
    expect(rows).toContain("checkpoint.run-end-follow-up");
    expect(world.requests[1]?.messages.at(-1)).toMatchObject({ content: [{ text: "and?" }] });
  });

  it("commits what it says with the state that goes on, and never in a register", async () => {
    const { harness, hooks, storage } = await hooked(new World(text("one"), text("two")), {
      drive: "manual",
    });
    let isAsked = false;
    hooks.on("before_run_end", () => {
      if (isAsked) return undefined;
      isAsked = true;
      return { followUp: "and?" };
    });
    const run = harness.prompt("go");
    while ((await harness.peekAction()) !== undefined) {
      expect(await storage.listRegisters("pending.entry")).toEqual([]);
      await harness.executeAction();
    }
    expect(await run).toMatchObject({ ok: true, value: { kind: "completed" } });
    const said = (await storage.scanEntries({ type: "message" })).map((entry) =>
      entry.type === "message" ? entry.message.role : "",
    );
    expect(said).toEqual(["user", "assistant", "user", "assistant"]);
  });

  it("is out of date where something was queued while it was asked", async () => {
    const world = new World(text("one"), text("two"), text("three"));
    const { harness, hooks } = await hooked(world);
    const answers = ["late", "and?"];
    hooks.on("before_run_end", async () => {
      const followUp = answers.shift();
      if (followUp === "late") await harness.followUp("first this");
      return followUp === undefined ? undefined : { followUp };
    });
    await harness.prompt("go");
    const asked = world.requests.map(({ messages }) => messages.at(-1));
    expect(asked).toMatchObject([{}, { content: [{ text: "first this" }] }, { content: [{ text: "and?" }] }]);
  });

  it("is not asked after a failure, and dropped after an abort", async () => {
    const failed = await hooked(new World(failure("no")));
    failed.hooks.on("before_run_end", () => ({ followUp: "more" }));
    expect(await failed.harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "failed" } });
    const opened = gate();
    const world = new World(text("one"));
    const { harness, hooks } = await hooked(world);
    let isAsked = false;
    hooks.on("before_run_end", async () => {
      isAsked = true;
      await opened.opened;
      return { followUp: "more" };
    });
    const run = harness.prompt("go");
    while (!isAsked) await Promise.resolve();
    await harness.abort();
    opened.open();
    expect(await run).toMatchObject({ ok: true, value: { kind: "aborted" } });
    expect(world.requests).toHaveLength(1);
  });
});

it("each pipeline is one action of manual drive, and none where there is no handler", async () => {
  const world = new World(calls({ id: "c1", name: "read" }), text("done"));
  const { harness, hooks } = await hooked(world, { drive: "manual", tools: [world.tool("read")] });
  const names: HookName[] = [
    "before_run",
    "transform_context",
    "before_request",
    "after_response",
    "before_tool",
    "after_tool",
    "before_run_end",
  ];
  const ran: string[] = [];
  for (const name of names) {
    hooks.on(
      name,
      () => {
        ran.push(name);
      },
      { id: "1" },
    );
    hooks.on(
      name,
      () => {
        ran.push(name);
      },
      { id: "2" },
    );
  }
  const run = harness.prompt("go");
  const parked: string[] = [];
  for (;;) {
    const action = await harness.peekAction();
    if (action === undefined) break;
    const before = ran.length;
    await Promise.resolve();
    expect(ran.length).toBe(before);
    if (action.kind === "hook") parked.push(String((action.details as { hook?: unknown }).hook));
    await harness.executeAction();
  }
  await run;
  const request = ["before_request", "transform_context", "after_response"];
  expect(parked).toEqual([
    "before_run",
    ...request,
    "before_tool",
    "after_tool",
    ...request,
    "before_run_end",
  ]);
  expect(ran).toEqual(parked.flatMap((name) => [name, name]));
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
  expect(() => patchedStreamOptions(options, { metadata: { big: 1n } })).toThrow();
  expect(() => patchedStreamOptions(options, { transport: "carrier pigeon" as never })).toThrow(TypeError);
});
