/** Memory: the disk is a value; a fork shares its frozen rows. Its commits cannot be torn. */
import { MemoryDisk, MemoryStorage } from "../../storage/index.ts";
import type { Disk } from "../contract.ts";
import { faultyStore, STORE_FAULTS } from "./faulty-store.ts";
import type { Medium } from "./medium.ts";

/** A memory disk as a subject's disk. */
export class MemorySubjectDisk implements Disk {
  readonly inner: MemoryDisk;

  constructor(inner: MemoryDisk) {
    this.inner = inner;
  }

  fork(): MemorySubjectDisk {
    return new MemorySubjectDisk(this.inner.fork());
  }

  size(): undefined {
    return undefined;
  }

  tear(): readonly never[] {
    return [];
  }

  imprint(): readonly unknown[] {
    return this.inner.imprint();
  }

  dispose(): void {
    // A value that nobody holds any more is gone.
  }
}

export const memoryMedium: Medium<MemorySubjectDisk> = {
  id: "memory",
  title: "the harness on its in-memory store",
  grade: "memory",
  faults: STORE_FAULTS,
  provision: async (metadata) => new MemorySubjectDisk(MemoryDisk.create(metadata)),
  // Memory does not outlive its process.
  attach: () => undefined,
  open: async ({ inner }, { clock, fault }) => {
    const storage = new MemoryStorage({ disk: inner, clock });
    return {
      storage: fault === undefined ? storage : faultyStore(storage, fault),
      abandon: () => storage.abandon(),
    };
  },
  dump: ({ inner }) => inner.dump(),
};
