/**
 * A file system in memory, with the calls of `FileSystem`: what a write did is there at once, as in the page cache of
 * a host whose processes die but which itself does not. Faulty files are wrapped around it, and forking a disk is
 * copying its bytes.
 *
 * It behaves as POSIX does where the store can tell: an open file lives on when its name is taken away or given to
 * another file, and writing behind the end fills the gap with zero bytes.
 */
import type { FileStatus, FileSystem, OpenMode } from "./file-system.ts";

interface Inode {
  bytes: Buffer;
  sizeBytes: number;
  names: number;
}

/** Files in memory, by path. There are no folders and no links: a path is a name, and its folder a part of the name. */
export class MemoryFiles implements FileSystem {
  readonly #named = new Map<string, Inode>();
  readonly #open = new Map<number, Inode>();
  #nextFile = 3;

  /** The content of a file, copied. */
  contentOf(path: string): Buffer {
    const { bytes, sizeBytes } = this.#find(path, "open");
    return Buffer.from(bytes.subarray(0, sizeBytes));
  }

  /** Makes a file with this content, in place of one that is there. */
  put(path: string, content: Uint8Array | string): void {
    const bytes = Buffer.from(content as Uint8Array);
    this.#bind(path, { bytes, sizeBytes: bytes.length, names: 0 });
  }

  /** The paths of all files, sorted. */
  paths(): string[] {
    return [...this.#named.keys()].sort();
  }

  /** How many files are open. */
  get openCount(): number {
    return this.#open.size;
  }

  /** The same files by name, which change on their own from here on. None of them is open. */
  fork(): MemoryFiles {
    const fork = new MemoryFiles();
    for (const path of this.#named.keys()) fork.put(path, this.contentOf(path));
    return fork;
  }

  open(path: string, mode: OpenMode): number {
    if (mode === "createNew") {
      if (this.#named.has(path)) throw hostError("EEXIST", "file already exists", "open", path);
      this.#bind(path, { bytes: Buffer.alloc(0), sizeBytes: 0, names: 0 });
    }
    const file = this.#nextFile++;
    this.#open.set(file, this.#find(path, "open"));
    return file;
  }

  read(file: number, into: Uint8Array, offset: number, length: number, position: number): number {
    const { bytes, sizeBytes } = this.#inode(file, "read");
    const count = Math.max(0, Math.min(length, sizeBytes - position));
    into.set(bytes.subarray(position, position + count), offset);
    return count;
  }

  write(file: number, bytes: Uint8Array, offset: number, length: number, position: number): number {
    const inode = this.#inode(file, "write");
    const end = position + length;
    if (end > inode.bytes.length) {
      const grown = Buffer.alloc(Math.max(end, inode.bytes.length * 2));
      inode.bytes.copy(grown, 0, 0, inode.sizeBytes);
      inode.bytes = grown;
    }
    inode.bytes.set(bytes.subarray(offset, offset + length), position);
    inode.sizeBytes = Math.max(inode.sizeBytes, end);
    return length;
  }

  truncate(file: number, sizeBytes: number): void {
    const inode = this.#inode(file, "ftruncate");
    const bytes = Buffer.alloc(sizeBytes);
    inode.bytes.copy(bytes, 0, 0, Math.min(sizeBytes, inode.sizeBytes));
    inode.bytes = bytes;
    inode.sizeBytes = sizeBytes;
  }

  fstat(file: number): FileStatus {
    const { sizeBytes, names } = this.#inode(file, "fstat");
    return { size: sizeBytes, nlink: names };
  }

  close(file: number): void {
    this.#inode(file, "close");
    this.#open.delete(file);
  }

  rename(from: string, to: string): void {
    const inode = this.#find(from, "rename");
    if (from === to) return;
    this.unlink(from);
    this.#bind(to, inode);
  }

  unlink(path: string): void {
    this.#find(path, "unlink").names -= 1;
    this.#named.delete(path);
  }

  link(existing: string, name: string): void {
    if (this.#named.has(name)) throw hostError("EEXIST", "file already exists", "link", name);
    this.#bind(name, this.#find(existing, "link"));
  }

  sync(file: number): void {
    this.#inode(file, "fsync");
  }

  syncFolder(): void {
    // Nothing here outlives a loss of power, so there is nothing to wait for.
  }

  list(folder: string): string[] {
    const start = folder === "." ? "" : `${folder}/`;
    const inside = this.paths().filter((path) => path.startsWith(start));
    return inside.map((path) => path.slice(start.length)).filter((name) => !name.includes("/"));
  }

  realPath(path: string): string {
    this.#find(path, "realpath");
    return path;
  }

  #bind(path: string, inode: Inode): void {
    const before = this.#named.get(path);
    if (before !== undefined) before.names -= 1;
    inode.names += 1;
    this.#named.set(path, inode);
  }

  #find(path: string, call: string): Inode {
    const inode = this.#named.get(path);
    if (inode === undefined) throw hostError("ENOENT", "no such file or directory", call, path);
    return inode;
  }

  #inode(file: number, call: string): Inode {
    const inode = this.#open.get(file);
    if (inode === undefined) throw hostError("EBADF", "bad file descriptor", call);
    return inode;
  }
}

/** An error as the host's file calls throw it. */
function hostError(code: string, words: string, syscall: string, path?: string): Error {
  const message = `${code}: ${words}, ${syscall}${path === undefined ? "" : ` '${path}'`}`;
  return Object.assign(new Error(message), { code, syscall, ...(path === undefined ? {} : { path }) });
}
