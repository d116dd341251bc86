/**
 * The host's file system.
 *
 * The calls on an open file are the synchronous ones: handing a line to the page cache takes a few microseconds, the hop
 * to a thread and back several times that, and a commit has nothing else to do meanwhile. There is no fsync: a resolved
 * commit survives the death of the process, not the loss of power (spec §6, Durability).
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";
import { mkdir, readdir, realpath, unlink } from "node:fs/promises";
import type { DirectoryEntry, SessionFile, SessionFiles } from "./files.ts";

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;

export class NodeSessionFiles implements SessionFiles {
  realPath(path: string): Promise<string> {
    return realpath(path);
  }

  async makeDirectory(path: string): Promise<void> {
    await mkdir(path, { recursive: true });
  }

  async list(directory: string): Promise<DirectoryEntry[]> {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.map((entry) => ({
      name: entry.name,
      kind: entry.isFile() ? "file" : entry.isSymbolicLink() ? "link" : "other",
    }));
  }

  async create(path: string, mode: number): Promise<SessionFile> {
    return new NodeSessionFile(openSync(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, mode));
  }

  async open(path: string): Promise<SessionFile> {
    return new NodeSessionFile(openSync(path, O_RDWR | O_APPEND | O_NOFOLLOW));
  }

  remove(path: string): Promise<void> {
    return unlink(path);
  }
}

class NodeSessionFile implements SessionFile {
  readonly #opened: number;
  #isClosed = false;

  constructor(descriptor: number) {
    this.#opened = descriptor;
  }

  /** The system gives the number of a closed file to the next one, so a late call must not reach it. */
  get #descriptor(): number {
    if (this.#isClosed) throw new Error("EBADF: the file is closed");
    return this.#opened;
  }

  async read(): Promise<Uint8Array> {
    const bytes = Buffer.allocUnsafe(fstatSync(this.#descriptor).size);
    let length = 0;
    while (length < bytes.length) {
      const count = readSync(this.#descriptor, bytes, length, bytes.length - length, length);
      if (count === 0) break;
      length += count;
    }
    return bytes.subarray(0, length);
  }

  async append(bytes: Uint8Array): Promise<number> {
    return writeSync(this.#descriptor, bytes);
  }

  async truncate(length: number): Promise<void> {
    ftruncateSync(this.#descriptor, length);
  }

  async setMode(mode: number): Promise<void> {
    fchmodSync(this.#descriptor, mode);
  }

  async close(): Promise<void> {
    const descriptor = this.#descriptor;
    this.#isClosed = true;
    closeSync(descriptor);
  }
}
