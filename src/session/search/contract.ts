/**
 * Search over sessions: a service of its own above a repository, with a database of its own (spec §2.8, Search).
 *
 * The repository knows nothing of it, and nothing depends on it: the index is a projection without authority, which can
 * be deleted and made again. An application calls `sync` at its start or by a schedule, `notify` from its events where
 * it wants freshness, and `remove` where it deletes a session, or leaves that to the next `sync`.
 */

/** See the module header. */
export interface SessionSearchService {
  /** Sessions by their best match, the best first. */
  searchSessions(query: SearchQuery): Promise<SessionSearchHit[]>;
  /** Entries by match, the best first. */
  searchEntries(query: SearchQuery): Promise<EntrySearchHit[]>;

  /**
   * Brings the index up to every session of the repository, and forgets those that are gone. A session that cannot be
   * read keeps what is indexed of it and holds up no other; the report names it. Rejects if the repository cannot be
   * listed or the index not be written.
   */
  sync(): Promise<SyncReport>;
  /** A hint that a session has something new. It is pulled a little later, once for all hints until then. */
  notify(sessionId: string): void;
  /** Forgets a session. */
  remove(sessionId: string): Promise<void>;
  /** Ends waiting pulls, finishes running ones, and lets go of the index. Idempotent. */
  close(): Promise<void>;
}

export interface SearchQuery {
  /** Words that must all be there, in any order; case and accents are not told apart. */
  readonly text: string;
  /** In hits; default 20. */
  readonly limit?: number;
}

/** A session, and what of it matches best. */
export interface SessionSearchHit {
  readonly sessionId: string;
  /** The higher, the better; comparable within one answer. */
  readonly score: number;
  readonly top: { readonly entryId: string; readonly snippet: string; readonly timestamp: number };
}

export interface EntrySearchHit {
  readonly sessionId: string;
  readonly entryId: string;
  /** Unix ms. */
  readonly timestamp: number;
  readonly snippet: string;
  readonly score: number;
}

/** What a `sync` did. */
export interface SyncReport {
  /** Sessions that are up to date now. */
  readonly sessions: number;
  /** Entries that were read for it, with text or without. */
  readonly entries: number;
  /** Sessions that were forgotten because the repository has them no more. */
  readonly removed: number;
  readonly failures: readonly SyncFailure[];
}

/** A session, or a file that looks like one, that could not be read. */
export interface SyncFailure {
  /** Absent where the file does not say. */
  readonly sessionId?: string;
  /** Absent where the repository has no files. */
  readonly path?: string;
  readonly error: unknown;
}

/** The index could not be read or written. It can be deleted and made again by `sync`. */
export class SearchIndexFault extends Error {
  override readonly name = "SearchIndexFault";
  readonly code = "SEARCH_INDEX_FAULT";
  readonly path: string;

  constructor(path: string, message: string, cause?: unknown) {
    super(`${path}: ${message}`, { cause });
    this.path = path;
  }
}

/** The service was closed before this call. */
export class SearchClosed extends Error {
  override readonly name = "SearchClosed";
  readonly code = "SEARCH_CLOSED";

  constructor() {
    super("the search service is closed; make a new one");
  }
}
