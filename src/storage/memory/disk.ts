/**
 * A memory disk: the state of one session that outlives the store over it, as a file outlives its process.
 *
 * Invariants.
 * 1. What a disk holds is exactly what was committed: a store that is dropped leaves nothing half-written.
 * 2. A fork costs one copy of the maps and shares the frozen rows. Disk and fork go separate ways from there.
 */

import type { SessionMetadata } from "../contract.ts";
import { admitMetadata } from "../creation.ts";
import type { SessionContents, SessionDump } from "../dump.ts";
import { initialTables, tablesOf } from "../placement.ts";
import { dumpOf } from "../queries.ts";
import { Tables } from "../tables.ts";

/** What a `MemoryStorage` keeps its session on. */
export class MemoryDisk {
  readonly metadata: SessionMetadata;
  /** For the store over this disk. */
  readonly tables: Tables;

  private constructor(metadata: SessionMetadata, tables: Tables) {
    this.metadata = metadata;
    this.tables = tables;
  }

  /**
   * A disk with a new session. Without `contents` it holds a lane `main` at the root, seq 1 and 2 (spec §2.8); with
   * them, what a fork or a rewrite copied.
   * @throws TypeError for metadata; Corruption for contents that no session can hold
   */
  static create(metadata: SessionMetadata, contents?: SessionContents): MemoryDisk {
    const admitted = admitMetadata(metadata);
    return new MemoryDisk(admitted, contents === undefined ? initialTables(admitted) : tablesOf(contents));
  }

  /** A disk with the same session, which changes on its own from here on. */
  fork(): MemoryDisk {
    return new MemoryDisk(this.metadata, new Tables(this.tables));
  }

  /** Every row, which never changes, and what stands beside the rows: equal, item by item, where the disks are. */
  imprint(): readonly unknown[] {
    const { entryOrder, usageOrder, nextSeq, lastDelete } = this.tables;
    return [this.metadata, nextSeq, lastDelete, ...entryOrder, ...usageOrder, ...this.tables.allRegisters()];
  }

  /** Everything durable, for canonical views. */
  dump(): SessionDump {
    return dumpOf(this.tables, this.metadata);
  }
}
