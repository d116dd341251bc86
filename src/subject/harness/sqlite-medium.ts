/**
 * SQLite: the disk is a database file with its WAL, or an image of one.
 *
 * A commit is one transaction of the write-ahead log, and `write-ahead-log.ts` says where one tears. Only the disk that
 * was provisioned is torn: an image has no log, and a copy is made to be recovered from.
 *
 * Copying a database and its WAL costs several times what a recovery costs, so most forks are images: the bytes of
 * the database as its live connection sees it. One fork in `FILE_FORK_SHARE` is a copy of the real files, WAL
 * included, so that what a dead process leaves beside the database is looked at too.
 */
import { copyFileSync, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ForeignSession } from "../../session/index.ts";
import {
  dumpSqlite,
  type SessionDump,
  type SessionMetadata,
  type SqliteSource,
  SqliteStorage,
  type Storage,
  WAL_FRAME_HEADER_BYTES,
} from "../../storage/index.ts";
import type { Disk, DiskFile, TornDisk } from "../contract.ts";
import { DATABASE_FAULTS, faultyDatabase } from "./faulty-database.ts";
import type { Medium, OpenStore, StoreLife } from "./medium.ts";
import { beginningOf, endOfLog, type LogEnd, tearsOfLog } from "./write-ahead-log.ts";

/** One fork in this many is a copy of the real files. */
export const FILE_FORK_SHARE = 8;

const SESSION_FILE = "session.sqlite";

/** All lives have one name, as those of one deployed service have: only the fence tells a stale one from its successor. */
const OWNER_ID = "writer";

/** The names of the files of a disk. */
const DATABASE = "database";
const LOG = "log";

/** What the disk stands on: files, or bytes. An image remembers what its last life left. */
type Ground =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "image"; bytes: Uint8Array };

/** A session database as a subject's disk. */
export class SqliteSubjectDisk implements Disk {
  readonly ground: Ground;
  /** The connection of the life that runs on it, if any; an image is taken from it. */
  live: SqliteStorage | undefined;
  /** What the last life on an image left when it was closed. */
  left: SessionDump | undefined;
  /** The session that must be on it, as whoever opens one by its id knows; undefined: nobody asks. */
  sessionId: string | undefined;
  readonly #isTorn: boolean;
  #forkCount = 0;
  /** The end of the log when it was last asked for. */
  #logEnd: LogEnd | undefined;

  /** @param isTorn whether its commits are torn; see the header. */
  constructor(ground: Ground, isTorn = false) {
    this.ground = ground;
    this.#isTorn = isTorn;
  }

  fork(folder: string): SqliteSubjectDisk {
    const { ground, live } = this;
    if (ground.kind === "image") {
      return new SqliteSubjectDisk({ kind: "image", bytes: live?.image() ?? ground.bytes });
    }
    if (live !== undefined && ++this.#forkCount % FILE_FORK_SHARE !== 0) {
      return new SqliteSubjectDisk({ kind: "image", bytes: live.image() });
    }
    return new SqliteSubjectDisk(copyOf(ground.path, folder));
  }

  size(): number | undefined {
    if (!this.#isTorn || this.ground.kind === "image") return undefined;
    this.#logEnd = endOfLog(this.ground.path);
    return this.#logEnd?.offset ?? 0;
  }

  tear(_sizeBefore: number, folder: string): readonly TornDisk[] {
    const { ground } = this;
    const end = ground.kind === "file" ? endOfLog(ground.path) : undefined;
    if (ground.kind === "image" || end === undefined) return [];
    const beginning = beginningOf(this.#logEnd, end);
    const make = (offset: number) => {
      const copy = copyOf(ground.path, folder);
      truncateSync(`${copy.path}-wal`, offset);
      return new SqliteSubjectDisk(copy);
    };
    return tearsOfLog(beginning, end).map((offset) => ({
      bytesWritten: offset - beginning,
      make: () => make(offset),
    }));
  }

  /** Cuts off the commit that was made since `size` was asked, where a medium that stopped in it would have. */
  cutOff(bytesWritten: number): void {
    const { ground } = this;
    const end = ground.kind === "file" ? endOfLog(ground.path) : undefined;
    if (ground.kind === "image" || end === undefined)
      throw new Error("only a commit in a log can be cut off");
    truncateSync(`${ground.path}-wal`, beginningOf(this.#logEnd, end) + bytesWritten);
  }

  imprint(): readonly unknown[] {
    const { ground, live } = this;
    if (ground.kind === "image") return ["image", textOf(live?.image() ?? ground.bytes)];
    const wal = `${ground.path}-wal`;
    return ["file", readFileSync(ground.path, "latin1"), existsSync(wal) && readFileSync(wal, "latin1")];
  }

  files(): readonly DiskFile[] {
    const { ground } = this;
    if (ground.kind === "file" && !existsSync(ground.path)) return [];
    const bytes = ground.kind === "file" ? readFileSync(ground.path) : ground.bytes;
    const format = { kind: "pages", pageBytes: pageBytesOf(bytes) } as const;
    // SQLite sums up the frames of its log and no page of its database; and what a sum in the log does not fit ends the
    // log, as a torn transaction does.
    const database = { name: DATABASE, format, bytes, lastCommitFrom: bytes.length, noticesChanges: false };
    const end = ground.kind === "file" ? endOfLog(ground.path) : undefined;
    if (ground.kind === "image" || end === undefined) return [database];
    const log = {
      name: LOG,
      format: {
        kind: "frames",
        frameBytes: end.frameBytes,
        frameHeaderBytes: WAL_FRAME_HEADER_BYTES,
      } as const,
      // What stands behind the newest frame is of no meaning.
      bytes: readFileSync(`${ground.path}-wal`).subarray(0, end.offset),
      lastCommitFrom: beginningOf(this.#logEnd, end),
      noticesChanges: false,
    };
    return [database, log];
  }

  withFiles(contents: ReadonlyMap<string, Uint8Array>, folder: string): SqliteSubjectDisk {
    const path = nextPath(folder);
    for (const [name, suffix] of [
      [DATABASE, ""],
      [LOG, "-wal"],
    ] as const) {
      const bytes = contents.get(name);
      if (bytes !== undefined) writeFileSync(`${path}${suffix}`, bytes);
    }
    const disk = new SqliteSubjectDisk({ kind: "file", path });
    disk.sessionId = this.sessionId;
    return disk;
  }

  dispose(): void {
    if (this.ground.kind === "image") return;
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${this.ground.path}${suffix}`, { force: true });
  }
}

export const sqliteMedium: Medium<SqliteSubjectDisk> = {
  id: "sqlite",
  title: "the harness on a SQLite file with a fenced writer lease",
  grade: "multi-writer",
  faults: DATABASE_FAULTS,
  provision: async (metadata, folder) => {
    const first = join(folder, SESSION_FILE);
    const path = existsSync(first) ? nextPath(folder) : first;
    const clock = { now: () => metadata.createdAt, sleep: () => Promise.resolve() };
    const storage = await SqliteStorage.create({ kind: "file", path }, metadata, {
      clock,
      ownerId: "provision",
    });
    await storage.close();
    const disk = new SqliteSubjectDisk({ kind: "file", path }, true);
    disk.sessionId = metadata.id;
    return disk;
  },
  attach: (folder) => new SqliteSubjectDisk({ kind: "file", path: join(folder, SESSION_FILE) }, true),
  open: openSqlite,
  dump: (disk) => {
    const dump = disk.left ?? dumpSqlite(sourceOf(disk));
    assertHolds(disk, dump.metadata);
    return dump;
  },
};

async function openSqlite(disk: SqliteSubjectDisk, { clock, fault }: StoreLife): Promise<OpenStore> {
  const connect = fault === undefined ? {} : { connect: faultyDatabase(fault) };
  const storage = await SqliteStorage.open(sourceOf(disk), { clock, ownerId: OWNER_ID, ...connect });
  try {
    assertHolds(disk, storage.metadata);
  } catch (error) {
    storage.abandon();
    throw error;
  }
  disk.live = storage;
  return {
    storage: leavingOnClose(storage, disk),
    abandon: () => {
      disk.live = undefined;
      storage.abandon();
    },
    stopNextWriteAfter: (bytesWritten, reached) => stopNextCommit(storage, disk, bytesWritten, reached),
  };
}

/** SQLite takes the log of another session for its own; a repository then refuses what it has opened, and so does this. */
function assertHolds({ sessionId, ground }: SqliteSubjectDisk, { id }: SessionMetadata): void {
  if (sessionId === undefined || sessionId === id || ground.kind === "image") return;
  throw new ForeignSession("other_id", ground.path, `it holds session ${id}, not ${sessionId}`);
}

/**
 * Nobody can stop SQLite in the middle of a commit from inside its process. So the commit is made, and what a medium
 * that stopped would not have taken is cut off the log; the process is killed before it does anything else.
 */
function stopNextCommit(
  storage: SqliteStorage,
  disk: SqliteSubjectDisk,
  bytesWritten: number,
  reached: () => void,
): void {
  disk.size();
  const commit = storage.commit.bind(storage);
  storage.commit = async (transaction) => {
    await commit(transaction);
    disk.cutOff(bytesWritten);
    reached();
    throw new Error("the medium stopped in the middle of this commit");
  };
}

/**
 * A store that is closed is no connection to take an image from. What an in-memory database holds goes with its
 * connection, so it is taken up as the connection closes.
 */
function leavingOnClose(storage: SqliteStorage, disk: SqliteSubjectDisk): Storage {
  const close = storage.close.bind(storage);
  storage.close = () => {
    if (disk.live === storage) {
      if (disk.ground.kind === "image") {
        disk.left = storage.dump();
        disk.ground.bytes = storage.image();
      }
      disk.live = undefined;
    }
    return close();
  };
  return storage;
}

/** The page size as the header of a database says it; 1 stands for 64 KB. */
function pageBytesOf(bytes: Uint8Array): number {
  const said = ((bytes[16] ?? 0) << 8) | (bytes[17] ?? 0);
  return said === 1 ? 65_536 : said;
}

/** A copy of a database and its log. */
function copyOf(from: string, folder: string): Extract<Ground, { kind: "file" }> {
  const path = nextPath(folder);
  copyFileSync(from, path);
  if (existsSync(`${from}-wal`)) copyFileSync(`${from}-wal`, `${path}-wal`);
  return { kind: "file", path };
}

function sourceOf({ ground, live }: SqliteSubjectDisk): SqliteSource {
  return ground.kind === "file" ? ground : { kind: "image", bytes: live?.image() ?? ground.bytes };
}

/** Bytes as a text of as many characters: two of them are compared at once. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

let pathCount = 0;

function nextPath(folder: string): string {
  return join(folder, `${pathCount++}.sqlite`);
}
