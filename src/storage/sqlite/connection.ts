/**
 * One connection to a session database: pragmas, prepared statements, transactions, and what their failures mean.
 *
 * Terms. *Image*: the bytes of a whole database, held in memory; a database opened over an image changes nothing
 * outside itself. *In doubt*: the state of a medium of which nobody can say whether the last commit is on it.
 *
 * Invariants.
 * 1. Every transaction begins with BEGIN IMMEDIATE. A deferred one that reads before it writes would fail with a
 *    stale snapshot if another connection committed in between, and no timeout helps (spec §1.7).
 * 2. A transaction that does not commit is rolled back, whatever was thrown. What is thrown then is the work's own
 *    refusal, or a `StorageFault` if SQLite failed.
 * 3. A statement is prepared once per connection.
 */
import Database from "better-sqlite3";
import { Corruption } from "../../foundation/index.ts";
import { StorageFault } from "../contract.ts";

/** Where a session database lies: a file, or the bytes of one. */
export type SqliteSource =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "image"; readonly bytes: Uint8Array };

/** How the driver opens a database. Replaced by tests and by fault injection, which wrap what it returns. */
export type Connect = (filename: string | Buffer, options: Database.Options) => Database.Database;

export interface ConnectionOptions {
  readonly?: boolean;
  /** Only for a file: whether it has to exist. */
  mustExist?: boolean;
  /** How long SQLite waits for another connection's lock before it fails, in ms. */
  busyTimeoutMs?: number | undefined;
  connect?: Connect | undefined;
}

/** A prepared statement that returns rows as arrays. */
export type Statement = Database.Statement<unknown[], unknown[]>;

/** The default wait for another connection's lock. Transactions here last well under a millisecond. */
const BUSY_TIMEOUT_MS = 5000;

/** What the WAL is cut back to after a checkpoint, so that one slow reader does not leave it large for ever. */
const WAL_BYTES_KEPT = 16 * 1024 * 1024;

/** Bytes 18 and 19 of the header name the journal mode that a file was written in. */
const HEADER_WRITE_VERSION = 18;
const HEADER_READ_VERSION = 19;
const ROLLBACK_VERSION = 1;
const WAL_VERSION = 2;

export class Connection {
  /** The file, for messages; absent for an image. */
  readonly file: string | undefined;
  readonly #database: Database.Database;
  readonly #statements = new Map<string, Statement>();
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #rollback: Statement;

  /**
   * Opens a database without changing it; a writer calls `configure` once it knows what it opened.
   * @throws Corruption `not_a_database`; StorageFault when the medium cannot be opened.
   */
  constructor(source: SqliteSource, options: ConnectionOptions = {}) {
    this.file = source.kind === "file" ? source.path : undefined;
    const { readonly = false, mustExist = true, busyTimeoutMs = BUSY_TIMEOUT_MS } = options;
    const connect = options.connect ?? connectHost;
    const filename = source.kind === "file" ? source.path : imageOf(source.bytes);
    const opened = this.guard(() => {
      try {
        return connect(filename, {
          readonly,
          timeout: busyTimeoutMs,
          fileMustExist: mustExist && source.kind === "file",
        });
      } catch (error) {
        if (isSqliteError(error)) throw error;
        throw new StorageFault(`${this.file ?? "the image"} cannot be opened: ${String(error)}`, error, true);
      }
    });
    this.#database = opened;
    try {
      this.#begin = opened.prepare("BEGIN IMMEDIATE");
      this.#commit = opened.prepare("COMMIT");
      this.#rollback = opened.prepare("ROLLBACK");
    } catch (error) {
      opened.close();
      throw error;
    }
  }

  /**
   * Sets a file to journal_mode WAL and synchronous NORMAL: a finished commit outlives the process that made it, and
   * a power loss may take the newest commits but no part of one. An image has no journal that outlives it.
   * @throws StorageFault where WAL cannot be had, as on network mounts: readers and the writer would block each other.
   */
  configure(): void {
    if (this.file === undefined) return;
    this.guard(() => {
      const mode = this.#database.pragma("journal_mode = WAL", { simple: true });
      if (mode !== "wal") {
        const message = `${this.file} stays in journal mode ${String(mode)}; put the session on a local file system`;
        throw new StorageFault(message, undefined, true);
      }
      this.#database.pragma("synchronous = NORMAL");
      this.#database.pragma(`journal_size_limit = ${WAL_BYTES_KEPT}`);
    });
  }

  /** The statement of an SQL text, prepared at its first use. */
  statement(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare<unknown[], unknown[]>(sql);
      if (statement.reader) statement.raw();
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Runs a script of statements that return nothing. */
  execute(script: string): void {
    this.#database.exec(script);
  }

  /** The single value of a pragma. */
  pragma(name: string): unknown {
    return this.guard(() => this.#database.pragma(name, { simple: true }));
  }

  /**
   * Runs `work` inside BEGIN IMMEDIATE … COMMIT. `work` is synchronous: a promise would commit at its first await.
   * @throws what `work` throws, after the rollback; StorageFault for a failure of SQLite (invariant 2).
   */
  immediate<T>(work: () => T): T {
    let phase: Phase = "begin";
    try {
      this.#begin.run();
      phase = "work";
      const value = work();
      phase = "commit";
      this.#commit.run();
      return value;
    } catch (error) {
      const rolledBack = this.#rollBack();
      if (!isSqliteError(error)) {
        if (rolledBack) throw error;
        throw new StorageFault("a refused transaction could not be rolled back; reopen the session", error);
      }
      const recovered = rolledBack && !isInDoubt(error.code, phase) && this.#answers();
      throw new StorageFault(
        `SQLite failed to ${PHASE_WORDS[phase]} a transaction: ${error.message} [${error.code}]; ` +
          (recovered ? "nothing of it was written" : "reopen the session"),
        error,
        recovered,
      );
    }
  }

  /**
   * Runs `work` under the write lock and writes nothing, which is made sure of by rolling back.
   * @throws what `work` throws; StorageFault for a failure of SQLite
   */
  reading<T>(work: () => T): T {
    return this.guard(() => {
      this.#begin.run();
      try {
        return work();
      } finally {
        this.#rollBack();
      }
    });
  }

  /**
   * Brings the database back to its single file: no WAL, no shared memory. SQLite does so for the last connection alone.
   * @throws StorageFault with `recovered: true` while another connection is open.
   */
  foldIntoFile(): void {
    if (this.file === undefined) return;
    try {
      this.#database.pragma("journal_mode = DELETE");
    } catch (error) {
      if (!isSqliteError(error)) throw error;
      const message = `${this.file} is open elsewhere; close it there and try again; nothing was changed`;
      if (error.code.startsWith("SQLITE_BUSY")) throw new StorageFault(message, error, true);
      this.guard(() => {
        throw error;
      });
    }
  }

  /** Runs reads and turns what SQLite throws into the errors of the contract. */
  guard<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!isSqliteError(error)) throw error;
      if (CORRUPT.test(error.code)) {
        const reason = error.code === "SQLITE_NOTADB" ? "not_a_database" : "sqlite_corrupt";
        throw new Corruption(reason, `SQLite cannot read it: ${error.message}`, this.place());
      }
      const what = `SQLite failed on ${this.file ?? "the image"}: ${error.message} [${error.code}]`;
      throw new StorageFault(what, error, true);
    }
  }

  /** The place of a damage in this database. */
  place(subject?: string): { file?: string; subject?: string } {
    return {
      ...(this.file === undefined ? {} : { file: this.file }),
      ...(subject === undefined ? {} : { subject }),
    };
  }

  /** The bytes of the whole database as of the last commit, fit for a source of kind `image`. */
  image(): Buffer {
    return claimNoWal(this.guard(() => this.#database.serialize()));
  }

  /** Closes the connection. The last one on a file moves the WAL into it. Idempotent. */
  close(): void {
    this.#database.close();
  }

  #rollBack(): boolean {
    // SQLite rolls back by itself after some failures, and a failed BEGIN left nothing to roll back.
    if (!this.#database.inTransaction) return true;
    try {
      this.#rollback.run();
    } catch {
      // The failure that led here is the one to report; whether this one matters shows in the next line.
    }
    return !this.#database.inTransaction;
  }

  #answers(): boolean {
    try {
      this.#database.pragma("schema_version");
      return true;
    } catch {
      return false;
    }
  }
}

/** Whether an error comes from SQLite itself. */
export function isSqliteError(error: unknown): error is Error & { code: string } {
  return error instanceof Database.SqliteError;
}

type Phase = "begin" | "work" | "commit";

const PHASE_WORDS: Record<Phase, string> = { begin: "begin", work: "write", commit: "commit" };

const CORRUPT = /^SQLITE_(CORRUPT|NOTADB)/;

/**
 * An I/O error of COMMIT itself is in doubt even when the rollback worked: the frame that commits may lie whole in
 * the WAL, and would come back to life if this process died before the next commit wrote over it.
 */
function isInDoubt(code: string, phase: Phase): boolean {
  if (CORRUPT.test(code) || code === "SQLITE_READONLY_DBMOVED") return true;
  return phase === "commit" && code.startsWith("SQLITE_IOERR");
}

function connectHost(filename: string | Buffer, options: Database.Options): Database.Database {
  return new Database(filename, options);
}

/** An image that SQLite opens in memory, where there is no WAL: it refuses one whose header says that there was. */
function imageOf(bytes: Uint8Array): Buffer {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // The driver copies the bytes, so the caller's are only copied when their header has to change.
  return view[HEADER_READ_VERSION] === WAL_VERSION ? claimNoWal(Buffer.from(view)) : view;
}

function claimNoWal(bytes: Buffer): Buffer {
  bytes[HEADER_WRITE_VERSION] = ROLLBACK_VERSION;
  bytes[HEADER_READ_VERSION] = ROLLBACK_VERSION;
  return bytes;
}
