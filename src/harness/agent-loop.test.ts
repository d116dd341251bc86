/** The building blocks, driven by hand: one request, and tool calls in their three stages. */
import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import type { AgentTool, SettledAssistantMessage } from "../model/index.ts";
import type { AgentLoopEvent } from "./agent-events.ts";
import { runAgentLoop } from "./agent-loop.ts";
import { streamAssistant } from "./agent-request.ts";
import { executeToolBatch, type ToolCallbacks } from "./agent-tools.ts";
import { toProviderMessages } from "./provider-messages.ts";
import { NO_TELEMETRY } from "./telemetry.ts";
import { calls, gate, MODEL, text, tokens, World } from "./testing/scripted.ts";

const prompt = { role: "user" as const, content: "go", timestamp: 5 };
const signal = new AbortController().signal;
const telemetryContext = NO_TELEMETRY;

function config(world: World) {
  return {
    model: MODEL,
    thinkingLevel: "off" as const,
    toProviderMessages,
    models: world.models(),
    telemetryContext,
    signal,
  };
}

const tool = (name: string, more: Partial<AgentTool> = {}): AgentTool => ({
  name,
  label: name,
  description: name,
  parameters: Type.Object({ path: Type.Optional(Type.String()) }),
  execute: async () => ({ content: [{ type: "text", text: `${name} done` }], details: {} }),
  ...more,
});

const response = (...wanted: Parameters<typeof calls>): SettledAssistantMessage =>
  ({
    role: "assistant",
    api: "a",
    provider: "p",
    model: "m",
    usage: tokens(1, 1),
    timestamp: 1,
    ...calls(...wanted),
  }) as SettledAssistantMessage;

async function batch(
  of: SettledAssistantMessage,
  tools: AgentTool[],
  callbacks: ToolCallbacks = {},
  mode: "sequential" | "parallel" = "parallel",
) {
  const events: AgentLoopEvent[] = [];
  const emit = (event: AgentLoopEvent) => void events.push(event);
  const done = await executeToolBatch(of, tools, {
    mode,
    callbacks,
    emit,
    telemetryContext,
    signal,
    nowMs: () => 9,
  });
  return {
    ...done,
    types: events.map(({ type }) => type),
    texts: done.messages.map(({ content }) => content[0]),
  };
}

describe("one request", () => {
  it("tells its message and answers it, after the last word on it", async () => {
    const events: string[] = [];
    const answer = await streamAssistant(
      [prompt],
      {
        ...config(new World(text("hello"))),
        transformResponse: async (message) => ({ ...message, responseId: "mine" }),
      },
      ({ type }) => void events.push(type),
    );
    expect(answer).toMatchObject({ stopReason: "stop", responseId: "mine", content: [{ text: "hello" }] });
    expect(events).toEqual(["message_start", "message_end"]);
  });

  it.each([
    ["throws", async () => Promise.reject(new Error("socket hang up")), "socket hang up"],
    ["aborts unasked", { stopReason: "aborted" as const }, "nobody asked for"],
  ])("that %s is a response with an error", async (_name, script, said) => {
    const answer = await streamAssistant([prompt], config(new World(script as never)), () => undefined);
    expect(answer).toMatchObject({ stopReason: "error", errorMessage: expect.stringContaining(said) });
  });
});

describe("a batch", () => {
  it("runs side by side, and finishes in source order", async () => {
    const opened = gate();
    const order: string[] = [];
    const slow = tool("slow", {
      execute: async () => {
        await opened.opened;
        order.push("slow");
        return { details: {} };
      },
    });
    const fast = tool("fast", {
      execute: async () => {
        order.push("fast");
        opened.open();
        return { details: {} };
      },
    });
    const { messages, terminate } = await batch(
      response({ id: "c1", name: "slow" }, { id: "c2", name: "fast" }),
      [slow, fast],
    );
    expect(order).toEqual(["fast", "slow"]);
    expect(messages.map(({ toolCallId }) => toolCallId)).toEqual(["c1", "c2"]);
    expect(terminate).toBe(false);
  });

  it("runs one after another if one of its tools is sequential", async () => {
    const { types } = await batch(response({ id: "c1", name: "a" }, { id: "c2", name: "b" }), [
      tool("a"),
      tool("b", { executionMode: "sequential" }),
    ]);
    const one = ["tool_execution_start", "tool_execution_end", "message_start", "message_end"];
    expect(types).toEqual([...one, ...one]);
  });

  it("executes nothing that is unknown, refused, blocked or cut off", async () => {
    let count = 0;
    const counted = tool("a", {
      execute: async () => {
        count++;
        return { details: {} };
      },
    });
    const of = response(
      { id: "c1", name: "none" },
      { id: "c2", name: "a", args: { path: ["no"] } },
      { id: "c3", name: "a" },
    );
    const callbacks = { beforeToolCall: async () => ({ block: { reason: "not now", terminate: true } }) };
    const { results, texts } = await batch(of, [counted], callbacks);
    expect(texts).toMatchObject([
      { text: expect.stringContaining("no tool named none") },
      { text: expect.stringContaining("refused") },
      { text: "not now" },
    ]);
    expect(results.map(({ terminate }) => terminate)).toEqual([false, false, true]);
    const cut = await batch({ ...of, stopReason: "length" }, [counted]);
    expect(cut.messages).toHaveLength(3);
    expect(count).toBe(0);
  });

  it("replaces arguments and patches results, and turns what throws into errors", async () => {
    const seen: unknown[] = [];
    const broken = tool("b", {
      execute: async () => {
        throw new Error("broken");
      },
    });
    const echo = tool("a", {
      execute: async (_id, args) => {
        seen.push(args);
        return { details: {}, terminate: true };
      },
    });
    const { messages, terminate } = await batch(
      response({ id: "c1", name: "a" }, { id: "c2", name: "b" }),
      [echo, broken],
      {
        beforeToolCall: async () => ({ args: { path: "x" } }),
        afterToolCall: async (_call, _args, _result, isError) =>
          isError ? { terminate: true } : { details: { patched: true } },
        onToolStart: async (_call, args) => void seen.push(args),
      },
    );
    expect(seen).toContainEqual({ path: "x" });
    expect(messages).toMatchObject([
      { details: { patched: true }, isError: false },
      { content: [{ text: "broken" }], isError: true },
    ]);
    expect(terminate).toBe(true);
  });

  it("answers a result that cannot be stored with an error", async () => {
    const odd = tool("a", {
      execute: async () => ({ content: [{ type: "text", text: 7 }] as never, details: {} }),
    });
    const { messages } = await batch(response({ id: "c1", name: "a" }), [odd]);
    expect(messages).toMatchObject([
      {
        isError: true,
        content: [{ text: expect.stringContaining("The result of a could not be stored: /content/0/text") }],
      },
    ]);
  });

  it("ends where who keeps what happens cannot", async () => {
    const keep = async () => Promise.reject(new Error("disk full"));
    const of = response({ id: "c1", name: "a" });
    await expect(batch(of, [tool("a")], { onToolStart: keep })).rejects.toThrow("disk full");
    await expect(batch(of, [tool("a")], { onToolResult: keep })).rejects.toThrow("disk full");
  });
});

describe("the loop", () => {
  const loop = async (world: World, tools: AgentTool[], more: object = {}) => {
    const events: string[] = [];
    const emit = (event: AgentLoopEvent) => void events.push(event.type);
    const added = await runAgentLoop(
      [prompt],
      [],
      { ...config(world), tools, nowMs: () => 9, ...more },
      emit,
    );
    return { events, roles: added.map(({ role }) => role), last: added.at(-1) };
  };
  const said = ["message_start", "message_end"];

  it("goes from turn to turn until a response asks for no call, and tells all of it", async () => {
    const world = new World(calls({ id: "c1", name: "a" }), text("done"));
    const { events, roles, last } = await loop(world, [tool("a")]);
    expect(events).toEqual([
      ...["agent_start", "turn_start", ...said, ...said],
      ...["tool_execution_start", "tool_execution_end", ...said, "turn_end"],
      ...["turn_start", ...said, "turn_end", "agent_end"],
    ]);
    expect(roles).toEqual(["user", "assistant", "toolResult", "assistant"]);
    expect(last).toMatchObject({ content: [{ text: "done" }] });
    expect(world.requests[1]?.messages).toHaveLength(3);
  });

  it("ends with a batch of which every call asks for it, and with a response that failed", async () => {
    const ending = tool("a", { execute: async () => ({ details: {}, terminate: true }) });
    const ended = await loop(new World(calls({ id: "c1", name: "a" })), [ending]);
    expect(ended.roles).toEqual(["user", "assistant", "toolResult"]);
    const failed = await loop(new World({ ...calls({ id: "c1", name: "a" }), stopReason: "error" }), [
      ending,
    ]);
    expect(failed.roles).toEqual(["user", "assistant"]);
  });

  it("executes nothing more once the signal is up", async () => {
    const controller = new AbortController();
    const world = new World(calls({ id: "c1", name: "a" }, { id: "c2", name: "a" }), text("never"));
    let count = 0;
    const aborting = tool("a", {
      executionMode: "sequential",
      execute: async () => {
        count++;
        controller.abort();
        return { details: {}, terminate: true };
      },
    });
    const { roles } = await loop(world, [aborting], { signal: controller.signal });
    expect(roles).toEqual(["user", "assistant", "toolResult", "toolResult"]);
    expect(count).toBe(1);
    expect(world.requests).toHaveLength(1);
  });

  it("survives what a tool, a listener to its updates and a last word get wrong", async () => {
    const odd = tool("a", {
      execute: async (_id, _args, _signal, onUpdate) => {
        onUpdate?.({ details: {} });
        return null as never;
      },
    });
    const events: string[] = [];
    const added = await runAgentLoop(
      [prompt],
      [],
      {
        ...config(new World(calls({ id: "c1", name: "a" }), text("done"))),
        tools: [odd],
        nowMs: () => 9,
        transformResponse: () => Promise.reject(new Error("no")),
      },
      async (event) => {
        events.push(event.type);
        if (event.type === "tool_execution_update") throw new Error("no");
      },
    );
    expect(events).toContain("tool_execution_update");
    expect(added.at(-2)).toMatchObject({ role: "toolResult", isError: true });
    expect(added.at(-1)).toMatchObject({ role: "assistant", stopReason: "stop" });
  });
});
