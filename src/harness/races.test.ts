/**
 * Pairs of the race catalogue that no other file holds, both orders of each (spec §9.2).
 */
import { describe, expect, it } from "vitest";
import type { OperationState } from "../model/index.ts";
import type { AgentHarness } from "./agent-harness.ts";
import { calls, gate, MODEL, text, World } from "./testing/scripted.ts";

const state = (world: World) =>
  world.disk.dump().registers.find(({ namespace }) => namespace === "op.state")?.value as OperationState;
const compactions = (world: World) => world.disk.dump().entries.filter(({ type }) => type === "compaction");
const results = (world: World) =>
  world.disk.dump().entries.flatMap((entry) => {
    if (entry.type !== "message") return [];
    const message = entry.message as { role: string };
    return message.role === "toolResult" ? [message] : [];
  });

/** Executes actions until the next one says this. */
async function stepTo(harness: AgentHarness, about: string): Promise<void> {
  for (let steps = 0; steps < 50; steps++) {
    const next = await harness.peekAction();
    if (next === undefined) throw new Error(`there is no ${about}`);
    if (`${next.kind} ${next.description}`.includes(about)) return;
    await harness.executeAction();
  }
}

describe("resume × resume", () => {
  it("the first has the operation, and the other finds the lane busy", async () => {
    const world = new World(text("answer"));
    const before = await world.boot({ drive: "manual" });
    before.harness.prompt("go").catch(() => undefined);
    await before.harness.executeAction();
    await before.harness.close();
    const { harness } = await world.boot();
    const [first, second] = await Promise.all([harness.resume(), harness.resume()]);
    expect(first).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(second).toMatchObject({ ok: false, error: { _tag: "LaneBusy" } });
    expect(world.requests).toHaveLength(1);
  });
});

describe("a setter × the start of a generation", () => {
  const other = { ...MODEL, id: "other" };
  it.each([
    ["setModel", (harness: AgentHarness) => harness.setModel(other), "configuration.model.modelId", "other"],
    [
      "setThinkingLevel",
      (harness: AgentHarness) => harness.setThinkingLevel("high"),
      "configuration.thinkingLevel",
      "high",
    ],
    [
      "setActiveTools",
      (harness: AgentHarness) => harness.setActiveTools([]),
      "configuration.activeToolNames",
      [],
    ],
    [
      "setRetryPolicy",
      (harness: AgentHarness) => harness.setRetryPolicy({ enabled: true, maxRetries: 6, baseDelayMs: 5 }),
      "retryPolicy.maxAttempts",
      7,
    ],
    [
      "setStreamOptions",
      (harness: AgentHarness) => harness.setStreamOptions({ timeoutMs: 7 }),
      "streamOptions.timeoutMs",
      7,
    ],
  ] as const)("%s first is in its snapshot, second is not", async (_name, set, path, value) => {
    for (const order of ["first", "second"]) {
      const world = new World(text("answer"));
      const { harness } = await world.boot({ drive: "manual", tools: [world.tool("read")] });
      harness.prompt("go").catch(() => undefined);
      await stepTo(harness, "generation_started");
      if (order === "first") await set(harness);
      await harness.executeAction();
      if (order === "second") await set(harness);
      // The commit that a setter overtook writes nothing, and is planned again.
      if (order === "first") await harness.executeAction();
      expect(state(world)).toMatchObject({ phase: { generation: { status: "ready" } } });
      const snapshot = expect(state(world));
      const at = `phase.generation.context.${path}`;
      if (order === "first") snapshot.toHaveProperty(at, value);
      else snapshot.not.toHaveProperty(at, value);
      await harness.close();
    }
  });
});

describe("abort × the commit of a summary", () => {
  it.each([
    ["first", "aborted", 0],
    ["second", "completed", 1],
  ] as const)("abort %s: the compaction is %s", async (order, kind, count) => {
    const world = new World(text("one"), text("two"));
    world.summaries = [text("SUMMARY")];
    const compaction = { enabled: true, reserveTokens: 1000, keepRecentTokens: 1 };
    const before = await world.boot({ compaction });
    await before.harness.prompt("first");
    await before.harness.prompt("second");
    await before.harness.close();
    const { harness } = await world.boot({ compaction, drive: "manual" });
    const leafId = await harness.getLeafId();
    const work = harness.compact();
    await stepTo(harness, "commit_terminal");
    if (order === "second") await harness.executeAction();
    expect((await harness.abort()).ok).toBe(order === "first");
    await harness.runToCompletion();
    expect(await work).toMatchObject({ ok: true, value: { kind } });
    expect(compactions(world)).toHaveLength(count);
    expect((await harness.getLeafId()) === leafId).toBe(order === "first");
  });
});

describe("abort × after_tool", () => {
  it.each([
    ["first", "it is not asked", "raw", 0],
    ["second", "what it makes of the result stands", "patched", 1],
  ] as const)("abort %s: %s", async (order, _what, said, asked) => {
    const [running, done, asking, answer] = [gate(), gate(), gate(), gate()];
    const world = new World(calls({ id: "c1", name: "read" }), text("never"));
    const execute = async () => {
      running.open();
      await done.opened;
      return { content: [{ type: "text" as const, text: "raw" }], details: {} };
    };
    const { harness } = await world.boot({ tools: [world.tool("read", { execute })] });
    let askedCount = 0;
    harness.hooks.on("after_tool", async () => {
      askedCount++;
      asking.open();
      await answer.opened;
      return { content: [{ type: "text" as const, text: "patched" }] };
    });
    const run = harness.prompt("go");
    await running.opened;
    if (order === "first") await harness.abort();
    done.open();
    if (order === "second") {
      await asking.opened;
      await harness.abort();
    }
    answer.open();
    expect(await run).toMatchObject({ ok: true, value: { kind: "aborted" } });
    expect(results(world)).toMatchObject([{ content: [{ text: said }], isError: false }]);
    expect(askedCount).toBe(asked);
  });
});

describe("abort × the commit of a result that ends the run", () => {
  it.each([
    ["first", undefined],
    ["second", true],
  ] as const)("abort %s: what it asks for is stored as %s", async (order, terminate) => {
    const world = new World(calls({ id: "c1", name: "submit" }));
    const execute = async () => ({ content: [], details: {}, terminate: true });
    const { harness } = await world.boot({ drive: "manual", tools: [world.tool("submit", { execute })] });
    const run = harness.prompt("go");
    await stepTo(harness, "commit_settlement");
    await harness.executeAction();
    await stepTo(harness, "commit_settlement");
    if (order === "second") await harness.executeAction();
    await harness.abort();
    await harness.runToCompletion();
    expect(await run).toMatchObject({ ok: true, value: { kind: "aborted" } });
    const stored = world.disk.dump().entries.at(-1) as { terminate?: true };
    expect(stored.terminate).toBe(terminate);
  });
});

describe("close × the settlement of a response", () => {
  it.each([
    ["first", "abandoned, and its state stays pending", "effect_pending"],
    ["second", "it is stored before the seal", undefined],
  ] as const)("close %s: %s", async (order, _what, status) => {
    const world = new World(text("answer"));
    const { harness } = await world.boot({ drive: "manual" });
    const run = harness.prompt("go");
    run.catch(() => undefined);
    await stepTo(harness, "commit_settlement");
    const settled = order === "second" ? harness.executeAction() : undefined;
    await settled;
    await harness.close();
    await expect(run).rejects.toThrow();
    const { phase } = state(world) as Extract<OperationState, { kind: "run" }>;
    expect(phase.kind).toBe(order === "first" ? "assistant" : "checkpoint");
    expect(phase.kind === "assistant" ? phase.generation.status : undefined).toBe(status);
  });
});
