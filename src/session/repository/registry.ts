/**
 * The live registry: which sessions of a repository are open in this process (spec §2.8).
 *
 * It is what lets a fork of an open session take its snapshot from the store that commits to it. The stores of this
 * project finish a commit inside the call of `commit`, so a snapshot, which is one call too, stands between two commits
 * and never inside one: the store's queue is the order of calls.
 *
 * A session is held from before it is opened until its store has been closed, so that two calls cannot open it both.
 */
import type {
  CommitResult,
  Entry,
  EntryStructure,
  Register,
  RegisterNamespace,
  Transaction,
  UsageRow,
} from "../../model/index.ts";
import type {
  BranchScan,
  EntryScan,
  SessionDump,
  SessionMetadata,
  SessionStats,
  Storage,
  UsageScan,
} from "../../storage/index.ts";
import { SessionIsOpen } from "./contract.ts";

/** A store that a repository opens. */
export interface RepositoryStore extends Storage {
  readonly metadata: SessionMetadata;
  /** Everything durable, between two commits. */
  dump(): SessionDump;
}

/** A session that is open, and what it was named by. */
export interface LiveSession<M, Store> {
  readonly place: M;
  readonly store: Store;
}

/** See the module header. */
export class LiveRegistry<M extends SessionMetadata, Store extends RepositoryStore> {
  readonly #held = new Map<string, LiveSession<M, Store> | undefined>();

  /** The session of this id, if it is open here. */
  get(id: string): LiveSession<M, Store> | undefined {
    return this.#held.get(id);
  }

  /** Opens a store and holds its session until the store is closed. @throws SessionIsOpen; what `open` throws */
  async open(place: M, open: () => Promise<Store>): Promise<{ storage: Storage; recorded: SessionMetadata }> {
    const { id } = place;
    this.#hold(id);
    try {
      const store = await open();
      this.#held.set(id, { place, store });
      return {
        storage: new LiveStorage(store, () => this.#held.delete(id)),
        recorded: store.metadata,
      };
    } catch (error) {
      this.#held.delete(id);
      throw error;
    }
  }

  /** Does something with a session that must not be open meanwhile. @throws SessionIsOpen; what `work` throws */
  async exclusively<T>(id: string, work: () => Promise<T>): Promise<T> {
    this.#hold(id);
    try {
      return await work();
    } finally {
      this.#held.delete(id);
    }
  }

  #hold(id: string): void {
    if (this.#held.has(id)) throw new SessionIsOpen(id);
    this.#held.set(id, undefined);
  }
}

/** A store that says when it has been closed. */
class LiveStorage implements Storage {
  readonly #store: Storage;
  readonly #onClosed: () => void;

  constructor(store: Storage, onClosed: () => void) {
    this.#store = store;
    this.#onClosed = onClosed;
  }

  commit(transaction: Transaction): Promise<CommitResult> {
    return this.#store.commit(transaction);
  }

  getEntries(ids: readonly string[]): Promise<ReadonlyMap<string, Entry>> {
    return this.#store.getEntries(ids);
  }

  getRegister<N extends RegisterNamespace>(namespace: N, key: string): Promise<Register<N> | undefined> {
    return this.#store.getRegister(namespace, key);
  }

  listRegisters<N extends RegisterNamespace>(namespace: N, keyPrefix?: string): Promise<Register<N>[]> {
    return this.#store.listRegisters(namespace, keyPrefix);
  }

  scanBranch(query: BranchScan): Promise<Entry[]> {
    return this.#store.scanBranch(query);
  }

  scanBranchStructure(query: BranchScan): Promise<EntryStructure[]> {
    return this.#store.scanBranchStructure(query);
  }

  scanEntries(query: EntryScan): Promise<Entry[]> {
    return this.#store.scanEntries(query);
  }

  scanUsage(query: UsageScan): Promise<UsageRow[]> {
    return this.#store.scanUsage(query);
  }

  getStats(): Promise<SessionStats> {
    return this.#store.getStats();
  }

  async close(): Promise<void> {
    try {
      await this.#store.close();
    } finally {
      this.#onClosed();
    }
  }
}
