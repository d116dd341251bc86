/**
 * Every stored lane that cannot be executed is refused by opening it, with its reason, and left as it is: the cases of
 * `operation/testing/refused-lanes.ts`, written to a disk.
 */
import { describe, expect, it } from "vitest";
import { Corruption } from "../foundation/index.ts";
import type { RegisterNamespace, RegisterValues, Write } from "../model/index.ts";
import { REFUSED } from "../operation/testing/refused-lanes.ts";
import type { Stored } from "../operation/testing/stored-lane.ts";
import { rightStructural } from "../operation/testing/stored-structural.ts";
import { branchPreparation, compactionPreparation } from "../operation/testing/structural-states.ts";
import { MemoryDisk, MemoryStorage } from "../storage/index.ts";
import { World } from "./testing/scripted.ts";

/** What a writer without any sense would have committed. */
function writesOf({
  registers,
  entries,
  pending = [],
  toolArguments = [],
  preparations = [],
}: Stored): Write[] {
  const { lane, laneState, leafId, configuration, operation, state } = registers;
  const id = laneState.currentOperationId ?? "";
  const writes: Write[] = entries.map(({ seq: _seq, timestamp: _timestamp, ...entry }) => ({
    kind: "entry",
    entry,
  }));
  for (const [key, value] of pending) writes.push(set("pending.entry", key, value));
  for (const key of toolArguments) writes.push(set("op.tool_args", key, {}));
  for (const [key, { kind }] of preparations) {
    const value = kind === "compaction" ? compactionPreparation() : branchPreparation();
    writes.push(set("op.preparation", key, value));
  }
  if (operation) writes.push(set("op.meta", id, operation));
  if (state) writes.push(set("op.state", id, state));
  if (configuration) writes.push(set("lane.config", lane, configuration));
  // A fresh disk has a main that stands at the root.
  writes.push(
    leafId === undefined
      ? { kind: "register", op: "delete", namespace: "lane.leaf", key: lane }
      : set("lane.leaf", lane, leafId),
  );
  writes.push(set("lane.state", lane, laneState));
  return writes;
}

function set<N extends RegisterNamespace>(namespace: N, key: string, value: RegisterValues[N]): Write {
  return { kind: "register", op: "set", namespace, key, value } as Write;
}

async function worldWith(stored: Stored): Promise<World> {
  const world = new World();
  const disk = MemoryDisk.create({ id: "session", createdAt: 1, storageVersion: 1 });
  world.disk = disk;
  const storage = new MemoryStorage({ disk, clock: world.clock });
  await storage.commit({ writes: writesOf(stored) });
  return world;
}

describe("opening refuses", () => {
  const refused = Object.entries(REFUSED).flatMap(([reason, stored]) =>
    stored.map(([name, given]) => [reason, name, given] as const),
  );
  it.each(refused)("%s: %s", async (reason, _name, given) => {
    const world = await worldWith(given);
    const before = JSON.stringify(world.disk.dump());
    const opening = world.boot();
    await expect(opening).rejects.toBeInstanceOf(Corruption);
    await expect(opening).rejects.toThrow(`[${reason}]`);
    expect(JSON.stringify(world.disk.dump())).toBe(before);
  });

  it.each(rightStructural)(
    "nothing of %s, which differs from those in nothing but what is wrong with them",
    async (_name, given) => {
      const { suspended } = await (await worldWith(given)).boot();
      expect(suspended).toHaveLength(1);
    },
  );
});
