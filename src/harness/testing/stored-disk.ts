/** A disk on which somebody has written, and nobody else. */
import type { Write } from "../../model/index.ts";
import { MemoryDisk, MemoryStorage } from "../../storage/index.ts";
import { World } from "./scripted.ts";

/** A world whose disk holds what these writes left. */
export async function worldWith(writes: Write[]): Promise<World> {
  const world = new World();
  const disk = MemoryDisk.create({ id: "session", createdAt: 1, storageVersion: 1 });
  world.disk = disk;
  const storage = new MemoryStorage({ disk, clock: world.clock });
  await storage.commit({ writes });
  return world;
}
