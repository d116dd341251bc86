/** Compactions inside a run: at a threshold, and after an overflow. */
import { describe, expect, it } from "vitest";
import { compactions, hook, SETTINGS, summaryRequests, supplied } from "./testing/conversation.ts";
import { calls, failure, text, tokens, World } from "./testing/scripted.ts";

describe("a compaction inside a run", () => {
  const big = { ...text("big"), usage: tokens(199_500, 10) };

  it("begins at a checkpoint whose context is too large, and the run goes on where it was", async () => {
    const world = new World(
      { ...calls({ id: "c", name: "read" }), usage: tokens(199_500, 10) },
      text("done"),
    );
    world.summaries = [text("SUMMARY")];
    const { harness } = await world.boot({ compaction: SETTINGS, tools: [world.tool("read")] });
    expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(world.disk.dump().entries.map(({ type }) => type)).toEqual([
      "message",
      "message",
      "message",
      "compaction",
      "message",
    ]);
    expect(compactions(world)[0]).toMatchObject({
      retainedTail: [{ role: "assistant" }, { role: "toolResult" }],
    });
  });

  it("happens at most once per trigger, also where there is nothing to compact", async () => {
    const world = new World(big);
    const { harness } = await world.boot({ compaction: { ...SETTINGS, keepRecentTokens: 1000 } });
    expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(summaryRequests(world)).toEqual([]);
    expect(world.commits.filter((writes) => writes.length === 1).length).toBeGreaterThan(0);
  });

  it.each([
    ["declined", hook({ decline: true }), "completed"],
    ["supplied", hook({ compaction: supplied }), "completed"],
  ])("goes on where it is %s at a threshold", async (_name, hooked, kind) => {
    const world = new World(big);
    const { harness } = await world.boot({ compaction: SETTINGS });
    hooked(harness.hooks);
    expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind } });
  });

  it.each([
    ["an error of its provider", failure("prompt is too long")],
    ["an output that is short of its limit", { ...text("cut"), stopReason: "length" as const }],
  ])("follows a request that did not fit, by %s, and asks again once", async (_name, tooLarge) => {
    const world = new World(text("one"), [tooLarge, text("fits")]);
    world.summaries = [text("SUMMARY")];
    const { harness } = await world.boot({ compaction: SETTINGS });
    await harness.prompt("first");
    expect(await harness.prompt("second")).toMatchObject({ ok: true, value: { kind: "completed" } });
    const [compaction] = compactions(world);
    expect(compaction).toMatchObject({ retainedTail: [{ role: "user" }] });
    const refused = world.disk.dump().entries.find(({ id }) => id === compaction?.parentId);
    expect(refused).toMatchObject({ message: { stopReason: "error" } });
  });

  it("fails the run when the request does not fit a second time", async () => {
    const world = new World([failure("prompt is too long")], failure("prompt is too long"));
    world.summaries = [text("SUMMARY")];
    const { harness } = await world.boot({ compaction: { ...SETTINGS, keepRecentTokens: 0 } });
    expect(await harness.prompt([user("a"), user("b")])).toMatchObject({
      ok: true,
      value: { kind: "failed", error: { code: "context_overflow" } },
    });
    expect(compactions(world)).toHaveLength(1);
  });

  it.each([
    ["there is nothing to compact", { ...SETTINGS, keepRecentTokens: 1000 }, undefined, "context_overflow"],
    ["compaction is switched off", { ...SETTINGS, enabled: false }, undefined, "context_overflow"],
    ["a hook declines", SETTINGS, hook({ decline: true }), "compaction_declined"],
    ["the summary fails", SETTINGS, undefined, "summarization_failed"],
  ])("fails the run where %s after an overflow", async (_name, compaction, hooked, code) => {
    const world = new World(failure("prompt is too long"));
    world.summaries = [failure("no")];
    const { harness } = await world.boot({ compaction });
    hooked?.(harness.hooks);
    expect(await harness.prompt([user("a"), user("b")])).toMatchObject({
      ok: true,
      value: { kind: "failed", error: { code } },
    });
  });

  it.each([
    ["at a threshold", { ...text("done"), usage: tokens(199_500, 10) }, text("never")],
    ["after an overflow", failure("prompt is too long"), text("done")],
  ])("goes by the settings that the run was accepted with: %s", async (_name, second, third) => {
    const world = new World(calls({ id: "c", name: "read" }), [second, third]);
    world.summaries = [text("SUMMARY")];
    const read = world.tool("read", {
      execute: async () => {
        await harness.setCompactionSettings({
          enabled: false,
          reserveTokens: 1,
          keepRecentTokens: 1_000_000,
        });
        return { details: {} };
      },
    });
    const { harness } = await world.boot({ compaction: SETTINGS, tools: [read] });
    expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(compactions(world)).toHaveLength(1);
  });
});

function user(content: string) {
  return { role: "user", content, timestamp: 1 } as const;
}
