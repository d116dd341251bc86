/**
 * `SqliteStorage`: one session in one SQLite file, or over an image of one in memory (spec §1.7).
 *
 * A commit is one BEGIN IMMEDIATE … COMMIT, finished when `commit` returns its promise; there is no queue, because
 * nothing here waits. Durability: a finished commit outlives its process. After a power loss the newest commits may
 * be missing, each as a whole.
 *
 * Invariants, beside those of the contract.
 * 1. Nothing of the session is remembered between calls but the time of the last commit and a fault. The tables
 *    decide.
 * 2. A writer that was superseded writes nothing: its lease is checked inside the transaction (`lease.ts`).
 * 3. The time of the last commit is taken up again, at open, from the creation and the newest entry; other rows
 *    carry no time.
 *
 * Where to look next: `schema.ts` (tables), `writer.ts` (one commit), `branch-index.ts` and `branch-scan.ts` (the
 * way to the root), `lease.ts` (one writer), `dump.ts` (looking without writing).
 */
import type { Clock } from "../../foundation/index.ts";
import type {
  CommitResult,
  Entry,
  EntryStructure,
  Register,
  RegisterNamespace,
  Transaction,
  UsageRow,
  Write,
} from "../../model/index.ts";
import { admitTransaction, checkIds, commitTimestamp } from "../admission.ts";
import {
  type BranchScan,
  type EntryScan,
  LeaseLost,
  type MigratableStorage,
  type SessionMetadata,
  type SessionStats,
  StorageClosed,
  StorageFault,
  type UsageScan,
} from "../contract.ts";
import { openingTimestamp } from "../creation.ts";
import type { SessionContents, SessionDump } from "../dump.ts";
import { BranchIndex } from "./branch-index.ts";
import { scanBranch, scanBranchStructure } from "./branch-scan.ts";
import { type Connection, isSqliteError, type SqliteSource } from "./connection.ts";
import { createSession, openedSession } from "./creation.ts";
import { dumpOf } from "./dump.ts";
import { WriterLease } from "./lease.ts";
import { leaseOptionsOf, leaseWaitOf, type SqliteOptions, startIdleTimer } from "./options.ts";
import {
  getEntries,
  getRegister,
  listRegisters,
  newestTimestamp,
  readSession,
  scanEntries,
  scanUsage,
} from "./reads.ts";
import { SessionWriter } from "./writer.ts";

export class SqliteStorage implements MigratableStorage {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #lease: WriterLease;
  readonly #index: BranchIndex;
  readonly #writer: SessionWriter;
  readonly #stopTimer: () => void;
  #lastTimestamp: number;
  #fault: StorageFault | undefined;
  #closed = false;

  private constructor(connection: Connection, lease: WriterLease, options: SqliteOptions) {
    this.#connection = connection;
    this.#clock = options.clock;
    this.#lease = lease;
    this.#index = new BranchIndex(connection);
    this.#writer = new SessionWriter(connection, this.#index);
    this.#lastTimestamp = connection.guard(() =>
      openingTimestamp(readSession(connection).metadata, newestTimestamp(connection)),
    );
    this.#stopTimer = startIdleTimer(options, () => this.#renewIdle());
  }

  /**
   * Creates a session where none is, in one transaction, and claims it. Without `contents` it holds the lane `main`
   * at the root (spec §2.8); with them it holds what a fork or a rewrite copied, seqs and times included.
   * @throws SessionExists; StorageFault; Corruption for contents that no session can hold.
   */
  static async create(
    source: SqliteSource | { readonly kind: "memory" },
    metadata: SessionMetadata,
    options: SqliteOptions,
    contents?: SessionContents,
  ): Promise<SqliteStorage> {
    const leaseOptions = leaseOptionsOf(options);
    const { connection, lease } = createSession(source, metadata, contents, { ...options, ...leaseOptions });
    return SqliteStorage.#over(connection, lease, options);
  }

  /**
   * Opens a session and claims it.
   * @throws LeaseHeld; StorageFault when the file cannot be opened; Corruption for a file that is no session;
   * StorageVersionTooNew.
   */
  static async open(source: SqliteSource, options: SqliteOptions): Promise<SqliteStorage> {
    const connection = openedSession(source, options);
    try {
      const lease = await WriterLease.claim(connection, leaseOptionsOf(options), leaseWaitOf(options));
      return SqliteStorage.#over(connection, lease, options);
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  static #over(connection: Connection, lease: WriterLease, options: SqliteOptions): SqliteStorage {
    try {
      return new SqliteStorage(connection, lease, options);
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  async commit(transaction: Transaction): Promise<CommitResult> {
    this.#assertWritable();
    return this.#transact(admitTransaction(transaction));
  }

  /**
   * Commits a migration: its writes, and the storage version that they lead to, in one transaction (spec §7.3).
   */
  async commitMigration(transaction: Transaction, storageVersion: number): Promise<CommitResult> {
    const raiseVersion = () => {
      this.#connection.statement(WRITE_STORAGE_VERSION).run(storageVersion);
    };
    this.#assertWritable();
    return this.#transact(transaction.writes.length === 0 ? [] : admitTransaction(transaction), raiseVersion);
  }

  async getEntries(ids: readonly string[]): Promise<ReadonlyMap<string, Entry>> {
    return this.#read(() => getEntries(this.#connection, ids));
  }

  async getRegister<N extends RegisterNamespace>(
    namespace: N,
    key: string,
  ): Promise<Register<N> | undefined> {
    return this.#read(() => getRegister(this.#connection, namespace, key));
  }

  async listRegisters<N extends RegisterNamespace>(namespace: N, keyPrefix?: string): Promise<Register<N>[]> {
    return this.#read(() => listRegisters(this.#connection, namespace, keyPrefix));
  }

  async scanBranch(query: BranchScan): Promise<Entry[]> {
    return this.#read(() => scanBranch(this.#connection, this.#index, query));
  }

  async scanBranchStructure(query: BranchScan): Promise<EntryStructure[]> {
    return this.#read(() => scanBranchStructure(this.#connection, this.#index, query));
  }

  async scanEntries(query: EntryScan): Promise<Entry[]> {
    return this.#read(() => scanEntries(this.#connection, query));
  }

  async scanUsage(query: UsageScan): Promise<UsageRow[]> {
    return this.#read(() => scanUsage(this.#connection, query));
  }

  async getStats(): Promise<SessionStats> {
    return this.#read(() => readSession(this.#connection).stats);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopTimer();
    try {
      this.#lease.release();
    } catch (error) {
      // A lease that cannot be released runs out; closing must not fail over it.
      if (!(error instanceof StorageFault)) throw error;
    } finally {
      this.#connection.close();
    }
  }

  /**
   * Lets go of the session as a dead process would: nothing is released or renewed, and the lease stands in the file
   * until it runs out. Closing the connection is unavoidable and moves the WAL into the main file, which changes the
   * bytes on disk though nothing of what they say; whoever needs the bytes of the moment of death copies them first.
   */
  abandon(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopTimer();
    this.#connection.close();
  }

  /** What the session records of itself. */
  get metadata(): SessionMetadata {
    return this.#read(() => readSession(this.#connection).metadata);
  }

  /** The claim of this life. */
  get lease(): { readonly ownerId: string; readonly fence: number } {
    return { ownerId: this.#lease.ownerId, fence: this.#lease.fence };
  }

  /** The file of the session; undefined for one in memory. */
  get path(): string | undefined {
    return this.#connection.file;
  }

  /** The bytes of the session as of the last commit; a source of kind `image` opens them. */
  image(): Buffer {
    return this.#read(() => this.#connection.image());
  }

  /** Everything durable, as of one moment between commits. */
  dump(): SessionDump {
    return this.#read(() => this.#connection.immediate(() => dumpOf(this.#connection)));
  }

  /** Repairs the branch index: forgets it and builds it again from the entries, in one transaction (spec §2.6). */
  async rebuildBranchIndex(): Promise<void> {
    this.#assertWritable();
    this.#inTransaction(() => {
      this.#lease.assertHeld(this.#clock.now());
      this.#index.clear();
      for (const { id, parentId, seq, type } of scanEntries(this.#connection, {})) {
        this.#index.append(id, parentId, seq, type);
      }
    });
  }

  #transact(writes: readonly Write[], andThen: () => void = () => {}): CommitResult {
    const nowMs = this.#clock.now();
    const timestamp = commitTimestamp(nowMs, this.#lastTimestamp);
    let isChecked = false;
    try {
      const result = this.#inTransaction(() => {
        // Inside the transaction a look-up takes no lock of its own, which costs more than the look-up.
        checkIds(writes, this.#writer);
        isChecked = true;
        this.#lease.assertHeld(nowMs);
        const applied = this.#writer.apply(writes, timestamp);
        andThen();
        return applied;
      });
      this.#lastTimestamp = timestamp;
      return result;
    } catch (error) {
      if (!isChecked && error instanceof StorageFault) this.#refuseIfInvalid(writes);
      throw error;
    }
  }

  /** The medium failed before ids and parents were looked at, which the contract tests first. Does so if it can. */
  #refuseIfInvalid(writes: readonly Write[]): void {
    try {
      checkIds(writes, this.#writer);
    } catch (error) {
      if (!isSqliteError(error)) throw error;
    }
  }

  /** Runs a transaction of the writer, and remembers a failure that leaves the medium in doubt. */
  #inTransaction<T>(work: () => T): T {
    try {
      return this.#connection.immediate(work);
    } catch (error) {
      if (error instanceof StorageFault && !error.recovered) this.#fail(error);
      throw error;
    }
  }

  #renewIdle(): void {
    try {
      this.#inTransaction(() => this.#lease.assertHeld(this.#clock.now()));
    } catch (error) {
      // A busy or failing medium is met again by the next commit, which has someone to tell. A lost lease is kept.
      if (!(error instanceof StorageFault)) throw error;
    }
  }

  #fail(fault: StorageFault): void {
    this.#fault = fault;
    this.#stopTimer();
  }

  #assertWritable(): void {
    if (this.#closed) throw new StorageClosed();
    const fault = this.#fault;
    if (fault === undefined) return;
    if (fault instanceof LeaseLost) throw new LeaseLost(fault.message, fault);
    throw new StorageFault(
      "the store takes no commits since an earlier one failed; reopen the session",
      fault,
    );
  }

  #read<T>(read: () => T): T {
    if (this.#closed) throw new StorageClosed();
    return this.#connection.guard(read);
  }
}

const WRITE_STORAGE_VERSION = "UPDATE session SET storage_version = ? WHERE rowid = 1";
