import { describe, expect, it } from "vitest";
import { calls, inWords, text, World } from "./testing/scripted.ts";

describe("a run without tools", () => {
  it("goes from prompt to terminal in five commits", async () => {
    const world = new World(text("hello"));
    const { harness, suspended, session } = await world.boot();
    expect(suspended).toEqual([]);
    const result = await harness.prompt("hi");
    expect(result).toMatchObject({
      ok: true,
      value: { kind: "completed", finalMessage: { stopReason: "stop" } },
    });
    expect(world.commits.map((writes) => writes.map(inWords).join(" · "))).toEqual([
      "set lane.config",
      "entry user · set lane.leaf · set op.meta · set op.state · set lane.state",
      "set op.state",
      "set op.state",
      "entry assistant · set lane.leaf · usage · set op.state",
      "delete op.meta · delete op.state · set lane.lastResult · set lane.state",
    ]);
    expect(await harness.getLastResult()).toMatchObject({ outcome: "completed", runCompletion: "assistant" });
    expect((await session.getStats()).messageCount).toBe(2);
  });
});

describe("a run with tools", () => {
  it("executes what the model asks for and answers", async () => {
    const world = new World(
      calls({ id: "c1", name: "read", args: { path: "a" } }, { id: "c2", name: "write" }),
      text("done"),
    );
    const { harness } = await world.boot({ tools: [world.tool("read"), world.tool("write")] });
    const result = await harness.prompt("go");
    expect(result).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(world.executions).toEqual(['read {"path":"a"}', "write {}"]);
    expect(world.requests[1]?.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "toolResult",
      "toolResult",
    ]);
    expect(world.commits.map((writes) => writes.map(inWords).join(" · ")).slice(4)).toEqual([
      "entry assistant · set lane.leaf · usage · set op.state",
      "set op.tool_args · set op.state",
      "set op.tool_args · set op.state",
      "entry toolResult · set lane.leaf · set op.state",
      "entry toolResult · set lane.leaf · delete op.tool_args · delete op.tool_args · set op.state",
      "set op.state",
      "set op.state",
      "entry assistant · set lane.leaf · usage · set op.state",
      "delete op.meta · delete op.state · set lane.lastResult · set lane.state",
    ]);
  });
});
