/**
 * Getting at the bytes of a file without waiting for anybody and without leaving a trace: what is no regular file is
 * told before it is opened, and opening waits for no pipe.
 *
 * A file that is written while it is read is read again; the bytes that are given out are those of one moment, or it is
 * said that they could not be had.
 */
import { type BigIntStats, fstatSync, statSync } from "node:fs";
import { hostFileSystem, readUpTo } from "../storage/index.ts";

/** What stands at a path. */
export type Found =
  | { readonly kind: "file"; readonly byteLength: number }
  | { readonly kind: "folder" }
  /** In a sentence that begins after the path. */
  | { readonly kind: "none"; readonly says: string };

/** Looks at a path, links followed. Opens nothing. */
export function lookAt(path: string): Found {
  try {
    const status = statSync(path, { throwIfNoEntry: false });
    if (status === undefined) return { kind: "none", says: "there is no such file" };
    if (status.isFile()) return { kind: "file", byteLength: status.size };
    if (status.isDirectory()) return { kind: "folder" };
    return { kind: "none", says: `${strangerOf(status)} is no session file` };
  } catch (error) {
    return { kind: "none", says: systemSays(error) };
  }
}

/** The name of what is neither file nor folder. */
export function strangerOf(status: {
  isFIFO(): boolean;
  isSocket(): boolean;
  isCharacterDevice(): boolean;
  isBlockDevice(): boolean;
  isSymbolicLink(): boolean;
}): string {
  if (status.isFIFO()) return "a pipe";
  if (status.isSocket()) return "a socket";
  if (status.isCharacterDevice() || status.isBlockDevice()) return "a device";
  if (status.isSymbolicLink()) return "a link";
  return "something that is neither file nor folder";
}

/** What the system answered, without the name of its call. */
export function systemSays(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  switch (code) {
    case "EACCES":
    case "EPERM":
      return `it may not be read by this user (${code})`;
    case "ENOENT":
      return "there is no such file";
    case "ELOOP":
      return "its links lead in a circle";
    case "ENOTDIR":
      return "a part of its path is no folder";
    case "ERR_INVALID_ARG_VALUE":
      return "no file can have this name";
    default:
      return `the system answers ${typeof code === "string" ? code : String(message)}`;
  }
}

/** Reads the beginning of a file, up to `bytesMax`. @throws the host's error */
export function beginningOf(path: string, bytesMax: number): Buffer {
  return withFile(path, (file) => readUpTo(hostFileSystem, file, Math.min(bytesMax, fstatSync(file).size)));
}

/**
 * The bytes of a file of lines at one moment; undefined if it changed otherwise than by growing each time that it was
 * read. A file that grows all the while, as beside a busy writer, is taken as far as it went before the last reading: its
 * lines are written once. @throws the host's error
 */
export function bytesOfOneMoment(path: string): Buffer | undefined {
  let grown: Buffer | undefined;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const { bytes, change } = withFile(path, (file) => {
      const before = fstatSync(file, { bigint: true });
      const read = readUpTo(hostFileSystem, file, Number(before.size));
      return { bytes: read, change: changeOf(before, fstatSync(file, { bigint: true })) };
    });
    if (change === "none") return bytes;
    grown = change === "grown" ? bytes : undefined;
  }
  return grown;
}

const ATTEMPTS_MAX = 10;

function changeOf(before: BigIntStats, after: BigIntStats): "none" | "grown" | "other" {
  if (isSame(before, after)) return "none";
  return after.size > before.size ? "grown" : "other";
}

function isSame(left: BigIntStats, right: BigIntStats): boolean {
  return left.size === right.size && left.mtimeNs === right.mtimeNs && left.ctimeNs === right.ctimeNs;
}

function withFile<T>(path: string, work: (file: number) => T): T {
  const file = hostFileSystem.open(path, "read");
  try {
    // It may have become something else since it was looked at; a pipe that is open has nothing to be waited for yet.
    if (!fstatSync(file).isFile())
      throw Object.assign(new Error("it is no file any more"), { code: "EBADF" });
    return work(file);
  } finally {
    hostFileSystem.close(file);
  }
}
