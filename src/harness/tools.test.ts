import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import type { AgentHarnessTool, AgentToolUpdate, ToolResultMessage } from "../model/index.ts";
import { calls, gate, text, tokens, World } from "./testing/scripted.ts";

type Declared = Parameters<World["tool"]>[1];

/** Runs one call of a tool and gives the stored result. */
async function resultOf(
  declared: Declared,
  args: Record<string, unknown> = {},
  name = "tool",
): Promise<{ world: World; message: ToolResultMessage }> {
  const world = new World(calls({ id: "c1", name, args: args as never }), text("done"));
  const { harness } = await world.boot({ tools: [world.tool("tool", declared)] });
  const run = await harness.prompt("go");
  expect(run).toMatchObject({ ok: true, value: { kind: "completed" } });
  const entry = world.disk.dump().entries[2];
  if (entry?.type !== "message" || entry.message.role !== "toolResult") throw new Error("no result");
  return { world, message: entry.message };
}

const said = ({ content }: ToolResultMessage) =>
  content.map((block) => ("text" in block ? block.text : "")).join();
const Strict = Type.Object({ path: Type.String(), limit: Type.Optional(Type.Integer({ minimum: 1 })) });

describe("clearance", () => {
  it("coerces primitives that a model got nearly right, and stores what the tool gets", async () => {
    const { world, message } = await resultOf({ parameters: Strict }, { path: 7, limit: "3" });
    expect(message.isError).toBe(false);
    expect(world.executions).toEqual(['tool {"path":"7","limit":3}']);
    const stored = world.commits
      .flat()
      .find((write) => write.kind === "register" && write.namespace === "op.tool_args");
    expect(stored).toMatchObject({ value: { path: "7", limit: 3 } });
  });

  it("runs the shim before validation, on a copy of what the model said", async () => {
    const { world } = await resultOf(
      {
        parameters: Strict,
        prepareArguments: (raw) => {
          const given = raw as { file?: string };
          const path = given.file;
          delete given.file;
          return { path, limit: undefined };
        },
      },
      { file: "a" },
    );
    expect(world.executions).toEqual(['tool {"path":"a"}']);
    expect(world.disk.dump().entries[1]).toMatchObject({
      message: { content: [{ arguments: { file: "a" } }] },
    });
  });

  it.each([
    ["arguments of the wrong shape", { parameters: Strict }, { path: ["a"] }, "/path should be a string"],
    ["a missing argument", { parameters: Strict }, {}, "/path"],
    ["a shim that throws", { prepareArguments: () => fail("no such flag") }, {}, "no such flag"],
    [
      "a shim that gives no object",
      { parameters: Type.Any(), prepareArguments: () => "x" },
      {},
      "no JSON object",
    ],
    [
      "a shim that gives a date",
      { parameters: Type.Any(), prepareArguments: () => ({ at: new Date(0) }) },
      {},
      "JSON",
    ],
  ] as [string, Declared, object, string][])(
    "refuses %s as a result that the model reads",
    async (_name, declared, args, words) => {
      const { world, message } = await resultOf(declared, args as Record<string, unknown>);
      expect(message).toMatchObject({ isError: true, details: {}, toolCallId: "c1", toolName: "tool" });
      expect(said(message)).toContain(words);
      expect(world.executions).toEqual([]);
      expect(JSON.stringify(world.commits)).not.toContain("op.tool_args");
    },
  );

  it("refuses a tool that is unknown, and one that is registered but not active", async () => {
    const unknown = await resultOf({}, {}, "other");
    expect(said(unknown.message)).toContain("no tool named other. Available tools: tool.");
    const world = new World(calls({ id: "c1", name: "quiet" }), text("done"));
    const { harness } = await world.boot({ tools: [world.tool("quiet")], activeToolNames: [] });
    await harness.prompt("go");
    expect(world.executions).toEqual([]);
    expect(JSON.stringify(world.disk.dump().entries[2])).toContain("Available tools: none.");
  });
});

describe("results", () => {
  it("default to empty content, and lose members that are undefined", async () => {
    const { message } = await resultOf({ execute: async () => ({ details: { a: undefined, b: 1 } }) });
    expect(message).toMatchObject({ content: [], details: { b: 1 }, isError: false });
  });

  it("of a tool that throws are its message", async () => {
    const { message } = await resultOf({ execute: () => fail("disk full") });
    expect(message).toMatchObject({
      isError: true,
      content: [{ type: "text", text: "disk full" }],
      details: {},
    });
  });

  it("put the tool's own cost into the ledger once, beside the message", async () => {
    const { world, message } = await resultOf({
      execute: async () => ({ details: {}, usage: tokens(3, 4) }),
    });
    expect(message.usage).toEqual(tokens(3, 4));
    const rows = world.disk.dump().usage.map(({ usage, entryId }) => [usage.totalTokens, entryId]);
    expect(rows[1]).toEqual([7, world.disk.dump().entries[2]?.id]);
    expect(rows).toHaveLength(3);
  });

  it.each([
    ["nothing", undefined, "no object"],
    [
      "content of a wrong shape",
      { content: [{ type: "audio" }], details: {}, usage: tokens(1, 1) },
      "/content/0",
    ],
    ["details that JSON cannot carry", { details: { at: new Date(0) }, usage: tokens(1, 1) }, "/details/at"],
  ])("that cannot be stored become errors: %s", async (_name, result, words) => {
    const execute = (async () => result) as unknown as AgentHarnessTool<undefined>["execute"];
    const { world, message } = await resultOf({ execute });
    expect(message.isError).toBe(true);
    expect(said(message)).toContain(words);
    expect(world.disk.dump().usage).toHaveLength(result === undefined ? 2 : 3);
  });

  it("with an invalid cost lose the cost, not the run", async () => {
    const execute = (async () => ({
      details: {},
      usage: { input: "many" },
    })) as unknown as AgentHarnessTool<undefined>["execute"];
    const { world, message } = await resultOf({ execute });
    expect(message).toMatchObject({ isError: true });
    expect(world.disk.dump().usage).toHaveLength(2);
  });

  it("do not change with what the tool does to its arguments or its result afterwards", async () => {
    const kept: { list: number[] }[] = [];
    const { world, message } = await resultOf(
      {
        parameters: Type.Any() as never,
        execute: async (_id, params) => {
          const given = params as { list: number[] };
          given.list.push(9);
          kept.push(given);
          return { details: given };
        },
      },
      { list: [1] },
    );
    kept[0]?.list.push(10);
    expect(message.details).toEqual({ list: [1, 9] });
    const stored = world.commits
      .flat()
      .find((write) => write.kind === "register" && write.namespace === "op.tool_args");
    expect(stored).toMatchObject({ value: { list: [1] } });
  });

  it("end the updates of their call", async () => {
    let late: AgentToolUpdate | undefined;
    const world = new World(calls({ id: "c1", name: "read" }), text("done"));
    const read = world.tool("read", {
      execute: async (_id, _args, _signal, onUpdate) => {
        onUpdate?.({ details: { half: true } });
        late = onUpdate;
        return { details: {} };
      },
    });
    const { harness } = await world.boot({ tools: [read] });
    const updates: unknown[] = [];
    harness.events.on("tool_update", ({ partialResult }) => {
      updates.push(partialResult.details);
    });
    harness.events.on("tool_end", () => late?.({ details: { late: true } }));
    await harness.prompt("go");
    late?.({ details: { later: true } });
    expect(updates).toEqual([{ half: true }]);
  });

  it("end the run when every call asks for it, and only then", async () => {
    const ends = async (second: boolean) => {
      const world = new World(calls({ id: "c1", name: "end" }, { id: "c2", name: "other" }), text("done"));
      const { harness } = await world.boot({
        tools: [
          world.tool("end", { execute: async () => ({ details: {}, terminate: true }) }),
          world.tool("other", { execute: async () => ({ details: {}, terminate: second }) }),
        ],
      });
      return { world, run: await harness.prompt("go"), last: await harness.getLastResult() };
    };
    const all = await ends(true);
    expect(all.world.requests).toHaveLength(1);
    expect(all.run.ok && all.run.value).not.toHaveProperty("finalMessage");
    expect(all.last).toMatchObject({ outcome: "completed", runCompletion: "terminated_tools" });
    const one = await ends(false);
    expect(one.world.requests).toHaveLength(2);
    expect(one.last).toMatchObject({ runCompletion: "assistant" });
  });
});

describe("a batch", () => {
  it("in parallel starts all calls at once and stores their results in source order", async () => {
    const first = gate();
    const world = new World(
      calls({ id: "c1", name: "slow" }, { id: "c2", name: "missing" }, { id: "c3", name: "fast" }),
      text("done"),
    );
    const { harness } = await world.boot({
      tools: [
        world.tool("slow", { execute: () => first.opened.then(() => ({ details: {} })) }),
        world.tool("fast", {
          execute: async () => {
            first.open();
            return { details: {} };
          },
        }),
      ],
    });
    await harness.prompt("go");
    expect(world.executions).toEqual(["slow {}", "fast {}"]);
    expect(resultsOf(world)).toEqual(["c1", "c2", "c3"]);
  });

  it.each([
    ["by option", { toolExecution: "sequential" } as const, undefined],
    ["by one of its tools", {}, "sequential" as const],
  ])("in sequence starts a call when the one before is stored: %s", async (_name, options, executionMode) => {
    const world = new World(calls({ id: "c1", name: "one" }, { id: "c2", name: "two" }), text("done"));
    const stored: number[] = [];
    const execute = async () => {
      stored.push(resultsOf(world).length);
      return { details: {} };
    };
    const { harness } = await world.boot({
      ...options,
      tools: [
        world.tool("one", { execute }),
        world.tool("two", { execute, ...(executionMode ? { executionMode } : {}) }),
      ],
    });
    await harness.prompt("go");
    expect(stored).toEqual([0, 1]);
  });

  it("resolves the tool context once, and gives it to every call", async () => {
    const world = new World(
      calls({ id: "c1", name: "read" }, { id: "c2", name: "read" }),
      calls({ id: "c3", name: "read" }),
      text("done"),
    );
    const contexts: unknown[] = [];
    let count = 0;
    const { harness } = await world.boot({
      tools: [
        world.tool("read", {
          execute: async (_id, _args, _signal, _update, context) => {
            contexts.push(context);
            return { details: {} };
          },
        }),
      ],
      toolContext: (() => ({ batch: ++count })) as never,
    });
    await harness.prompt("go");
    expect(contexts).toEqual([{ batch: 1 }, { batch: 1 }, { batch: 2 }]);
  });

  it("is bound to the tools as they were when it was come to, whatever is registered meanwhile", async () => {
    const world = new World(
      calls({ id: "c1", name: "read" }, { id: "c2", name: "read" }),
      calls({ id: "c3", name: "read" }),
      text("done"),
    );
    const ran: string[] = [];
    const { harness } = await world.boot({
      toolExecution: "sequential",
      tools: [
        world.tool("read", {
          execute: async (id) => {
            ran.push(`old ${id}`);
            await harness.setTools([
              world.tool("read", {
                execute: async (later) => {
                  ran.push(`new ${later}`);
                  return { details: {} };
                },
              }),
            ]);
            return { details: {} };
          },
        }),
      ],
    });
    await harness.prompt("go");
    expect(ran).toEqual(["old c1", "old c2", "new c3"]);
  });

  it("reserves result ids that carry the time of their response", async () => {
    const world = new World(async () => {
      world.clock.step(5000);
      return calls({ id: "c1", name: "read" });
    }, text("done"));
    const { harness } = await world.boot({ tools: [world.tool("read")] });
    await harness.prompt("go");
    const [, response, result] = world.disk.dump().entries;
    expect(result?.id.slice(0, 13)).toBe(response?.id.slice(0, 13));
  });
});

describe("a registry", () => {
  it("refuses two tools of one name", async () => {
    const world = new World(text("hello"));
    await expect(world.boot({ tools: [world.tool("read"), world.tool("read")] })).rejects.toThrow("read");
  });
});

function resultsOf(world: World): string[] {
  return world.disk
    .dump()
    .entries.flatMap((entry) =>
      entry.type === "message" && entry.message.role === "toolResult" ? [entry.message.toolCallId] : [],
    );
}

function fail(message: string): never {
  throw new Error(message);
}
