/**
 * The Storage contract: one session, three durable forms, one write primitive (spec §1.4, §1.5).
 *
 * A `Storage` knows nothing of agents, lanes or conversations. It keeps entries (write-once), registers (mutable
 * cells) and usage rows (append-only), and answers a small fixed set of queries. `memory/`, `jsonl/` and `sqlite/`
 * implement it; `conformance/` holds any implementation against it.
 *
 * Invariants, the same for every implementation.
 * 1. A transaction is all or nothing, for readers and across a crash. Nothing of a refused one is observable.
 * 2. Writes get strictly rising `seq` values in the order given: the first of a session is 1 and each write, deletes
 *    of absent keys included, takes the next. All entries of a transaction share its timestamp, which never falls
 *    behind an earlier transaction's: a clock that steps back is held at the last committed time.
 * 3. Entries and usage rows share one namespace of ids. Writing an id that exists, also one written earlier in the
 *    same transaction, is refused; so is an entry whose parent neither exists nor precedes it in the transaction.
 * 4. Transactions are serialized in the order of their `commit` calls: one writer, one queue. A refusal does not
 *    hold up those behind it.
 * 5. What a caller handed in or got out shares nothing mutable with the store.
 * 6. The cost of a commit depends on the transaction, never on the session.
 *
 * What `commit` rejects with, in the order in which it is tested:
 * - `StorageClosed` after `close()` was called.
 * - `StorageFault` when an earlier failure left the medium in doubt. Only reopening heals it.
 * - `NotJson` (foundation) for a value that JSON cannot carry; `path` starts with `/writes/<index>`.
 * - `InvalidTransaction` for rule 3, an empty transaction, or a malformed write; a usage row that would take a sum of the
 *   ledger beyond what a number holds is one. Nothing was written.
 * - `StorageFault` when the medium fails now. Whether the store goes on is in `recovered`.
 */
import type {
  CommitResult,
  Entry,
  EntryStructure,
  EntryType,
  Register,
  RegisterNamespace,
  Transaction,
  Usage,
  UsageRow,
} from "../model/index.ts";

/** The durable store of one session. */
export interface Storage {
  /** Commits all writes or none. See the header for the order of refusals. */
  commit(transaction: Transaction): Promise<CommitResult>;

  /** The entries among `ids` that exist, by id. An id that does not exist is simply absent. */
  getEntries(ids: readonly string[]): Promise<ReadonlyMap<string, Entry>>;

  /** The register, or undefined. A register that holds JSON null is present. */
  getRegister<N extends RegisterNamespace>(namespace: N, key: string): Promise<Register<N> | undefined>;

  /** The registers of a namespace whose key starts with `keyPrefix`, in order of key (UTF-16 code units). */
  listRegisters<N extends RegisterNamespace>(namespace: N, keyPrefix?: string): Promise<Register<N>[]>;

  /** The path from `start` toward the root (spec §2.5). Rejects with `UnknownEntry` if `start` does not exist. */
  scanBranch(query: BranchScan): Promise<Entry[]>;

  /** `scanBranch` without payloads. */
  scanBranchStructure(query: BranchScan): Promise<EntryStructure[]>;

  /** All entries of the session, by seq; ascending unless asked otherwise. */
  scanEntries(query: EntryScan): Promise<Entry[]>;

  /** The usage ledger, by seq; ascending unless asked otherwise. */
  scanUsage(query: UsageScan): Promise<UsageRow[]>;

  /** The maintained projection: after every commit it equals the sum of the ledger (spec §1.6). */
  getStats(): Promise<SessionStats>;

  /**
   * Seals admission at once, drains what was admitted, releases the medium. Idempotent: every call resolves when the
   * first one has finished. Reads and commits after it reject with `StorageClosed`.
   */
  close(): Promise<void>;
}

/** A walk from `start` toward the root; see spec §2.5 for the order of stop, filter, cursor and limit. */
export interface BranchScan {
  start: string;
  /** The walk ends with the first entry of this type, which is part of it. */
  stopAtType?: EntryType;
  /** The walk ends with this entry, which is part of it. */
  stopAtId?: string;
  type?: EntryType;
  customType?: string;
  /** Default `newestFirst`. */
  order?: "newestFirst" | "oldestFirst";
  limit?: number;
  /** Exclusive: newestFirst keeps `seq < cursor.seq`, oldestFirst keeps `seq > cursor.seq`. */
  cursor?: EntryCursor;
}

/** A place in the order of entries. */
export interface EntryCursor {
  seq: number;
}

/** A session-wide listing. Both bounds are inclusive. */
export interface EntryScan {
  type?: EntryType;
  customType?: string;
  fromSeq?: number;
  toSeq?: number;
  order?: "asc" | "desc";
  limit?: number;
}

/** A range of the ledger. Both bounds are inclusive. */
export interface UsageScan {
  fromSeq?: number;
  toSeq?: number;
  order?: "asc" | "desc";
  limit?: number;
}

/** Totals of the session: message entries, and the sum of the ledger. */
export interface SessionStats {
  messageCount: number;
  usage: Usage;
}

/** A store whose session may be of an older storage version, and can be carried to a newer one (spec §7.3). */
export interface MigratableStorage extends Storage {
  readonly metadata: SessionMetadata;

  /**
   * Commits the writes of one migration step and the storage version that they lead to, both or neither. Refused as
   * `commit` refuses, except that there may be no writes: then only the version changes.
   */
  commitMigration(transaction: Transaction, storageVersion: number): Promise<CommitResult>;
}

/** What a store records of its session beside its contents (spec §2.8). */
export interface SessionMetadata {
  id: string;
  createdAt: number;
  /** The storage schema that wrote the session; `CURRENT_STORAGE_VERSION` for a new one. */
  storageVersion: number;
  cwd?: string;
  parentSessionId?: string;
  legacyParentSessionPath?: string;
  /** How often the session was rewritten (spec §2.9); absent for never. Rows of two generations are not compared. */
  storeGeneration?: number;
}

/** The storage schema that this code reads and writes. */
export const CURRENT_STORAGE_VERSION = 1;

/**
 * A session was written by a newer program: its states may mean what this one does not know, so it is not opened.
 * Nothing was changed.
 */
export class StorageVersionTooNew extends Error {
  override readonly name = "StorageVersionTooNew";
  readonly code = "STORAGE_VERSION_TOO_NEW";
  /** The newest version that this program reads. */
  readonly expected: number;
  readonly found: number;
  readonly sessionId: string;
  readonly file: string | undefined;

  constructor({ id, storageVersion }: SessionMetadata, expected: number, file?: string) {
    super(
      `${file === undefined ? "" : `${file}: `}session ${id} has storage version ${storageVersion}, and this program ` +
        `reads versions up to ${expected}; open it with the newer program that wrote it; nothing was changed`,
    );
    this.expected = expected;
    this.found = storageVersion;
    this.sessionId = id;
    this.file = file;
  }
}

/** A transaction that the contract refuses. Nothing of it was written; the store goes on. */
export class InvalidTransaction extends Error {
  override readonly name = "InvalidTransaction";
  readonly code = "INVALID_TRANSACTION";
  readonly reason: InvalidTransactionReason;
  /** The write that is refused, from 0; absent for an empty transaction. */
  readonly writeIndex: number | undefined;

  constructor(reason: InvalidTransactionReason, message: string, writeIndex?: number) {
    super(writeIndex === undefined ? message : `write ${writeIndex}: ${message}`);
    this.reason = reason;
    this.writeIndex = writeIndex;
  }
}

export type InvalidTransactionReason = "empty" | "malformed" | "duplicate_id" | "missing_parent";

/** A scan was asked to start at an entry that does not exist. */
export class UnknownEntry extends Error {
  override readonly name = "UnknownEntry";
  readonly code = "UNKNOWN_ENTRY";
  readonly entryId: string;

  constructor(entryId: string) {
    super(`no entry ${entryId} in this session; start a branch scan at an entry that exists`);
    this.entryId = entryId;
  }
}

/** A commit failed on the medium, or the store stands after such a failure. */
export class StorageFault extends Error {
  override readonly name: string = "StorageFault";
  readonly code: string = "STORAGE_FAULT";
  /** True when the medium was brought back to the last commit and the store goes on; false when it is closed to commits. */
  readonly recovered: boolean;

  constructor(message: string, cause: unknown, recovered = false) {
    super(message, { cause });
    this.recovered = recovered;
  }
}

/** The writer's claim was taken over by another process: its commit is refused and nothing of it is written. */
export class LeaseLost extends StorageFault {
  override readonly name = "LeaseLost";
  override readonly code = "LEASE_LOST";
}

/** The store was closed before this call. */
export class StorageClosed extends Error {
  override readonly name = "StorageClosed";
  readonly code = "STORAGE_CLOSED";

  constructor() {
    super("the store is closed; open the session again");
  }
}
