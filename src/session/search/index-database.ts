/**
 * The index: a SQLite database with the texts of entries under FTS5, and how far each session is indexed (spec §2.8).
 *
 * Terms. *Cursor*: of one session, up to which entry it is indexed, and in which generation of its store. *Epoch*: a
 * number that a cursor gets when it is made and that no other ever has; starting a session over makes a new cursor.
 *
 * Invariants.
 * 1. A batch and the cursor behind it are one transaction, so the index holds exactly the entries up to each cursor.
 * 2. A batch goes in only under the cursor that it was read for, told by epoch and seq. What another process did in
 *    between (started over, removed, indexed the same entries) makes it void, and it is read again.
 * 3. A document is there once by (session, entry).
 * 4. What is removed is overwritten in the file, because it may have been removed to be gone (spec §2.9).
 */
import { closeSync, constants, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { Corruption } from "../../foundation/index.ts";
import { type Connect, SqliteConnection, StorageFault } from "../../storage/index.ts";
import { SearchIndexFault } from "./contract.ts";

/** How far a session is indexed. */
export interface Cursor {
  readonly epoch: number;
  readonly generation: number;
  /** Of the newest entry that is indexed; 0 for none. */
  readonly seq: number;
  /** That entry; empty for none. */
  readonly entryId: string;
}

/** The text of one entry. */
export interface IndexedDocument {
  readonly entryId: string;
  /** Unix ms. */
  readonly timestamp: number;
  readonly text: string;
}

/** One match. */
export interface Match {
  readonly doc: number;
  readonly sessionId: string;
  readonly entryId: string;
  readonly timestamp: number;
  readonly score: number;
}

export interface IndexOptions {
  readonly busyTimeoutMs?: number | undefined;
  readonly connect?: Connect | undefined;
}

/** See the module header. Every method throws `SearchIndexFault` when the database fails. */
export class IndexDatabase {
  readonly #path: string;
  readonly #connection: SqliteConnection;

  private constructor(path: string, connection: SqliteConnection) {
    this.#path = path;
    this.#connection = connection;
  }

  /** Opens the index, and makes it, for its owner alone, where there is none or one of an older layout. */
  static open(path: string, options: IndexOptions = {}): IndexDatabase {
    return guarded(path, () => {
      makeFile(path);
      const connection = new SqliteConnection({ kind: "file", path }, options);
      try {
        refuseForeign(path, connection);
        connection.configure();
        connection.pragma("secure_delete = ON");
        connection.immediate(() => {
          // Asked under the write lock: another process may have made it in between.
          if (connection.pragma("user_version") === LAYOUT_VERSION) return;
          connection.execute(LAYOUT);
        });
        return new IndexDatabase(path, connection);
      } catch (error) {
        connection.close();
        throw error;
      }
    });
  }

  /** Every session that has a cursor. */
  sessionIds(): string[] {
    return this.#guarded(() => this.#all(ALL_SESSIONS).map(([id]) => id as string));
  }

  cursorOf(sessionId: string): Cursor | undefined {
    return this.#guarded(() => this.#cursorOf(sessionId));
  }

  /**
   * Starts a session over under a new cursor, if `from` is still its cursor. Returns the cursor that it has then.
   */
  startOver(sessionId: string, from: Cursor | undefined, generation: number): Cursor | undefined {
    return this.#guarded(() =>
      this.#connection.immediate(() => {
        const current = this.#cursorOf(sessionId);
        if (current?.epoch !== from?.epoch) return current;
        this.#forget(sessionId);
        this.#run(NEW_CURSOR, sessionId, generation);
        return this.#cursorOf(sessionId);
      }),
    );
  }

  /** Adds a batch and moves the cursor behind it. Returns the new cursor, or undefined where the batch is void. */
  add(
    sessionId: string,
    from: Cursor,
    documents: readonly IndexedDocument[],
    last: { readonly seq: number; readonly entryId: string },
  ): Cursor | undefined {
    return this.#guarded(() =>
      this.#connection.immediate(() => {
        const current = this.#cursorOf(sessionId);
        if (current?.epoch !== from.epoch || current.seq !== from.seq) return undefined;
        for (const { entryId, timestamp, text } of documents) {
          this.#run(ADD_DOCUMENT, sessionId, entryId, timestamp, text);
        }
        this.#run(MOVE_CURSOR, last.seq, last.entryId, from.epoch);
        return { ...from, ...last };
      }),
    );
  }

  /** Forgets a session. Returns whether there was anything of it. */
  remove(sessionId: string): boolean {
    return this.#guarded(() =>
      this.#connection.immediate(() => {
        const isThere = this.#cursorOf(sessionId) !== undefined;
        if (isThere) this.#forget(sessionId);
        return isThere;
      }),
    );
  }

  /** Moves what was committed into the database file, so that nothing that was removed stays in the log beside it. */
  settle(): void {
    this.#guarded(() => this.#connection.pragma("wal_checkpoint(TRUNCATE)"));
  }

  /** The best matches of an expression, in order; with `bySession`, of each session only its best. */
  matches(expression: string, limit: number, { bySession = false } = {}): Match[] {
    return this.#guarded(() => {
      const found: Match[] = [];
      const sessions = new Set<string>();
      if (limit <= 0) return found;
      for (const row of this.#connection.statement(MATCHES).iterate(expression)) {
        const [doc, sessionId, entryId, timestamp, rank] = row as [number, string, string, number, number];
        if (bySession && sessions.has(sessionId)) continue;
        sessions.add(sessionId);
        found.push({ doc, sessionId, entryId, timestamp, score: -rank });
        if (found.length >= limit) break;
      }
      return found;
    });
  }

  /** The part of a document that matches an expression best. */
  snippet(expression: string, doc: number): string {
    return this.#guarded(() => (this.#all(SNIPPET, expression, doc)[0]?.[0] as string | undefined) ?? "");
  }

  close(): void {
    this.#connection.close();
  }

  #cursorOf(sessionId: string): Cursor | undefined {
    const row = this.#all(CURSOR, sessionId)[0];
    if (row === undefined) return undefined;
    const [epoch, generation, seq, entryId] = row as [number, number, number, string];
    return { epoch, generation, seq, entryId };
  }

  #forget(sessionId: string): void {
    this.#run(FORGET_DOCUMENTS, sessionId);
    this.#run(FORGET_CURSOR, sessionId);
  }

  #all(sql: string, ...parameters: unknown[]): unknown[][] {
    return this.#connection.statement(sql).all(...parameters);
  }

  #run(sql: string, ...parameters: unknown[]): void {
    this.#connection.statement(sql).run(...parameters);
  }

  #guarded<T>(work: () => T): T {
    return guarded(this.#path, () => this.#connection.guard(work));
  }
}

/** Turns what the connection throws, which speaks of sessions, into what is said of an index. */
function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof Corruption) {
      throw new SearchIndexFault(path, "the index is damaged; delete it and sync again", error);
    }
    if (error instanceof StorageFault) throw new SearchIndexFault(path, error.message, error);
    throw error;
  }
}

function makeFile(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600));
  } catch (cause) {
    throw new SearchIndexFault(path, "the file of the index could not be opened", cause);
  }
}

/** Refuses a database that is no index, or a newer one, before anything in it is changed. */
function refuseForeign(path: string, connection: SqliteConnection): void {
  const isEmpty = connection.guard(
    () => connection.statement("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined,
  );
  // Tables and mark are made in one transaction, so the mark is asked for last: asked first, it could be missing still
  // while the tables that another process makes at this moment are seen already.
  if (isEmpty) return;
  if (connection.pragma("application_id") === SEARCH_APPLICATION_ID) {
    if ((connection.pragma("user_version") as number) <= LAYOUT_VERSION) return;
    throw new SearchIndexFault(path, "a newer program made this index; use another path beside it");
  }
  throw new SearchIndexFault(path, "the file is a database of something else; nothing was changed");
}

/** "crpx" in ASCII: what an index says of itself in `application_id`. */
export const SEARCH_APPLICATION_ID = 0x63727078;
/** Raised with every change below; an index of another layout is made again. */
const LAYOUT_VERSION = 1;

const LAYOUT = `
DROP TABLE IF EXISTS documents_fts;
DROP TABLE IF EXISTS documents;
DROP TABLE IF EXISTS cursors;

CREATE TABLE cursors(
  epoch INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL UNIQUE,
  generation INTEGER NOT NULL, seq INTEGER NOT NULL, entry_id TEXT NOT NULL);
CREATE TABLE documents(
  doc INTEGER PRIMARY KEY, session_id TEXT NOT NULL, entry_id TEXT NOT NULL,
  timestamp INTEGER NOT NULL, text TEXT NOT NULL, UNIQUE(session_id, entry_id));

-- The words. Their texts are in documents, and triggers keep the two together.
CREATE VIRTUAL TABLE documents_fts USING fts5(
  text, content='documents', content_rowid='doc', tokenize='unicode61 remove_diacritics 2');
INSERT INTO documents_fts(documents_fts, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER documents_added AFTER INSERT ON documents BEGIN
  INSERT INTO documents_fts(rowid, text) VALUES (new.doc, new.text);
END;
CREATE TRIGGER documents_removed AFTER DELETE ON documents BEGIN
  INSERT INTO documents_fts(documents_fts, rowid, text) VALUES ('delete', old.doc, old.text);
END;

PRAGMA application_id = ${SEARCH_APPLICATION_ID};
PRAGMA user_version = ${LAYOUT_VERSION};
`;

const ALL_SESSIONS = "SELECT session_id FROM cursors ORDER BY session_id";
const CURSOR = "SELECT epoch, generation, seq, entry_id FROM cursors WHERE session_id = ?";
const NEW_CURSOR = "INSERT INTO cursors(session_id, generation, seq, entry_id) VALUES (?, ?, 0, '')";
const MOVE_CURSOR = "UPDATE cursors SET seq = ?, entry_id = ? WHERE epoch = ?";
const FORGET_CURSOR = "DELETE FROM cursors WHERE session_id = ?";
const FORGET_DOCUMENTS = "DELETE FROM documents WHERE session_id = ?";
const ADD_DOCUMENT =
  "INSERT INTO documents(session_id, entry_id, timestamp, text) VALUES (?, ?, ?, ?) " +
  "ON CONFLICT(session_id, entry_id) DO NOTHING";
const MATCHES =
  "SELECT d.doc, d.session_id, d.entry_id, d.timestamp, f.rank FROM documents_fts f " +
  "JOIN documents d ON d.doc = f.rowid WHERE documents_fts MATCH ? " +
  "ORDER BY f.rank, d.timestamp DESC, d.session_id, d.entry_id";
/** Of the one column, unmarked, at most 24 words. */
const SNIPPET =
  "SELECT snippet(documents_fts, 0, '', '', '…', 24) FROM documents_fts WHERE documents_fts MATCH ? AND rowid = ?";
