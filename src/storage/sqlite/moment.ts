/**
 * One moment of a session database, as the bytes of a whole database, taken without touching anything: no file beside it
 * is made, changed or locked, so it works beside a live writer, after a kill, and on a medium that cannot be written.
 *
 * `readSqlite` is cheaper and may be used by whoever is at home in the folder; it opens the shared memory of a live
 * writer, which leaves read marks there. This is for who must leave no trace.
 *
 * Why a copy is one moment. In WAL mode the file itself is changed by checkpoints alone, and a checkpoint only copies
 * what the WAL holds. So a file that is read first, with the WAL read after it, is the state of the last commit in that
 * WAL: whatever a checkpoint brought into the file meanwhile is in the WAL too, and the WAL goes before the file. This
 * holds as long as the WAL was not begun again in between, which changes the salts in its header, and as long as no file
 * came, went, or (without a WAL) changed. Then the copy is made again. File and WAL are put together in memory; only a
 * rollback journal, which no session has but for the moment in which it is replaced or deleted, is left to SQLite.
 *
 * Not for the process that has the database open: closing a file drops the locks that a process has on it, those of
 * SQLite included.
 */
import { type BigIntStats, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StorageFault } from "../contract.ts";
import { hostFileSystem, readUpTo } from "../files/file-system.ts";
import { Connection } from "./connection.ts";
import { saltsOf, WAL_HEADER_BYTES, type WalExtent, walExtent, withWal } from "./wal.ts";

/** See the module header. */
export interface SqliteMoment {
  /** The whole database; a source of kind `image` opens it. */
  readonly image: Buffer;
  /** Of the file itself, in bytes. */
  readonly fileBytes: number;
  /** What stands beside the file, as SQLite keeps it. */
  readonly wal: WalExtent | undefined;
  /** A rollback journal stands beside the file: a change of the whole file was cut off, and was undone in the image. */
  readonly hasJournal: boolean;
}

/** Nobody held still long enough. Nothing was changed. */
export class SqliteMovedOn extends Error {
  override readonly name = "SqliteMovedOn";
  readonly code = "SQLITE_MOVED_ON";

  constructor(path: string) {
    super(`${path} was changed each of the ${ATTEMPTS_MAX} times that it was read; try again`);
  }
}

/** @throws SqliteMovedOn; Corruption for a file that is no database; StorageFault; the host's error */
export function sqliteMoment(path: string): SqliteMoment {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const moment = tryMoment(path);
    if (moment !== undefined) return moment;
  }
  throw new SqliteMovedOn(path);
}

const ATTEMPTS_MAX = 20;

function tryMoment(path: string): SqliteMoment | undefined {
  const walPath = `${path}-wal`;
  const journalPath = `${path}-journal`;
  const saltsBefore = saltsOf(readIfThere(walPath, WAL_HEADER_BYTES));
  const before = stampOf(path);
  const file = readIfThere(path);
  const wal = readIfThere(walPath);
  const journal = readIfThere(journalPath);
  const after = stampOf(path);
  if (file === undefined || before === undefined || after === undefined) {
    throw new StorageFault(`${path} is not there any more`, undefined, true);
  }
  if (saltsBefore !== saltsOf(wal)) return undefined;
  // Without a WAL nothing stands between two versions of the file.
  if (wal === undefined || wal.length === 0 || journal !== undefined) {
    if (!isSame(before, after) || (stampOf(journalPath) === undefined) !== (journal === undefined)) {
      return undefined;
    }
  }
  const fileBytes = file.length;
  const extent = wal === undefined ? undefined : walExtent(wal);
  // A frame that was written while it was read looks damaged once; damage looks so again.
  if (extent?.damagedAt !== undefined) {
    const again = readIfThere(walPath);
    if (again === undefined || walExtent(again).damagedAt !== extent.damagedAt) return undefined;
  }
  const hasJournal = journal !== undefined && journal.length > 0;
  const isWalRead = wal !== undefined && extent !== undefined && extent.committedFrames > 0;
  const committed = isWalRead ? withWal(file, wal, extent) : file;
  const image = hasJournal ? rolledBack(file, journal) : committed;
  return { image, fileBytes, wal: extent, hasJournal };
}

/** Lets SQLite undo the change that a journal is of, over copies in a folder of their own. */
function rolledBack(file: Buffer, journal: Buffer): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "session-moment-"));
  try {
    const path = join(folder, "session");
    writeFileSync(path, file);
    writeFileSync(`${path}-journal`, journal);
    const connection = new Connection({ kind: "file", path });
    try {
      return connection.image();
    } finally {
      connection.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What tells one version of a file from another. */
function stampOf(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

function isSame(left: BigIntStats, right: BigIntStats): boolean {
  return (
    left.ino === right.ino &&
    left.size === right.size &&
    left.mtimeNs === right.mtimeNs &&
    left.ctimeNs === right.ctimeNs
  );
}

/** The content of a file, as far as it goes at this moment; undefined if there is none. Waits for no pipe. */
function readIfThere(path: string, bytesMax = Number.MAX_SAFE_INTEGER): Buffer | undefined {
  let file: number;
  try {
    file = hostFileSystem.open(path, "read");
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    return readUpTo(hostFileSystem, file, Math.min(hostFileSystem.fstat(file).size, bytesMax));
  } finally {
    hostFileSystem.close(file);
  }
}
