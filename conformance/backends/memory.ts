/** The Memory store under the suite: its disk outlives it, and a commit is on the disk or not at all. */
import { CURRENT_STORAGE_VERSION, MemoryDisk, MemoryStorage } from "../../src/storage/index.ts";
import type { StorageFactory } from "../storage/index.ts";

export const memoryBackend: StorageFactory = {
  name: "memory",
  capabilities: { survivesReopen: true, survivesCrash: true },
  async create({ clock }) {
    const disk = MemoryDisk.create({
      id: "conformance",
      createdAt: clock.now(),
      storageVersion: CURRENT_STORAGE_VERSION,
    });
    const open = () => new MemoryStorage({ disk, clock });
    let storage = open();
    return {
      storage,
      async reopen() {
        await storage.close();
        storage = open();
        return storage;
      },
      crash: () => storage.abandon(),
      dispose: () => storage.close(),
    };
  },
};
