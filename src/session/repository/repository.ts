/**
 * Every repository: the rules of the contract, once, over a backend that knows where sessions lie.
 *
 * A backend makes, opens, reads, replaces and deletes single sessions, each whole or not at all; everything that is the
 * same for all of them is here: ids and metadata, what is open, what a fork copies and a rewrite keeps, the validation
 * of what the rules of a rewrite return.
 */
import { admitJson, type Clock, type IdGenerator } from "../../foundation/index.ts";
import {
  type CustomMessageSchemas,
  validateEntry,
  validateRegister,
  validateUsageRow,
} from "../../model/index.ts";
import {
  CURRENT_STORAGE_VERSION,
  checkContents,
  type SessionContents,
  type SessionDump,
  SessionExists,
  type SessionMetadata,
  StorageClosed,
} from "../../storage/index.ts";
import { type ForkOptions, forkContents } from "../fork.ts";
import { type RewriteOptions, type RewriteRules, rewriteContents } from "../rewrite.ts";
import { Session } from "../session.ts";
import {
  type ForkTarget,
  InvalidRewrite,
  type ListOptions,
  type NewSession,
  type RepositoryOptions,
  type SessionReading,
  type SessionRepository,
  type SkippedFile,
} from "./contract.ts";
import { assertSessionId } from "./paths.ts";
import { LiveRegistry, type RepositoryStore } from "./registry.ts";

/** Single sessions on one kind of medium. */
export interface RepositoryBackend<M extends SessionMetadata, Store extends RepositoryStore> {
  /** Where a new session goes. @throws InvalidSessionId, StorageFault */
  locate(metadata: SessionMetadata): M;
  /** Where an existing session lies, if it is one of this repository's. @throws ForeignSession, SessionNotFound */
  resolve(place: M): M;
  /** Whether two resolved places are one. */
  isSame(left: M, right: M): boolean;
  /** What a session records of itself, and its place. */
  withPlace(metadata: SessionMetadata, place: M): M;
  /** Makes a session, whole or not at all; without contents, the lane `main` at the root. @throws SessionExists */
  create(place: M, metadata: SessionMetadata, contents: SessionContents | undefined): void;
  // The methods below take resolved places, and refuse a place that holds another session than the one named.

  /** Opens a session and brings it to the current storage version. */
  open(place: M): Promise<Store>;
  /** Opens a session whose whole contents will be replaced; where it differs, in the format of new sessions. */
  openForRewrite(place: M): Promise<Store>;
  /** Reads one snapshot of a session, and changes nothing. */
  read<T>(place: M, look: (reading: SessionReading) => T): T;
  /** Every session, in any order. */
  list(onSkipped: (skipped: SkippedFile) => void): M[];
  /**
   * Puts other contents in the place of an open session, at once, and closes its store. What dead writers left beside it
   * holds parts of the old contents and goes first.
   */
  replace(store: Store, metadata: SessionMetadata, contents: SessionContents): Promise<void>;
  delete(place: M): Promise<void>;
}

/** See the module header. */
export class BackedRepository<M extends SessionMetadata, Store extends RepositoryStore>
  implements SessionRepository<M>
{
  readonly #backend: RepositoryBackend<M, Store>;
  readonly #live = new LiveRegistry<M, Store>();
  readonly #clock: Clock;
  readonly #idGenerator: IdGenerator;
  readonly #customSchemas: CustomMessageSchemas | undefined;

  constructor(backend: RepositoryBackend<M, Store>, options: RepositoryOptions) {
    this.#backend = backend;
    this.#clock = options.clock;
    this.#idGenerator = options.idGenerator;
    this.#customSchemas = options.customMessageSchemas;
  }

  async create(options: NewSession = {}): Promise<Session<M>> {
    return this.#make(this.#newMetadata(options), undefined);
  }

  async open(metadata: M): Promise<Session<M>> {
    const place = this.#backend.resolve(metadata);
    return this.#attach(place, () => this.#backend.open(place));
  }

  async list({ onSkipped = ignore }: ListOptions = {}): Promise<M[]> {
    return this.#backend.list(onSkipped).sort(newestFirst);
  }

  async delete(metadata: M): Promise<void> {
    const place = this.#backend.resolve(metadata);
    await this.#live.exclusively(place.id, () => this.#backend.delete(place));
  }

  async fork(source: M, options: ForkOptions & ForkTarget = {}): Promise<Session<M>> {
    const dump = await this.#snapshot(source);
    const contents = forkContents(dump, options);
    const { id, cwd = dump.metadata.cwd } = options;
    const target = this.#newMetadata({
      parentSessionId: dump.metadata.id,
      ...(id === undefined ? {} : { id }),
      ...(cwd === undefined ? {} : { cwd }),
    });
    return this.#make(target, contents);
  }

  async rewrite(metadata: M, rules: RewriteRules, options: RewriteOptions = {}): Promise<M> {
    const place = this.#backend.resolve(metadata);
    return this.#live.exclusively(place.id, async () => {
      const store = await this.#backend.openForRewrite(place);
      try {
        const kept = this.#admit(rewriteContents(store.dump(), rules, options));
        const next = { ...store.metadata, storeGeneration: (store.metadata.storeGeneration ?? 0) + 1 };
        await this.#backend.replace(store, next, kept);
        return this.#backend.withPlace(next, place);
      } finally {
        await store.close();
      }
    });
  }

  async read<T>(metadata: M, look: (reading: SessionReading) => T): Promise<T> {
    return this.#backend.read(this.#backend.resolve(metadata), look);
  }

  /**
   * Lets `work` have the store of a session that nobody has open, and closes it. For repairs that one medium knows.
   * Rejects as `rewrite`.
   */
  async withClosed<T>(metadata: M, work: (store: Store) => Promise<T>): Promise<T> {
    const place = this.#backend.resolve(metadata);
    return this.#live.exclusively(place.id, async () => {
      const store = await this.#backend.open(place);
      try {
        return await work(store);
      } finally {
        await store.close();
      }
    });
  }

  /** As `withClosed`, over the store of the session where it is open here: between two of its commits. */
  async withStore<T>(metadata: M, work: (store: Store) => Promise<T>): Promise<T> {
    const place = this.#backend.resolve(metadata);
    const live = this.#live.get(place.id);
    if (live !== undefined && this.#backend.isSame(live.place, place)) return work(live.store);
    return this.withClosed(metadata, work);
  }

  #newMetadata({ id = this.#idGenerator.next(), ...rest }: NewSession): SessionMetadata {
    assertSessionId(id);
    return { id, createdAt: this.#clock.now(), storageVersion: CURRENT_STORAGE_VERSION, ...rest };
  }

  async #make(metadata: SessionMetadata, contents: SessionContents | undefined): Promise<Session<M>> {
    const place = this.#backend.locate(metadata);
    if (this.#live.get(metadata.id) !== undefined) throw new SessionExists(metadata.id);
    return this.#attach(place, () => {
      this.#backend.create(place, metadata, contents);
      return this.#backend.open(place);
    });
  }

  async #attach(place: M, open: () => Promise<Store>): Promise<Session<M>> {
    // What is recorded may be newer than what the caller named the session by: a migration raises the version.
    const { storage, recorded } = await this.#live.open(place, open);
    return new Session({
      storage,
      metadata: this.#backend.withPlace(recorded, place),
      idGenerator: this.#idGenerator,
      customMessageSchemas: this.#customSchemas,
    });
  }

  /** A source as it is between two commits, in the current storage version. */
  async #snapshot(source: M): Promise<SessionDump> {
    const place = this.#backend.resolve(source);
    const live = this.#live.get(place.id);
    if (live !== undefined && this.#backend.isSame(live.place, place)) {
      try {
        return live.store.dump();
      } catch (error) {
        // It is just being closed; what it committed is where every reader finds it.
        if (!(error instanceof StorageClosed)) throw error;
      }
    }
    const dump = this.#backend.read(place, (reading) => reading.dump());
    if (dump.metadata.storageVersion === CURRENT_STORAGE_VERSION) return dump;
    return this.withClosed(place, async (store) => store.dump());
  }

  /** What the rules of a rewrite returned, held against everything that a session must satisfy. @throws InvalidRewrite */
  #admit(contents: SessionContents): SessionContents {
    try {
      const admitted = admitJson(contents);
      checkContents(admitted);
      this.#checkShapes(admitted);
      return admitted;
    } catch (error) {
      if (error instanceof InvalidRewrite) throw error;
      throw new InvalidRewrite(error instanceof Error ? error.message : String(error), error);
    }
  }

  #checkShapes({ entries, registers, usage }: SessionContents): void {
    const issues = [
      ...entries.map((row) => ({
        subject: `entry ${row.id}`,
        issue: validateEntry(row, this.#customSchemas),
      })),
      ...usage.map((row) => ({ subject: `usage row ${row.id}`, issue: validateUsageRow(row) })),
      ...registers.map(({ namespace, key, value }) => ({
        subject: `${namespace}/${key}`,
        issue: validateRegister(namespace, value, this.#customSchemas),
      })),
    ];
    const first = issues.find(({ issue }) => issue !== undefined);
    if (first?.issue === undefined) return;
    const { path, expected, found } = first.issue;
    throw new InvalidRewrite(`${first.subject}${path}: expected ${expected}, found ${found}`);
  }
}

function newestFirst(left: SessionMetadata, right: SessionMetadata): number {
  if (left.createdAt !== right.createdAt) return right.createdAt - left.createdAt;
  return left.id < right.id ? -1 : 1;
}

function ignore(): void {}
