/**
 * The Memory store (spec §1.7): the tables of a disk, and nothing else. A commit publishes to the disk at once, so a
 * store that dies loses what it had not committed and nothing more.
 */
import type { Clock } from "../../foundation/index.ts";
import type { Transaction, Write } from "../../model/index.ts";
import { admitTransaction } from "../admission.ts";
import { type StoredWrite, storeAdmitted } from "../stored-write.ts";
import { TableStorage } from "../table-storage.ts";
import type { MemoryDisk } from "./disk.ts";

/** What a Memory store is made of. */
export interface MemoryStorageOptions {
  readonly disk: MemoryDisk;
  readonly clock: Clock;
}

/** The store of a session on a memory disk. */
export class MemoryStorage extends TableStorage {
  constructor({ disk, clock }: MemoryStorageOptions) {
    super(disk.metadata, disk.tables, clock);
  }

  protected override admit(transaction: Transaction): readonly Write[] {
    return admitTransaction(transaction);
  }

  /** The tables are the medium: applying is persisting. */
  protected override persist(writes: readonly Write[], firstSeq: number, timestamp: number): StoredWrite[] {
    return storeAdmitted(writes, firstSeq, timestamp);
  }

  protected override release(): void {
    // The disk outlives its store.
  }
}
