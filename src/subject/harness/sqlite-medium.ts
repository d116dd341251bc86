/**
 * SQLite: the disk is a database file with its WAL, or an image of one. A commit is atomic on either.
 *
 * Copying a database and its WAL costs several times what a recovery costs, so most forks are images: the bytes of
 * the database as its live connection sees it. One fork in `FILE_FORK_SHARE` is a copy of the real files, WAL
 * included, so that what a dead process leaves beside the database is looked at too.
 */
import { copyFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  dumpSqlite,
  type SessionDump,
  type SqliteSource,
  SqliteStorage,
  type Storage,
} from "../../storage/index.ts";
import type { Disk } from "../contract.ts";
import type { Medium, OpenStore, StoreLife } from "./medium.ts";

/** One fork in this many is a copy of the real files. */
export const FILE_FORK_SHARE = 8;

const SESSION_FILE = "session.sqlite";

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
  #forkCount = 0;

  constructor(ground: Ground) {
    this.ground = ground;
  }

  fork(folder: string): SqliteSubjectDisk {
    const { ground, live } = this;
    if (ground.kind === "image") {
      return new SqliteSubjectDisk({ kind: "image", bytes: live?.image() ?? ground.bytes });
    }
    if (live !== undefined && ++this.#forkCount % FILE_FORK_SHARE !== 0) {
      return new SqliteSubjectDisk({ kind: "image", bytes: live.image() });
    }
    const path = nextPath(folder);
    copyFileSync(ground.path, path);
    if (existsSync(`${ground.path}-wal`)) copyFileSync(`${ground.path}-wal`, `${path}-wal`);
    return new SqliteSubjectDisk({ kind: "file", path });
  }

  size(): undefined {
    return undefined;
  }

  tear(): readonly never[] {
    return [];
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
  provision: async (metadata, folder) => {
    const first = join(folder, SESSION_FILE);
    const path = existsSync(first) ? nextPath(folder) : first;
    const clock = { now: () => metadata.createdAt, sleep: () => Promise.resolve() };
    const storage = await SqliteStorage.create({ kind: "file", path }, metadata, {
      clock,
      ownerId: "provision",
    });
    await storage.close();
    return new SqliteSubjectDisk({ kind: "file", path });
  },
  attach: (folder) => new SqliteSubjectDisk({ kind: "file", path: join(folder, SESSION_FILE) }),
  open: openSqlite,
  dump: (disk) => disk.left ?? dumpSqlite(sourceOf(disk)),
};

async function openSqlite(disk: SqliteSubjectDisk, { clock, incarnation }: StoreLife): Promise<OpenStore> {
  const storage = await SqliteStorage.open(sourceOf(disk), { clock, ownerId: `life-${incarnation}` });
  disk.live = storage;
  return {
    storage: disk.ground.kind === "image" ? leavingAnImage(storage, disk) : storage,
    abandon: () => {
      disk.live = undefined;
      storage.abandon();
    },
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

function sourceOf({ ground, live }: SqliteSubjectDisk): SqliteSource {
  return ground.kind === "file" ? ground : { kind: "image", bytes: live?.image() ?? ground.bytes };
}

let pathCount = 0;

function nextPath(folder: string): string {
  return join(folder, `${pathCount++}.sqlite`);
}
