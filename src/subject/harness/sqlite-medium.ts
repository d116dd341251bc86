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
import { copyFileSync, existsSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import {
  dumpSqlite,
  type SessionDump,
  type SqliteSource,
  SqliteStorage,
  type Storage,
} from "../../storage/index.ts";
import type { Disk, TornDisk } from "../contract.ts";
import type { Medium, OpenStore, StoreLife } from "./medium.ts";
import { beginningOf, endOfLog, type LogEnd, tearsOfLog } from "./write-ahead-log.ts";

/** One fork in this many is a copy of the real files. */
export const FILE_FORK_SHARE = 8;

const SESSION_FILE = "session.sqlite";

/** All lives have one name, as those of one deployed service have: only the fence tells a stale one from its successor. */
const OWNER_ID = "writer";

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
    return tearsOfLog(beginning, end).map((offset) => {
      const copy = copyOf(ground.path, folder);
      truncateSync(`${copy.path}-wal`, offset);
      return { bytesWritten: offset - beginning, disk: new SqliteSubjectDisk(copy) };
    });
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

  dispose(): void {
    if (this.ground.kind === "image") return;
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${this.ground.path}${suffix}`, { force: true });
  }
}

export const sqliteMedium: Medium<SqliteSubjectDisk> = {
  id: "sqlite",
  title: "the harness on a SQLite file with a fenced writer lease",
  grade: "multi-writer",
  faults: [],
  provision: async (metadata, folder) => {
    const first = join(folder, SESSION_FILE);
    const path = existsSync(first) ? nextPath(folder) : first;
    const clock = { now: () => metadata.createdAt, sleep: () => Promise.resolve() };
    const storage = await SqliteStorage.create({ kind: "file", path }, metadata, {
      clock,
      ownerId: "provision",
    });
    await storage.close();
    return new SqliteSubjectDisk({ kind: "file", path }, true);
  },
  attach: (folder) => new SqliteSubjectDisk({ kind: "file", path: join(folder, SESSION_FILE) }, true),
  open: openSqlite,
  dump: (disk) => disk.left ?? dumpSqlite(sourceOf(disk)),
};

async function openSqlite(disk: SqliteSubjectDisk, { clock }: StoreLife): Promise<OpenStore> {
  const storage = await SqliteStorage.open(sourceOf(disk), { clock, ownerId: OWNER_ID });
  disk.live = storage;
  return {
    storage: disk.ground.kind === "image" ? leavingAnImage(storage, disk) : storage,
    abandon: () => {
      disk.live = undefined;
      storage.abandon();
    },
    stopNextWriteAfter: (bytesWritten, reached) => stopNextCommit(storage, disk, bytesWritten, reached),
  };
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

/** What an in-memory database holds goes with its connection, so it is taken up as the connection closes. */
function leavingAnImage(storage: SqliteStorage, disk: SqliteSubjectDisk): Storage {
  const close = storage.close.bind(storage);
  storage.close = () => {
    if (disk.live === storage) {
      disk.left = storage.dump();
      disk.live = undefined;
    }
    return close();
  };
  return storage;
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
