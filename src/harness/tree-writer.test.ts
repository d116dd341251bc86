import { describe, expect, it } from "vitest";
import { UnknownLane } from "../session/index.ts";
import { HarnessFault } from "./errors.ts";
import { gate, inWords, text, World } from "./testing/scripted.ts";

const note = { role: "user", content: "a note", timestamp: 1 } as const;

describe("the trees of a session under a harness", () => {
  it("append at the leaf where the run before has ended, and the next run goes on from there", async () => {
    const world = new World(text("one"), text("two"));
    const { harness, session } = await world.boot();
    await harness.prompt("first");
    const after = await session.getLeafId();
    const id = await session.appendMessage(note);
    expect((await session.getEntry(id))?.parentId).toBe(after);
    await harness.prompt("second");
    const branch = await session.findEntriesOnBranch({ order: "oldestFirst" });
    expect(branch).toHaveLength(5);
    expect(branch.map((entry) => entry.id)).toContain(id);
  });

  it("stand in one line with prompts: an append is before the run, or waits in it for its checkpoint", async () => {
    const world = new World(text("one"), text("two"));
    const { harness, session } = await world.boot();
    const [appended, run, late] = await Promise.allSettled([
      session.appendMessage(note),
      harness.prompt("first"),
      session.appendMessage(note),
    ]);
    expect(appended.status).toBe("fulfilled");
    expect(run).toMatchObject({ value: { ok: true } });
    expect(late).toMatchObject({ value: expect.any(String) });
    const branch = await session.findEntriesOnBranch({ order: "oldestFirst" });
    expect(branch.map((entry) => entry.type === "message" && entry.message.role)).toEqual([
      "user",
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    expect(branch[3]?.id).toBe(late.status === "fulfilled" && late.value);
  });

  it("write facts while a run goes on, and refuse a lane that does not exist", async () => {
    const { opened, open } = gate();
    const world = new World(async () => {
      await opened;
      return text("one");
    });
    const { harness, session } = await world.boot();
    const run = harness.prompt("first");
    await session.setName("named meanwhile");
    await expect(session.view("side").appendMessage(note)).rejects.toBeInstanceOf(UnknownLane);
    open();
    expect(await run).toMatchObject({ ok: true });
    expect(await session.getName()).toBe("named meanwhile");
    expect(world.commits.map((writes) => writes.map(inWords).join(" · "))).toContain("set fact.name");
  });

  it("pass the barrier: a failed commit faults the harness, and nothing is written after that", async () => {
    const world = new World(text("one"));
    const { harness, session } = await world.boot();
    world.death = { commit: world.commitCount, position: "before" };
    await expect(session.appendMessage(note)).rejects.toBeInstanceOf(HarnessFault);
    world.death = undefined;
    await expect(session.setName("late")).rejects.toBeInstanceOf(HarnessFault);
    await expect(harness.prompt("first")).rejects.toBeInstanceOf(HarnessFault);
    expect(world.commits).toHaveLength(1);
  });

  it("refuse what a schema refuses without a fault", async () => {
    const world = new World(text("one"));
    const { harness, session } = await world.boot();
    await expect(session.setName(7 as unknown as string)).rejects.toMatchObject({ code: "INVALID_WRITE" });
    expect(await harness.prompt("first")).toMatchObject({ ok: true });
  });
});
