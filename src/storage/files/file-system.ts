/**
 * The synchronous file calls by which session files are made, written, replaced and deleted, and no others. They come in
 * through constructors and options, so that a faulty file can fail, shorten or lose any of them; each call here is one step that a process can die before,
 * inside or after.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";

/** How a file is opened: an existing one to read, an existing one to read and write, or a new one that must not exist. */
export type OpenMode = "read" | "readWrite" | "createNew";

/** What is asked of an open file. */
export interface FileStatus {
  /** In bytes. */
  readonly size: number;
  /** How many names the file has: 0 once it was deleted or replaced under its name. */
  readonly nlink: number;
}

/** Synchronous file calls; `file` is what `open` returned. Each throws the host's error when it fails. */
export interface FileSystem {
  open(path: string, mode: OpenMode): number;
  /** Reads up to `length` bytes from `position`; returns how many came, 0 at the end. */
  read(file: number, into: Uint8Array, offset: number, length: number, position: number): number;
  /** Writes up to `length` bytes at `position`; returns how many went, which can be fewer. */
  write(file: number, bytes: Uint8Array, offset: number, length: number, position: number): number;
  truncate(file: number, sizeBytes: number): void;
  fstat(file: number): FileStatus;
  close(file: number): void;
  rename(from: string, to: string): void;
  unlink(path: string): void;
  /** Gives a file a second name, which must not be taken. */
  link(existing: string, name: string): void;
  /** Waits until the content of an open file is on the device. */
  sync(file: number): void;
  /** Waits until the names in a folder are on the device. */
  syncFolder(path: string): void;
  /** The names in a folder, in no promised order. */
  list(folder: string): string[];
  /** The path with its links followed. */
  realPath(path: string): string;
}

/** The host's file system. Files that it makes are readable and writable by their owner alone. */
export const hostFileSystem: FileSystem = {
  open: (path, mode) => openSync(path, OPEN_FLAGS[mode], 0o600),
  read: (file, into, offset, length, position) => readSync(file, into, offset, length, position),
  write: (file, bytes, offset, length, position) => writeSync(file, bytes, offset, length, position),
  truncate: (file, sizeBytes) => ftruncateSync(file, sizeBytes),
  fstat: (file) => fstatSync(file),
  close: (file) => closeSync(file),
  rename: (from, to) => renameSync(from, to),
  unlink: (path) => unlinkSync(path),
  link: (existing, name) => linkSync(existing, name),
  sync: (file) => fsyncSync(file),
  syncFolder: (path) => {
    // Windows opens no folder and syncs names by itself.
    if (process.platform === "win32") return;
    const folder = openSync(path, "r");
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  },
  list: (folder) => readdirSync(folder),
  realPath: (path) => realpathSync(path),
};

/**
 * The same for files under a root that must not be left: a path that is itself a link is refused, also one that became
 * a link just now. Links among the folders above it are the caller's business.
 */
export const unlinkedFileSystem: FileSystem = {
  ...hostFileSystem,
  open: (path, mode) => openSync(path, UNLINKED_FLAGS[mode], 0o600),
};

/** A pipe under the path of a file must not hold up its reader for ever; regular files know no such waiting. */
const NONBLOCK = constants.O_NONBLOCK ?? 0;
const OPEN_FLAGS = { read: constants.O_RDONLY | NONBLOCK, readWrite: "r+", createNew: "wx+" } as const;

const { O_RDONLY, O_RDWR, O_CREAT, O_EXCL } = constants;
const NOFOLLOW = constants.O_NOFOLLOW ?? 0;
const UNLINKED_FLAGS = {
  read: O_RDONLY | NONBLOCK | NOFOLLOW,
  readWrite: O_RDWR | NOFOLLOW,
  createNew: O_RDWR | O_CREAT | O_EXCL,
} as const;

/** The whole content of an open file. */
export function readWhole(fileSystem: FileSystem, file: number): Buffer {
  return readUpTo(fileSystem, file, fileSystem.fstat(file).size);
}

/** The beginning of an open file: so many bytes, or as many as there are. */
export function readUpTo(fileSystem: FileSystem, file: number, byteLength: number): Buffer {
  const bytes = Buffer.allocUnsafe(byteLength);
  let filled = 0;
  while (filled < byteLength) {
    const count = fileSystem.read(file, bytes, filled, byteLength - filled, filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

/** The whole content of the file that has this path. */
export function readFile(path: string, fileSystem: FileSystem): Buffer {
  const file = fileSystem.open(path, "read");
  try {
    return readWhole(fileSystem, file);
  } finally {
    fileSystem.close(file);
  }
}
