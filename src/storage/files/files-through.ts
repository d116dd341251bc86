/**
 * A file system of which every call passes through one method: for those who count calls, fail some of them, or refuse
 * them all.
 *
 * Invariants.
 * 1. Every call passes, under its own name. One that is added to {@link FileSystem} does not compile until it does.
 * 2. Nothing happens inside but what the method makes happen.
 */
import type { FileStatus, FileSystem, OpenMode } from "./file-system.ts";

/** A call that has been asked for and not been made. */
export interface FileCall<T> {
  readonly name: keyof FileSystem;
  /** Of `open`. */
  readonly mode?: OpenMode;
  /** Makes it, and returns what it returns. */
  readonly make: () => T;
  /** Of `write`, the one call that can be made in part: `make` writes the first bytes of it, so many. */
  readonly write?: {
    readonly position: number;
    readonly length: number;
    readonly make: (length: number) => T;
  };
}

/** See the module header. */
export abstract class FilesThrough implements FileSystem {
  readonly #inner: FileSystem;

  constructor(inner: FileSystem) {
    this.#inner = inner;
  }

  /** Answers a call in the place of the file system. */
  protected abstract pass<T>(call: FileCall<T>): T;

  open(path: string, mode: OpenMode): number {
    return this.pass({ name: "open", mode, make: () => this.#inner.open(path, mode) });
  }

  read(file: number, into: Uint8Array, offset: number, length: number, position: number): number {
    return this.pass({ name: "read", make: () => this.#inner.read(file, into, offset, length, position) });
  }

  write(file: number, bytes: Uint8Array, offset: number, length: number, position: number): number {
    const make = (count: number) => this.#inner.write(file, bytes, offset, count, position);
    return this.pass({ name: "write", make: () => make(length), write: { position, length, make } });
  }

  truncate(file: number, sizeBytes: number): void {
    this.pass({ name: "truncate", make: () => this.#inner.truncate(file, sizeBytes) });
  }

  fstat(file: number): FileStatus {
    return this.pass({ name: "fstat", make: () => this.#inner.fstat(file) });
  }

  close(file: number): void {
    this.pass({ name: "close", make: () => this.#inner.close(file) });
  }

  rename(from: string, to: string): void {
    this.pass({ name: "rename", make: () => this.#inner.rename(from, to) });
  }

  unlink(path: string): void {
    this.pass({ name: "unlink", make: () => this.#inner.unlink(path) });
  }

  link(existing: string, name: string): void {
    this.pass({ name: "link", make: () => this.#inner.link(existing, name) });
  }

  sync(file: number): void {
    this.pass({ name: "sync", make: () => this.#inner.sync(file) });
  }

  syncFolder(path: string): void {
    this.pass({ name: "syncFolder", make: () => this.#inner.syncFolder(path) });
  }

  list(folder: string): string[] {
    return this.pass({ name: "list", make: () => this.#inner.list(folder) });
  }

  realPath(path: string): string {
    return this.pass({ name: "realPath", make: () => this.#inner.realPath(path) });
  }
}

/** The same of a function that keeps nothing of its own. */
export function filesThrough(inner: FileSystem, pass: <T>(call: FileCall<T>) => T): FileSystem {
  return new (class extends FilesThrough {
    protected pass<T>(call: FileCall<T>): T {
      return pass(call);
    }
  })(inner);
}
