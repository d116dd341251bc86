/**
 * Looking at a session without writing to it: beside a live writer, after a kill, on a copy (spec §2.7, §2.8).
 *
 * A file is read in one of three ways.
 * - Without a WAL beside it, the file is the whole session: its bytes are read and opened as an image.
 * - With a WAL and its shared memory, a writer lives or was killed here. A read-only connection reads one snapshot
 *   beside it. It neither checkpoints nor changes the file or the WAL; the shared memory, which is no part of the
 *   session, keeps its read marks.
 * - With a WAL alone, this is a copy; with a rollback journal, a change of the whole file was cut off. Opening it in place
 *   would leave a shared-memory file behind, or undo the change, so the files are copied to a temporary folder and read
 *   there.
 *
 * The snapshot of the second way is a deferred transaction, the one exception to the rule of BEGIN IMMEDIATE: a
 * read-only connection cannot take the write lock, and as it never writes, it never meets the trap that the rule
 * is for.
 */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Entry, Register } from "../../model/index.ts";
import { CURRENT_STORAGE_VERSION, type EntryScan, type SessionMetadata, StorageFault } from "../contract.ts";
import type { SessionDump } from "../dump.ts";
import { byNamespaceThenSeq } from "../dump.ts";
import type { Connection, SqliteSource } from "./connection.ts";
import { openedSession } from "./creation.ts";
import { listRegisters, readSession, scanEntries, scanUsage } from "./reads.ts";
import { NAMESPACES_SORTED } from "./schema.ts";

/** One snapshot of a session. Good only inside the call that it is handed to. */
export interface SqliteReading {
  readonly metadata: SessionMetadata;
  scanEntries(query: EntryScan): Entry[];
  dump(): SessionDump;
}

/** Everything durable of a session, read without changing it. @throws Corruption; StorageFault. */
export function dumpSqlite(source: SqliteSource): SessionDump {
  return readSqlite(source, (reading) => reading.dump());
}

/**
 * Reads what is wanted of one snapshot, without changing the session.
 * @param storageVersion the newest one that is read
 * @throws Corruption; StorageFault; StorageVersionTooNew; what `read` throws.
 */
export function readSqlite<T>(
  source: SqliteSource,
  read: (reading: SqliteReading) => T,
  storageVersion = CURRENT_STORAGE_VERSION,
): T {
  const look = { storageVersion, read: (connection: Connection) => read(readingOf(connection)) };
  if (source.kind === "image") return withConnection(source, look);
  const { path } = source;
  for (let attempt = 1; attempt <= READS_MAX; attempt++) {
    if (hasBytes(`${path}-wal`) || existsSync(`${path}-journal`)) {
      return existsSync(`${path}-shm`) ? readBeside(path, look) : readCopy(path, look);
    }
    const before = existsSync(path) ? statSync(path) : undefined;
    if (before === undefined) return withConnection(source, look);
    const bytes = readFileSync(path);
    const after = statSync(path);
    // A writer that opened the file meanwhile has a WAL by now, or changed the file while it closed.
    const isStill =
      before.mtimeMs === after.mtimeMs && before.size === after.size && !hasBytes(`${path}-wal`);
    if (isStill) return withConnection({ kind: "image", bytes }, look);
  }
  const message = `${path} was changed each of the ${READS_MAX} times that it was read; try again`;
  throw new StorageFault(message, undefined, true);
}

/** The dump of what a connection sees. The caller gives it one snapshot. */
export function dumpOf(connection: Connection): SessionDump {
  const { metadata, stats } = readSession(connection);
  const registers = NAMESPACES_SORTED.flatMap((namespace): Register[] =>
    listRegisters(connection, namespace),
  );
  return {
    metadata,
    entries: scanEntries(connection, {}),
    registers: registers.sort(byNamespaceThenSeq),
    usage: scanUsage(connection, {}),
    stats,
  };
}

/** How often a file is read again when someone changed it meanwhile. */
const READS_MAX = 5;

interface Look<T> {
  readonly storageVersion: number;
  readonly read: (connection: Connection) => T;
}

function readBeside<T>(path: string, { storageVersion, read }: Look<T>): T {
  const inSnapshot = (connection: Connection) => {
    connection.execute("BEGIN");
    try {
      return read(connection);
    } finally {
      connection.execute("COMMIT");
    }
  };
  return withConnection({ kind: "file", path }, { storageVersion, read: inSnapshot });
}

function readCopy<T>(path: string, look: Look<T>): T {
  const folder = mkdtempSync(join(tmpdir(), "session-view-"));
  try {
    const copy = join(folder, "session");
    for (const suffix of ["", "-wal", "-journal"]) {
      if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix);
    }
    // Open for writing, which undoing a change takes.
    return withConnection({ kind: "file", path: copy }, look, false);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function withConnection<T>(
  source: SqliteSource,
  { storageVersion, read }: Look<T>,
  readonly = source.kind === "file",
): T {
  const connection = openedSession(source, { readonly, storageVersion });
  try {
    return connection.guard(() => read(connection));
  } finally {
    connection.close();
  }
}

function readingOf(connection: Connection): SqliteReading {
  return {
    metadata: readSession(connection).metadata,
    scanEntries: (query) => scanEntries(connection, query),
    dump: () => dumpOf(connection),
  };
}

function hasBytes(path: string): boolean {
  return existsSync(path) && statSync(path).size > 0;
}
