/**
 * The reference search service: it pulls from a repository into an FTS5 index (spec §2.8, Search).
 *
 * Events are hints and carry nothing: whatever is indexed was read from a session, at its cursor. So a hint that is lost
 * costs freshness until the next `sync`, and a crash at any point costs nothing: the index says itself how far it is.
 *
 * A pull starts a session over when what stands at its cursor is not what was indexed there: the store has another
 * generation (spec §2.9), another session of the same id took its place, or the entry at the cursor is not the one that
 * it was, because the file was replaced or lost its tail. Several pulls of a session, in this process or another, do
 * not disturb each other; see `index-database.ts`.
 *
 * No timer runs here: the wait between a hint and its pull is a sleep of the clock that is handed in.
 */
import type { Clock } from "../../foundation/index.ts";
import type { Entry } from "../../model/index.ts";
import type { Connect, SessionMetadata } from "../../storage/index.ts";
import type { SessionRepository, SkippedFile } from "../repository/contract.ts";
import {
  type EntrySearchHit,
  SearchClosed,
  SearchIndexFault,
  type SearchQuery,
  type SessionSearchHit,
  type SessionSearchService,
  type SyncFailure,
  type SyncReport,
} from "./contract.ts";
import { type Cursor, IndexDatabase, type IndexedDocument } from "./index-database.ts";
import { matchExpression, shown, textOf } from "./text.ts";

export interface SearchServiceOptions<M extends SessionMetadata> {
  readonly repository: SessionRepository<M>;
  /** Where the index lies; made, for its owner alone, where there is none. */
  readonly path: string;
  readonly clock: Clock;
  /** How long hints are collected before they are followed, in ms. Default 500. */
  readonly debounceMs?: number;
  /** Told when a pull that a hint caused has failed; nobody else would be. */
  readonly onFailure?: (failure: SyncFailure) => void;
  /** How many entries go into the index in one transaction. Default 256. */
  readonly batchEntries?: number;
  /** How long SQLite waits for another process that writes to the index, in ms. */
  readonly busyTimeoutMs?: number;
  /** The driver of the index; the host's unless a test or a fault stands in for it. */
  readonly connect?: Connect;
}

/** Opens or makes the index. @throws SearchIndexFault */
export function createSqliteSearchService<M extends SessionMetadata>(
  options: SearchServiceOptions<M>,
): SessionSearchService {
  return new SqliteSearchService(options);
}

class SqliteSearchService<M extends SessionMetadata> implements SessionSearchService {
  readonly #options: SearchServiceOptions<M>;
  readonly #index: IndexDatabase;
  /** What names the sessions that were seen last, so that a hint need not list them all. */
  readonly #named = new Map<string, M>();
  readonly #hinted = new Set<string>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #end = new AbortController();
  #closing: Promise<void> | undefined;

  constructor(options: SearchServiceOptions<M>) {
    this.#options = options;
    const { busyTimeoutMs, connect } = options;
    this.#index = IndexDatabase.open(options.path, { busyTimeoutMs, connect });
  }

  async searchEntries({ text, limit = LIMIT_DEFAULT }: SearchQuery): Promise<EntrySearchHit[]> {
    this.#assertOpen();
    const expression = matchExpression(text);
    if (expression === undefined) return [];
    const matches = this.#index.matches(expression, limit);
    return matches.map(({ doc, ...match }) => ({ ...match, snippet: this.#snippet(expression, doc) }));
  }

  async searchSessions({ text, limit = LIMIT_DEFAULT }: SearchQuery): Promise<SessionSearchHit[]> {
    this.#assertOpen();
    const expression = matchExpression(text);
    if (expression === undefined) return [];
    const matches = this.#index.matches(expression, limit, { bySession: true });
    return matches.map(({ sessionId, score, doc, entryId, timestamp }) => ({
      sessionId,
      score,
      top: { entryId, snippet: this.#snippet(expression, doc), timestamp },
    }));
  }

  sync(): Promise<SyncReport> {
    return this.#run(async () => {
      // Only what was indexed before the listing may be missing from it.
      const indexed = this.#index.sessionIds();
      const failures: SyncFailure[] = [];
      const listed = await this.#list((skipped) => failures.push(failureOf(skipped)));
      let sessions = 0;
      let entries = 0;
      for (const metadata of listed) {
        if (this.#end.signal.aborted) break;
        try {
          entries += await this.#pull(metadata);
          sessions += 1;
        } catch (error) {
          if (error instanceof SearchIndexFault) throw error;
          failures.push({ sessionId: metadata.id, error });
        }
      }
      const isListed = new Set(listed.map(({ id }) => id));
      const gone = indexed.filter((id) => !isListed.has(id));
      for (const id of gone) this.#index.remove(id);
      if (gone.length > 0) this.#index.settle();
      return { sessions, entries, removed: gone.length, failures };
    });
  }

  notify(sessionId: string): void {
    if (this.#closing !== undefined || this.#hinted.has(sessionId)) return;
    this.#hinted.add(sessionId);
    const { clock, debounceMs = DEBOUNCE_MS, onFailure } = this.#options;
    const following = this.#run(async () => {
      await clock.sleep(debounceMs, this.#end.signal);
      // A hint from here on is of something that this pull may not see any more.
      this.#hinted.delete(sessionId);
      if (!this.#end.signal.aborted) await this.#pullById(sessionId);
    });
    following.catch((error: unknown) => onFailure?.({ sessionId, error }));
  }

  remove(sessionId: string): Promise<void> {
    return this.#run(async () => {
      this.#named.delete(sessionId);
      if (this.#index.remove(sessionId)) this.#index.settle();
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#end.abort();
    await Promise.allSettled(this.#running);
    this.#index.close();
  }

  async #list(onSkipped: (skipped: SkippedFile) => void = ignore): Promise<M[]> {
    const listed = await this.#options.repository.list({ onSkipped });
    this.#named.clear();
    for (const metadata of listed) this.#named.set(metadata.id, metadata);
    return listed;
  }

  /** Pulls a session that was hinted at; one that is gone is forgotten by the next `sync`. */
  async #pullById(sessionId: string): Promise<void> {
    const known = this.#named.get(sessionId);
    if (known !== undefined) {
      try {
        await this.#pull(known);
        return;
      } catch (error) {
        if (!isElsewhere(error)) throw error;
      }
    }
    const found = (await this.#list()).find(({ id }) => id === sessionId);
    if (found !== undefined) await this.#pull(found);
  }

  /** Brings a session up to date. Returns how many entries were read for it. */
  async #pull(metadata: M): Promise<number> {
    let count = 0;
    for (;;) {
      const round = await this.#options.repository.read(metadata, (reading) => {
        const generation = reading.metadata.storeGeneration ?? 0;
        return this.#pullRound(metadata.id, generation, (fromSeq, limit) =>
          reading.scanEntries({ fromSeq, limit }),
        );
      });
      count += round.count;
      if (round.isDone || this.#end.signal.aborted) return count;
    }
  }

  /** Some batches of one snapshot. Long sessions take several rounds, so that other work gets its turn between them. */
  #pullRound(
    sessionId: string,
    generation: number,
    scan: (fromSeq: number, limit: number) => Entry[],
  ): { count: number; isDone: boolean } {
    const { batchEntries = BATCH_ENTRIES } = this.#options;
    let count = 0;
    for (let batch = 0; batch < BATCHES_PER_ROUND; batch++) {
      const cursor = this.#index.cursorOf(sessionId);
      // The entry at the cursor is read again: it proves that the session still holds what was indexed.
      const rows = cursor === undefined ? [] : scan(cursor.seq, batchEntries + 1);
      if (cursor === undefined || !isWhereItWas(cursor, generation, rows)) {
        this.#index.startOver(sessionId, cursor, generation);
        if (cursor !== undefined && cursor.seq > 0) this.#index.settle();
        continue;
      }
      const news = cursor.seq === 0 ? rows.slice(0, batchEntries) : rows.slice(1);
      const last = news.at(-1);
      if (last === undefined) return { count, isDone: true };
      const added = this.#index.add(sessionId, cursor, news.flatMap(documentOf), {
        seq: last.seq,
        entryId: last.id,
      });
      if (added !== undefined) count += news.length;
    }
    return { count, isDone: false };
  }

  #snippet(expression: string, doc: number): string {
    return shown(this.#index.snippet(expression, doc));
  }

  /** Runs work that `close` waits for. */
  async #run<T>(work: () => Promise<T>): Promise<T> {
    this.#assertOpen();
    const running = work();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new SearchClosed();
  }
}

/** Whether a session still holds, at its cursor, the entry that was indexed last. */
function isWhereItWas(cursor: Cursor, generation: number, [first]: readonly Entry[]): boolean {
  if (cursor.generation !== generation) return false;
  return cursor.seq === 0 || (first?.seq === cursor.seq && first.id === cursor.entryId);
}

function documentOf(entry: Entry): IndexedDocument[] {
  const text = textOf(entry);
  return text === undefined ? [] : [{ entryId: entry.id, timestamp: entry.timestamp, text }];
}

function failureOf({ path, reason, error }: SkippedFile): SyncFailure {
  return { path, error: error ?? new Error(`${path} is not listed: ${reason}`) };
}

/** Whether a session is not where it was seen last; then it is looked for anew. */
function isElsewhere(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === "SESSION_NOT_FOUND" || code === "FOREIGN_SESSION";
}

function ignore(): void {}

const LIMIT_DEFAULT = 20;
const DEBOUNCE_MS = 500;
const BATCH_ENTRIES = 256;
const BATCHES_PER_ROUND = 32;
