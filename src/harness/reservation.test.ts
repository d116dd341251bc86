/** The reservation of a lane while a compaction or the summary of a branch is prepared. */
import { describe, expect, it } from "vitest";
import { compactions, conversation, SETTINGS } from "./testing/conversation.ts";
import { gate, text, World } from "./testing/scripted.ts";

describe("the reservation of a lane", () => {
  /** A lane whose preparation waits for the application to project a note. */
  async function preparing() {
    const projected = gate();
    let isSlow = false;
    const { world, harness, session } = await conversation({
      entryProjectors: {
        note: async () => {
          if (isSlow) await projected.opened;
          return undefined;
        },
      },
    });
    await session.appendCustomEntry("note");
    isSlow = true;
    const compacting = harness.compact();
    // The reservation is taken on the line; whatever comes after it there finds the lane reserved.
    await harness.nextRun("later");
    return { world, harness, session, compacting, go: () => projected.open() };
  }
  const note = { role: "user", content: "note", timestamp: 1 } as const;

  it("refuses other operations under the id of the one that is prepared", async () => {
    const { harness, compacting, go } = await preparing();
    const refused = [await harness.prompt("x"), await harness.compact(), await harness.navigateTree(null)];
    go();
    const done = await compacting;
    const operationId = done.ok ? done.value.runId : "";
    const busy = { ok: false, error: { _tag: "LaneBusy", operationId, operationKind: "compaction" } };
    expect(refused).toMatchObject([busy, busy, busy]);
    expect(done).toMatchObject({ ok: true, value: { kind: "completed" } });
  });

  it("lets a tree write wait, which then hangs below the compaction", async () => {
    const { world, session, compacting, go } = await preparing();
    const written = session.appendMessage(note);
    const before = world.commitCount;
    await Promise.resolve();
    expect(world.commitCount).toBe(before);
    go();
    const done = await compacting;
    const id = await written;
    const leafId = done.ok && done.value.leafId;
    expect(world.disk.dump().entries.find((entry) => entry.id === id)).toMatchObject({ parentId: leafId });
  });

  it("comes after a tree write that was there first: the preparation sees it", async () => {
    const { world, harness, session } = await conversation();
    const written = session.appendMessage(note);
    const done = await harness.compact();
    await written;
    expect(done).toMatchObject({ ok: true, value: { entry: { retainedTail: [note] } } });
    expect(compactions(world)[0]).toMatchObject({ parentId: await written });
  });

  it("ends with a refusal, and whoever waits for the lane has it", async () => {
    const world = new World(text("one"));
    const { harness } = await world.boot({ compaction: { ...SETTINGS, keepRecentTokens: 1000 } });
    await harness.prompt("first");
    const refused = harness.compact();
    await Promise.all([harness.waitForIdle(), refused]);
    expect(await refused).toMatchObject({ ok: false, error: { _tag: "NothingToCompact" } });
  });

  it("dies with its process: the lane is idle, and nothing was written", async () => {
    const { world, harness, compacting } = await preparing();
    const before = JSON.stringify(world.disk.dump());
    await harness.close();
    expect(await compacting).toMatchObject({ ok: false, error: { _tag: "Closed" } });
    const next = await world.boot();
    expect(next.suspended).toEqual([]);
    expect(JSON.stringify(world.disk.dump())).toBe(before);
  });
});
