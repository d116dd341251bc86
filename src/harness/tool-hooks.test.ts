/** The hooks around a tool call: what they replace, block and patch, and what becomes of what they get wrong. */
import { describe, expect, it } from "vitest";
import { hooked } from "./testing/hooked.ts";
import { calls, text, tokens, World } from "./testing/scripted.ts";

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
