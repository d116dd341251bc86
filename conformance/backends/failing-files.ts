/**
 * The host's files, with a write that fails on demand after half of its bytes, as on a full disk. Around the shipped
 * store, so that the store under test is the one that is shipped.
 */
import { type FileSystem, hostFileSystem } from "../../src/storage/index.ts";

/** Whether what a failed write left can be cut off again, or not until the file is opened anew. */
export type Damage = "removable" | "stays until reopened";

/** See the module header. One instance serves one session. */
export class FailingFiles implements FileSystem {
  /** Where the last whole write went. */
  lastWrite = { position: 0, byteCount: 0 };
  readonly #damage: Damage;
  #failsNextWrite = false;
  #canTruncate = true;

  constructor(damage: Damage) {
    this.#damage = damage;
  }

  failNextWrite(): void {
    this.#failsNextWrite = true;
  }

  open(...call: Parameters<FileSystem["open"]>): number {
    this.#canTruncate = true;
    return hostFileSystem.open(...call);
  }

  write(file: number, bytes: Uint8Array, offset: number, length: number, position: number): number {
    if (!this.#failsNextWrite) {
      this.lastWrite = { position, byteCount: length };
      return hostFileSystem.write(file, bytes, offset, length, position);
    }
    this.#failsNextWrite = false;
    this.#canTruncate = this.#damage === "removable";
    hostFileSystem.write(file, bytes, offset, Math.floor(length / 2), position);
    throw new Error("ENOSPC: no space left on device, write");
  }

  truncate(file: number, sizeBytes: number): void {
    if (!this.#canTruncate) throw new Error("EIO: i/o error, ftruncate");
    hostFileSystem.truncate(file, sizeBytes);
  }

  read = hostFileSystem.read;
  fstat = hostFileSystem.fstat;
  close = hostFileSystem.close;
  rename = hostFileSystem.rename;
  unlink = hostFileSystem.unlink;
  link = hostFileSystem.link;
  sync = hostFileSystem.sync;
  syncFolder = hostFileSystem.syncFolder;
  list = hostFileSystem.list;
  realPath = hostFileSystem.realPath;
}
