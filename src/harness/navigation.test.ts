/**
 * Navigation: where the lane stands afterwards, what is written for it, and what is refused.
 */
import { describe, expect, it } from "vitest";
import type { Entry, LaneLastResult } from "../model/index.ts";
import type { AgentHarness } from "./agent-harness.ts";
import type { BranchSummaryResult } from "./decision-hooks.ts";
import { failure, inWords, isSummaryRequest, text, tokens, World } from "./testing/scripted.ts";

const last = (harness: AgentHarness) => harness.getLastResult() as Promise<LaneLastResult>;
const summaryRequests = (world: World) => world.requests.filter(isSummaryRequest);
const supplied: BranchSummaryResult = {
  summary: "HOOK",
  usage: tokens(3, 4),
  readFiles: ["r"],
  modifiedFiles: ["m"],
};

/** Two turns: entries 0 to 3, the lane at 3. */
async function conversation(options: Parameters<World["boot"]>[0] = {}) {
  const world = new World(text("one"), text("two"), text("three"));
  world.summaries = [text("SUMMARY")];
  const { harness, session } = await world.boot(options);
  await harness.prompt("first");
  await harness.prompt("second");
  const entries = world.disk.dump().entries as readonly Entry[];
  const id = (index: number) => entries[index]?.id ?? "";
  return { world, harness, session, id, commitCount: world.commitCount };
}

const commitsFrom = (world: World, first: number) =>
  world.commits.slice(first).map((writes) => writes.map(inWords));
const terminal = ["delete op.meta", "delete op.state", "set lane.lastResult", "set lane.state"];

describe("navigateTree()", () => {
  it("moves the lane to any entry or to the root, in two commits and without a model", async () => {
    const { world, harness, id, commitCount } = await conversation();
    world.hasModel = false;
    const [oldLeafId, target] = [id(3), id(1)];
    expect(await harness.navigateTree(target)).toMatchObject({
      ok: true,
      value: { kind: "completed", oldLeafId, newLeafId: target },
    });
    expect(await harness.getLeafId()).toBe(target);
    expect(commitsFrom(world, commitCount)).toEqual([
      ["set op.meta", "set op.state", "set lane.state"],
      ["set lane.leaf", ...terminal],
    ]);
    expect(await harness.navigateTree(null)).toMatchObject({ ok: true, value: { newLeafId: null } });
    expect(await last(harness)).toMatchObject({ kind: "navigation", outcome: "completed", leafId: null });
  });

  it("goes on from where it stands: the next turn sees that branch alone", async () => {
    const { world, harness, id } = await conversation();
    await harness.navigateTree(id(1));
    await harness.prompt("other");
    expect(JSON.stringify(world.requests.at(-1))).not.toContain("second");
    expect(world.disk.dump().entries.at(-2)).toMatchObject({ parentId: id(1) });
  });

  it("labels its target, or the summary that hangs below it", async () => {
    const { harness, session, id } = await conversation();
    await harness.navigateTree(id(1), { label: "here" });
    expect(await session.getLabel(id(1))).toBe("here");
    await harness.navigateTree(id(3));
    const moved = await harness.navigateTree(id(1), { label: "left", summarize: true });
    if (!moved.ok || moved.value.kind !== "completed") throw new Error("it completed");
    expect(await session.getLabel(moved.value.newLeafId ?? "")).toBe("left");
    expect(await session.getLabel(id(1))).toBe("here");
  });

  it.each([
    ["to where it stands", 3, {}],
    ["to the root with a label", null, { label: "x" }],
    ["to the root with a summary", null, { summarize: true }],
  ])("refuses to move %s, with nothing written", async (_name, index, options) => {
    const { world, harness, id, commitCount } = await conversation();
    const target = index === null ? null : id(index);
    expect(await harness.navigateTree(target, options)).toMatchObject({
      ok: false,
      error: { _tag: "InvalidNavigation", lane: "main" },
    });
    expect(world.commitCount).toBe(commitCount);
    expect(await harness.prompt("next")).toMatchObject({ ok: true });
  });

  it("refuses to move to what does not exist, and with a summary from the root or without a model", async () => {
    const { world, harness, id } = await conversation();
    expect(await harness.navigateTree("nobody")).toMatchObject({
      ok: false,
      error: { _tag: "UnknownTarget", targetId: "nobody" },
    });
    world.hasModel = false;
    expect(await harness.navigateTree(id(1), { summarize: true })).toMatchObject({
      error: { _tag: "MissingIdentities" },
    });
    world.hasModel = true;
    await harness.navigateTree(null);
    expect(await harness.navigateTree(id(1), { summarize: true })).toMatchObject({
      error: { _tag: "InvalidNavigation" },
    });
  });
});

describe("a navigation with a summary", () => {
  it("hangs the summary of what it leaves below its target, in the one commit that moves the lane", async () => {
    const { world, harness, id } = await conversation();
    const moved = await harness.navigateTree(id(1), { summarize: true, customInstructions: "names" });
    expect(moved).toMatchObject({
      ok: true,
      value: {
        kind: "completed",
        oldLeafId: id(3),
        summaryEntry: {
          type: "branch_summary",
          parentId: id(1),
          fromId: id(3),
          summary: expect.stringContaining("SUMMARY"),
          details: { readFiles: [], modifiedFiles: [] },
          usage: { input: 10 },
          fromHook: false,
        },
      },
    });
    expect(world.commits.at(-1)?.map(inWords)).toEqual([
      "set lane.leaf",
      "entry branch_summary",
      "set lane.leaf",
      "delete op.meta",
      "delete op.state",
      "delete op.preparation",
      "set lane.lastResult",
      "set lane.state",
    ]);
    const [asked] = summaryRequests(world).map(({ messages }) => JSON.stringify(messages));
    expect(asked).toContain("[User]: second");
    expect(asked).not.toContain("first");
    expect(asked).toContain("Mind above all: names");
  });

  it("moves back and forth between branches, each time from their newest common entry", async () => {
    const { world, harness, id } = await conversation();
    await harness.navigateTree(id(1));
    await harness.prompt("other");
    await harness.navigateTree(id(3), { summarize: true });
    const [asked] = summaryRequests(world).map(({ messages }) => JSON.stringify(messages));
    expect(asked).toContain("[User]: other");
    expect(asked).not.toContain("first");
    expect(asked).not.toContain("second");
  });

  it("has fixed words where there is nothing to summarize, and asks nobody", async () => {
    const { world, harness, id } = await conversation();
    await harness.navigateTree(id(1));
    const moved = await harness.navigateTree(id(3), { summarize: true });
    expect(moved).toMatchObject({ value: { summaryEntry: { summary: expect.stringContaining("nothing") } } });
    expect(summaryRequests(world)).toEqual([]);
  });

  it("may be declined by a hook: nothing moves", async () => {
    const { harness, id } = await conversation();
    harness.hooks.on("before_navigation", () => ({ decline: true }));
    expect(await harness.navigateTree(id(1), { summarize: true })).toMatchObject({
      ok: true,
      value: { kind: "declined", leafId: id(3) },
    });
    expect(await last(harness)).toMatchObject({ kind: "navigation", outcome: "declined", leafId: id(3) });
    expect(await harness.navigateTree(id(1))).toMatchObject({ value: { kind: "completed" } });
  });

  it("may be supplied by a hook, at its cost", async () => {
    const { world, harness, id } = await conversation();
    harness.hooks.on("before_navigation", () => ({ summary: supplied }));
    expect(await harness.navigateTree(id(1), { summarize: true })).toMatchObject({
      value: {
        summaryEntry: {
          summary: "HOOK",
          fromHook: true,
          details: { readFiles: ["r"], modifiedFiles: ["m"] },
        },
      },
    });
    expect(world.commits.at(-1)?.map(inWords)[0]).toBe("usage");
    expect(world.disk.dump().usage.at(-1)).toMatchObject({
      usage: { input: 3 },
      entryId: await harness.getLeafId(),
    });
  });

  it("fails where its summary fails: nothing moves", async () => {
    const { world, harness, id } = await conversation();
    world.summaries = [failure("no")];
    expect(await harness.navigateTree(id(1), { summarize: true })).toMatchObject({
      ok: true,
      value: { kind: "failed", leafId: id(3), error: { code: "summarization_failed" } },
    });
    expect(await harness.getLeafId()).toBe(id(3));
  });
});
