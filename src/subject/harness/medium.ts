/**
 * A medium: one kind of store under the harness, as the subject needs it. `memory-medium.ts`, `jsonl-medium.ts` and
 * `sqlite-medium.ts` are the three.
 */
import type { MediumFault, MediumFaultKind } from "../../faults/index.ts";
import type { Clock } from "../../foundation/index.ts";
import type { SessionDump, SessionMetadata, Storage } from "../../storage/index.ts";
import type { Disk, Grade } from "../contract.ts";

/** See the module header. `D` is the medium's own kind of disk. */
export interface Medium<D extends Disk = Disk> {
  readonly id: string;
  readonly title: string;
  readonly grade: Grade;
  /** The ways in which it can be made to fail. */
  readonly faults: readonly MediumFaultKind[];
  /** A new disk with a new session on it. */
  provision(metadata: SessionMetadata, folder: string): Promise<D>;
  /** The disk that another process left in a folder. */
  attach(folder: string): D | undefined;
  /** Opens the store for writing, as one life of a process does. */
  open(disk: D, life: StoreLife): Promise<OpenStore>;
  /** Everything durable, read beside whatever else is open, changing nothing. */
  dump(disk: D): SessionDump;
}

/** What one life opens a store with. */
export interface StoreLife {
  readonly clock: Clock;
  /** How it fails, if it does. */
  readonly fault?: MediumFault;
}

/** An open store, and its two ends. */
export interface OpenStore {
  readonly storage: Storage;
  /** Death: handles are let go, nothing is drained or written. */
  abandon(): void;
  /** Makes the medium stop in the middle of the next commit, where it can; see `faults/medium-stop.ts`. */
  stopNextWriteAfter?(bytesWritten: number, reached: () => void): void;
}
