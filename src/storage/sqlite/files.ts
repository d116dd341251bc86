/**
 * Session databases as files: made, replaced and removed as a whole (spec §1.7, §2.8, §2.9).
 *
 * A new database is built in memory and put in its place like any session file (`../files/replacement.ts`): created
 * exclusively beside it, readable by its owner alone, synced, named. So a crash leaves no file, the whole file, or a
 * leftover under a name of its own; never a database without tables, and never a WAL that belongs to another.
 *
 * Replacing a database that was in use is dangerous in one way: what SQLite keeps beside it (`-wal`, `-shm`,
 * `-journal`) goes by name. Left behind, a WAL or a journal of the old database would be played into the new one. So
 * before the rename, and before a deletion, the database is brought back to its single file, which SQLite grants only to
 * the last connection, and is kept locked until the new one has the name. Who opened the old file in that moment and waits for
 * the lock is refused by SQLite afterwards, because the file has moved under it.
 */
import { existsSync } from "node:fs";
import type { Clock } from "../../foundation/index.ts";
import { type SessionMetadata, StorageFault } from "../contract.ts";
import type { SessionContents } from "../dump.ts";
import { type FileSystem, hostFileSystem } from "../files/file-system.ts";
import { closeQuietly, createFile, followed, replaceFile } from "../files/replacement.ts";
import { type Connect, Connection } from "./connection.ts";
import { createSession } from "./creation.ts";
import { type Claim, isClaim, lostLease, readHolder, releaseLease } from "./lease.ts";
import type { SqliteStorage } from "./storage.ts";

/** How a session file is made. */
export interface SqliteFileOptions {
  readonly clock: Clock;
  /** Default: the host's. */
  readonly fileSystem?: FileSystem;
  /** How long SQLite waits for another connection's lock, in ms. */
  readonly busyTimeoutMs?: number;
  /** The driver; see `SqliteOptions`. */
  readonly connect?: Connect;
}

/**
 * Creates the file of a new session, whole or not at all; nobody holds it. With `contents` it holds what a fork copied.
 * @throws SessionExists; StorageFault; Corruption for contents that no session can hold
 */
export function createSqliteFile(
  path: string,
  metadata: SessionMetadata,
  { clock, fileSystem = hostFileSystem }: SqliteFileOptions,
  contents?: SessionContents,
): void {
  const image = imageOf(metadata, contents, clock, 0);
  assertNothingBeside(path);
  const { file } = createFile(path, [image], { fileSystem, isSynced: contents !== undefined });
  closeQuietly(file, fileSystem);
}

/**
 * Puts a session with other contents in the place of one that is open, and closes its store (spec §2.9). Returns whether
 * the folder was synced; if it was not, a loss of power may undo the replacement.
 * @throws TypeError or Corruption for what no session can hold, with the store left open; StorageFault with
 * `recovered: true` while another connection is open, and LeaseLost, with the store closed: the session is as it was.
 */
export async function replaceSqliteSession(
  storage: SqliteStorage,
  metadata: SessionMetadata,
  options: SqliteFileOptions,
  contents: SessionContents,
): Promise<boolean> {
  const image = imageOf(metadata, contents, options.clock, storage.lease.fence);
  return alone(storage, options, ({ path, fileSystem, assertUnchanged }) => {
    const { file, isFolderSynced } = replaceFile(path, [image], {
      fileSystem,
      isSynced: true,
      assertUnchanged,
    });
    closeQuietly(file, fileSystem);
    return isFolderSynced;
  });
}

/**
 * Deletes the file of a session that is open, and closes its store.
 * @throws StorageFault with `recovered: true` while another connection is open, LeaseLost: the session is as it was.
 */
export async function removeSqliteSession(storage: SqliteStorage, options: SqliteFileOptions): Promise<void> {
  alone(storage, options, ({ path, fileSystem, assertUnchanged }) => {
    assertUnchanged();
    try {
      fileSystem.unlink(path);
    } catch (cause) {
      throw new StorageFault(`${path} could not be deleted`, cause, true);
    }
  });
}

/** A database that is a single file which nobody else can write. */
interface Alone {
  /** Of the file itself: a link to it stays, as SQLite has followed it too. */
  readonly path: string;
  readonly fileSystem: FileSystem;
  /** @throws LeaseLost; StorageFault when something stands beside the file. */
  readonly assertUnchanged: () => void;
}

/**
 * Runs `work` while the database is a single file that nobody else can write. Nothing is written in this transaction,
 * so it leaves no journal beside what `work` puts there.
 *
 * The connection is a new one. SQLite leaves WAL mode with the pages that a connection has cached, also where another
 * has committed since, and an old one would take a lease that it has lost for its own.
 */
function alone<T>(
  storage: SqliteStorage,
  { busyTimeoutMs, connect, fileSystem = hostFileSystem }: SqliteFileOptions,
  work: (alone: Alone) => T,
): T {
  const { path: opened, lease } = storage;
  if (opened === undefined) throw new TypeError("a session in memory has no file");
  storage.abandon();
  const connection = new Connection({ kind: "file", path: opened }, { busyTimeoutMs, connect });
  try {
    connection.foldIntoFile();
    return connection.reading(() => {
      const path = followed(opened, fileSystem);
      const assertUnchanged = () => {
        const holder = readHolder(connection);
        if (!isClaim(holder, lease)) throw lostLease(lease, holder);
        assertNothingBeside(path);
      };
      return work({ path, fileSystem, assertUnchanged });
    });
  } catch (error) {
    releaseQuietly(connection, lease);
    throw error;
  } finally {
    connection.close();
  }
}

/** Gives up the claim of a store that is closed. One that cannot be given up runs out. */
function releaseQuietly(connection: Connection, lease: Claim): void {
  try {
    releaseLease(connection, lease);
  } catch (error) {
    if (!(error instanceof StorageFault)) throw error;
  }
}

/** What SQLite keeps beside a database, as endings of its name. */
export const SIDE_FILES = ["-wal", "-shm", "-journal"] as const;

/** The bytes of a session that nobody holds; its next claim gets the fence after `lastFence`. */
function imageOf(
  metadata: SessionMetadata,
  contents: SessionContents | undefined,
  clock: Clock,
  lastFence: number,
): Buffer {
  const claim = { clock, ownerId: "creation", durationMs: 0, lastFence };
  const { connection, lease } = createSession({ kind: "memory" }, metadata, contents, claim);
  try {
    lease.release();
    return connection.image();
  } finally {
    connection.close();
  }
}

function assertNothingBeside(path: string): void {
  const left = SIDE_FILES.filter((suffix) => existsSync(path + suffix));
  if (left.length === 0) return;
  const message = `${path} has ${left.join(", ")} beside it, which would be taken for a part of it; nothing was changed`;
  throw new StorageFault(message, undefined, true);
}
