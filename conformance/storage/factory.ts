/**
 * What the author of a storage backend writes: how to make a store, and which accidents the suite may bring about.
 *
 * A capability is a promise that can be tested. One that is not declared costs no failure: the clauses that need it
 * stand in the list as skipped, with the reason.
 */
import type { Clock } from "../../src/foundation/index.ts";
import type { Storage } from "../../src/storage/index.ts";

/** A backend under test. */
export interface StorageFactory {
  /** Shown in messages: `jsonl`, `postgres 17`, … */
  readonly name: string;
  readonly capabilities: StorageCapabilities;
  /** A new, empty session on a medium of its own, opened. Called once or more by every case. */
  create(options: StorageFactoryOptions): Promise<StorageHandle>;
}

export interface StorageFactoryOptions {
  /** The clock that the store takes its timestamps from, reopened stores too. The suite steps it. */
  readonly clock: Clock;
}

export interface StorageCapabilities {
  /** A closed session can be opened again. Needs `reopen`. */
  readonly survivesReopen: boolean;
  /** A confirmed commit survives the death of the process. Needs `crash`, and `survivesReopen`. */
  readonly survivesCrash?: boolean;
  /** A crash can leave a part of a commit on the medium. Needs `tearLastCommit`, and `survivesReopen`. */
  readonly tornTail?: boolean;
  /** The medium can be made to fail. Needs `failNextCommit`. */
  readonly failedCommit?: boolean;
}

/** One session under test and what can happen to it. */
export interface StorageHandle {
  /** The store that `create` opened. */
  readonly storage: Storage;
  /** Closes the store that is open, if one is, and opens what it left. */
  reopen(): Promise<Storage>;
  /** The process dies: the open store is let go of, with nothing awaited, flushed or written. `reopen` follows. */
  crash?(): Promise<void> | void;
  /**
   * The process dies inside the last commit: lets go of the open store and leaves the first `bytesWritten` bytes of its
   * last commit on the medium. Where the commit has no more bytes than that, it is left whole. `reopen` follows.
   */
  tearLastCommit?(bytesWritten: number): Promise<TornCommit>;
  /** The next commit that reaches the medium fails there, whole or after a part of it was written. */
  failNextCommit?(): Promise<void> | void;
  /** Closes the open store, if one is, and removes the medium. Called after every case, also a failed one. */
  dispose(): Promise<void>;
}

export interface TornCommit {
  /** The bytes that the commit had before it was torn. */
  readonly byteCount: number;
}
