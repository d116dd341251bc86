/**
 * A store whose whole state is in memory: reads, admission and the order of refusals, once for Memory and JSONL.
 *
 * A commit runs from admission to publication in the call of `commit` itself, without waiting for anything. That is
 * the queue of contract invariant 4: calls are served in their order because each is over before the next begins,
 * and there is never an admitted commit left to drain when the store is closed.
 *
 * A medium below adds `admit`, with or without a copy, and `persist`, which makes the writes durable or throws
 * `StorageFault` and leaves nothing of them.
 */
import type { Clock } from "../foundation/index.ts";
import type {
  CommitResult,
  Entry,
  EntryStructure,
  Register,
  RegisterNamespace,
  Transaction,
  UsageRow,
  Write,
} from "../model/index.ts";
import { checkIds, commitTimestamp } from "./admission.ts";
import {
  type BranchScan,
  type EntryScan,
  type SessionMetadata,
  type SessionStats,
  type Storage,
  StorageClosed,
  StorageFault,
  type UsageScan,
} from "./contract.ts";
import { openingTimestamp } from "./creation.ts";
import type { SessionDump } from "./dump.ts";
import { checkLedgerSum } from "./ledger-sum.ts";
import * as queries from "./queries.ts";
import type { StoredWrite } from "./stored-write.ts";
import type { Tables } from "./tables.ts";

/** Makes admitted writes durable that are not yet in the tables; see `persist` below. */
export type Persist = (
  writes: readonly Write[],
  firstSeq: number,
  timestamp: number,
  tables: Tables,
) => StoredWrite[];

/** The part of a store that is the same for every medium whose tables are in memory. */
export abstract class TableStorage implements Storage {
  #metadata: SessionMetadata;
  readonly #tables: Tables;
  readonly #clock: Clock;
  #lastTimestamp: number;
  readonly #persist: Persist = (writes, firstSeq, timestamp) => this.persist(writes, firstSeq, timestamp);
  #closing: Promise<void> | undefined;
  #fault: StorageFault | undefined;

  protected constructor(metadata: SessionMetadata, tables: Tables, clock: Clock) {
    this.#metadata = metadata;
    this.#tables = tables;
    this.#clock = clock;
    this.#lastTimestamp = openingTimestamp(metadata, tables.newestEntryTimestamp);
  }

  /** The writes of a transaction, refused if they are not right. What is returned is used within the call only. */
  protected abstract admit(transaction: Transaction): readonly Write[];

  /**
   * Makes admitted writes durable, with seq from `firstSeq` on and one time (Unix ms), or leaves nothing of them.
   * @throws StorageFault
   */
  protected abstract persist(writes: readonly Write[], firstSeq: number, timestamp: number): StoredWrite[];

  /** Lets go of the medium. Called once at the most. */
  protected abstract release(): void;

  /** What the store records of its session beside its contents. */
  get metadata(): SessionMetadata {
    return this.#metadata;
  }

  async commit(transaction: Transaction): Promise<CommitResult> {
    this.assertReady();
    return this.commitThrough(this.admit(transaction), this.#persist);
  }

  /** Commits admitted writes through a way of making them durable. */
  protected commitThrough(writes: readonly Write[], persist: Persist): CommitResult {
    const tables = this.#tables;
    checkIds(writes, tables);
    checkLedgerSum(writes, tables.usageSum);
    const timestamp = commitTimestamp(this.#clock.now(), this.#lastTimestamp);
    const firstSeq = tables.nextSeq;
    tables.apply(this.inMedium(() => persist(writes, firstSeq, timestamp, tables)));
    this.#lastTimestamp = timestamp;
    const seqs: number[] = new Array(writes.length);
    for (let index = 0; index < seqs.length; index++) seqs[index] = firstSeq + index;
    return { firstSeq, seqs, timestamp };
  }

  /**
   * Does something with the medium in the place of a commit: it is refused as a commit is, and a fault that leaves the
   * medium in doubt closes the store to commits.
   */
  protected inMedium<T>(work: (tables: Tables) => T): T {
    this.assertReady();
    try {
      return work(this.#tables);
    } catch (error) {
      if (error instanceof StorageFault && !error.recovered) this.#fault = error;
      throw error;
    }
  }

  /** Takes over what the medium says of the session now. */
  protected adoptMetadata(metadata: SessionMetadata): void {
    this.#metadata = metadata;
  }

  async getEntries(ids: readonly string[]): Promise<ReadonlyMap<string, Entry>> {
    return queries.findEntries(this.#open(), ids);
  }

  async getRegister<N extends RegisterNamespace>(
    namespace: N,
    key: string,
  ): Promise<Register<N> | undefined> {
    return queries.findRegister(this.#open(), namespace, key);
  }

  async listRegisters<N extends RegisterNamespace>(namespace: N, keyPrefix?: string): Promise<Register<N>[]> {
    return queries.listRegisters(this.#open(), namespace, keyPrefix);
  }

  async scanBranch(query: BranchScan): Promise<Entry[]> {
    return queries.scanBranch(this.#open(), query);
  }

  async scanBranchStructure(query: BranchScan): Promise<EntryStructure[]> {
    return queries.scanBranchStructure(this.#open(), query);
  }

  async scanEntries(query: EntryScan): Promise<Entry[]> {
    return queries.scanEntries(this.#open(), query);
  }

  async scanUsage(query: UsageScan): Promise<UsageRow[]> {
    return queries.scanUsage(this.#open(), query);
  }

  async getStats(): Promise<SessionStats> {
    return queries.statsOf(this.#open());
  }

  /** Everything durable, for canonical views. @throws StorageClosed */
  dump(): SessionDump {
    return queries.dumpOf(this.#open(), this.metadata);
  }

  close(): Promise<void> {
    this.#closing ??= this.#release();
    return this.#closing;
  }

  /** Simulated death: lets go of the medium, drains nothing, writes nothing. Later calls reject as after `close`. */
  abandon(): void {
    this.close().catch(() => undefined);
  }

  async #release(): Promise<void> {
    this.release();
  }

  #open(): Tables {
    this.#assertOpen();
    return this.#tables;
  }

  /** Refuses a call as a commit is refused, before anything of it is looked at. */
  protected assertReady(): void {
    this.#assertOpen();
    if (this.#fault === undefined) return;
    throw new StorageFault(
      "an earlier failure left the medium in doubt; close the store and open the session again",
      this.#fault,
    );
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new StorageClosed();
  }
}
