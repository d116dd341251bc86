/** A long run leaves the conversation, the ledger and the lane behind, and nothing of itself (spec §3.13). */
import { describe, expect, it } from "vitest";
import { idsOfIncarnation } from "../foundation/index.ts";
import { Session } from "../session/index.ts";
import {
  JsonlStorage,
  MemoryDisk,
  MemoryFiles,
  MemoryStorage,
  SqliteStorage,
  type Storage,
} from "../storage/index.ts";
import { calls, text, World } from "./testing/scripted.ts";

const TURN_COUNT = 30;
const metadata = { id: "session", createdAt: 1_700_000_000_000, storageVersion: 1 };

const STORES: Record<string, (world: World) => Promise<Storage>> = {
  memory: async ({ clock }) => new MemoryStorage({ disk: MemoryDisk.create(metadata), clock }),
  jsonl: async ({ clock }) =>
    JsonlStorage.create({ path: "/session.jsonl", clock, metadata, fileSystem: new MemoryFiles() }),
  sqlite: ({ clock }) => SqliteStorage.create({ kind: "memory" }, metadata, { clock, ownerId: "test" }),
};

describe.each(Object.entries(STORES))("a run of 30 turns on %s", (_, open) => {
  it("leaves exactly the conversation, the ledger and the registers of the lane", async () => {
    const turns = Array.from({ length: TURN_COUNT - 1 }, (_turn, index) =>
      calls({ id: `a${index}`, name: "read", args: { path: "a" } }, { id: `b${index}`, name: "read" }),
    );
    const world = new World(...turns, text("done"));
    const storage = await open(world);
    const session = new Session({ storage, metadata, idGenerator: idsOfIncarnation(7, 0, world.clock) });
    const { harness } = await world.boot({ session, tools: [world.tool("read")] });
    expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "completed" } });

    const entries = await storage.scanEntries({});
    const roles = entries.map((entry) => (entry.type === "message" ? entry.message.role : entry.type));
    const turn = ["assistant", "toolResult", "toolResult"];
    expect(roles).toEqual([
      "user",
      ...Array.from({ length: TURN_COUNT - 1 }, () => turn).flat(),
      "assistant",
    ]);
    // Each entry stands behind the one before it: one branch, and nothing beside it.
    expect(entries.map(({ parentId }) => parentId)).toEqual([
      null,
      ...entries.slice(0, -1).map(({ id }) => id),
    ]);

    const answers = entries.filter((entry) => entry.type === "message" && entry.message.role === "assistant");
    const rows = await storage.scanUsage({});
    expect(rows.map(({ entryId }) => entryId)).toEqual(answers.map(({ id }) => id));

    const left = await Promise.all(
      (["lane.config", "lane.leaf", "lane.state", "lane.lastResult"] as const).map((namespace) =>
        storage.listRegisters(namespace),
      ),
    );
    expect(left.flat().map(({ key }) => key)).toEqual(["main", "main", "main", "main"]);
    for (const namespace of [
      "op.meta",
      "op.state",
      "op.tool_args",
      "op.preparation",
      "pending.entry",
    ] as const) {
      expect(await storage.listRegisters(namespace)).toEqual([]);
    }
    await storage.close();
  });
});
