/**
 * What cannot be stored, wherever it comes from, never reaches a commit, and faults nothing (spec §5.7): a text with half a
 * character, cut by somebody who counted code units, and things that are no text.
 */
import { describe, expect, it } from "vitest";
import type { AgentHarness } from "./agent-harness.ts";
import type { AgentHarnessOptions } from "./options.ts";
import { type Answer, calls, text, World } from "./testing/scripted.ts";

const HALF = "\ud83d";
const user = { role: "user", content: "long ".repeat(40), timestamp: 1 } as const;
const one = calls({ id: "c1", name: "read" });

async function booted(turns: readonly Answer[], options: (world: World) => Partial<AgentHarnessOptions>) {
  const world = new World(...turns);
  const compaction = { enabled: true, reserveTokens: 10, keepRecentTokens: 1 };
  return { world, ...(await world.boot({ compaction, ...options(world) })) };
}

describe("what an application throws is told as far as it can be", () => {
  const thrown = (error: unknown) => () => {
    throw error;
  };
  const cases: [string, readonly Answer[], (world: World) => Partial<AgentHarnessOptions>, string][] = [
    [
      "a tool",
      [one, text("done")],
      (world) => ({ tools: [world.tool("read", { execute: thrown(Error(HALF)) })] }),
      "\ufffd",
    ],
    [
      "a tool that throws no error",
      [one, text("done")],
      (world) => ({ tools: [world.tool("read", { execute: thrown(Object.create(null)) })] }),
      "cannot be shown",
    ],
    [
      "the preparation of arguments",
      [one, text("done")],
      (world) => ({ tools: [world.tool("read", { prepareArguments: thrown(Error(HALF)) })] }),
      "\ufffd",
    ],
    ["a provider", [() => Promise.reject(Error(HALF))], () => ({}), "\ufffd"],
  ];
  it.each(cases)("%s", async (_name, turns, options, said) => {
    const { world, harness } = await booted(turns, options);
    expect(await harness.prompt("go")).toMatchObject({ ok: true });
    expect(JSON.stringify(world.disk.dump().entries)).toContain(said);
  });
});

describe("what a hook answers", () => {
  it("a block, with as much of its reason as can be stored", async () => {
    const { world, harness } = await booted([one, text("done")], (w) => ({ tools: [w.tool("read")] }));
    harness.hooks.on("before_tool", () => ({ block: { reason: HALF } }));
    expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(world.executions).toEqual([]);
  });

  it("a system prompt and resume data, passed over", async () => {
    const { world, harness } = await booted([text("done")], () => ({ systemPrompt: "be kind" }));
    const errors: string[] = [];
    harness.events.on("handler_error", ({ error }) => {
      errors.push(error);
    });
    harness.hooks.on("before_run", () => ({ systemPrompt: HALF }), { id: "prompt" });
    harness.hooks.on("before_run", () => ({ resumeData: 1 }), { id: HALF });
    expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(errors).toHaveLength(2);
    expect(world.requests).toMatchObject([{ systemPrompt: "be kind" }]);
  });
});

describe("what a caller says is refused, and the harness goes on", () => {
  const calls: [string, string, (harness: AgentHarness, entryId: string) => Promise<unknown>][] = [
    ["prompt", "InvalidMessage", (harness) => harness.prompt(HALF)],
    ["prompt, no message", "InvalidMessage", (harness) => harness.prompt(5 as never)],
    ["steer", "InvalidMessage", (harness) => harness.steer(HALF)],
    ["nextRun", "InvalidMessage", (harness) => harness.nextRun(HALF)],
    ["skill", "UnknownSkill", (harness) => harness.skill(HALF)],
    ["compact", "InvalidMessage", (harness) => harness.compact({ customInstructions: HALF })],
    ["compact, no text", "InvalidMessage", (harness) => harness.compact({ customInstructions: 5 as never })],
    [
      "navigateTree",
      "InvalidNavigation",
      (harness, entryId) => harness.navigateTree(entryId, { label: HALF }),
    ],
    [
      "navigateTree, no text",
      "InvalidNavigation",
      (harness, entryId) =>
        harness.navigateTree(entryId, { summarize: true, customInstructions: 5 as never }),
    ],
    ["navigateTree, no id", "UnknownTarget", (harness) => harness.navigateTree(5 as never)],
    ["createLane", "InvalidLane", (harness) => harness.createLane(HALF, null)],
    ["recordUsage", "InvalidMessage", (harness) => harness.recordUsage(HALF as never)],
  ];
  it.each(calls)("%s: %s", async (_name, tag, call) => {
    const { world, harness } = await booted([text("done")], () => ({}));
    const entryId = await harness.session.appendMessage(user);
    await harness.session.appendMessage(user);
    const { commitCount } = world;
    expect(await call(harness, entryId)).toMatchObject({ ok: false, error: { _tag: tag } });
    expect(world.commitCount).toBe(commitCount);
    expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "completed" } });
  });

  it("where there is no way to answer, by rejecting", async () => {
    const { world, harness } = await booted([text("done")], () => ({}));
    const { commitCount } = world;
    for (const call of [
      harness.session.appendCustomEntry(HALF),
      harness.session.appendMessage({ ...user, content: HALF }),
      harness.session.setName(HALF),
      harness.session.setCustomFact("a", HALF),
      harness.setActiveTools([HALF]),
      harness.setStreamOptions({ metadata: { a: HALF } }),
    ]) {
      await expect(call).rejects.toThrow();
    }
    expect(world.commitCount).toBe(commitCount);
    expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "completed" } });
  });
});
