/**
 * A file system in memory, for runs over a simulated disk: what it holds outlives the store that wrote it, and a fork of
 * it is a copy of the bytes.
 *
 * Directories exist as soon as they are made, links not at all; the rules about links are tested on the real one.
 */
import type { DirectoryEntry, SessionFile, SessionFiles } from "./files.ts";

export class MemorySessionFiles implements SessionFiles {
  readonly #directories = new Set<string>();
  readonly #contents = new Map<string, Uint8Array>();

  /** A file system with the same files, sharing nothing that changes. */
  fork(): MemorySessionFiles {
    const copy = new MemorySessionFiles();
    for (const directory of this.#directories) copy.#directories.add(directory);
    // Contents are replaced and never changed in place, so the bytes may be shared.
    for (const [path, bytes] of this.#contents) copy.#contents.set(path, bytes);
    return copy;
  }

  paths(): string[] {
    return [...this.#contents.keys()].sort();
  }

  /** The bytes of a file, or nothing. */
  contents(path: string): Uint8Array | undefined {
    return this.#contents.get(path);
  }

  /** Puts a file there as it is, as damage or another program would. */
  setContents(path: string, bytes: Uint8Array): void {
    this.#directories.add(path.slice(0, path.lastIndexOf("/")));
    this.#contents.set(path, bytes);
  }

  async realPath(path: string): Promise<string> {
    if (!this.#contents.has(path) && !this.#directories.has(path)) throw missing(path);
    return path;
  }

  async makeDirectory(path: string): Promise<void> {
    this.#directories.add(path);
  }

  async list(directory: string): Promise<DirectoryEntry[]> {
    if (!this.#directories.has(directory)) throw missing(directory);
    const prefix = `${directory}/`;
    return this.paths()
      .filter((path) => path.startsWith(prefix) && !path.includes("/", prefix.length))
      .map((path) => ({ name: path.slice(prefix.length), kind: "file" }));
  }

  async create(path: string): Promise<SessionFile> {
    if (this.#contents.has(path)) throw new Error(`EEXIST: file exists, ${path}`);
    this.#contents.set(path, new Uint8Array());
    return this.#file(path);
  }

  async open(path: string): Promise<SessionFile> {
    if (!this.#contents.has(path)) throw missing(path);
    return this.#file(path);
  }

  async remove(path: string): Promise<void> {
    if (!this.#contents.delete(path)) throw missing(path);
  }

  #file(path: string): SessionFile {
    const contents = this.#contents;
    const current = () => contents.get(path) ?? new Uint8Array();
    return {
      read: async () => current().slice(),
      append: async (bytes) => {
        const before = current();
        const after = new Uint8Array(before.length + bytes.length);
        after.set(before);
        after.set(bytes, before.length);
        contents.set(path, after);
        return bytes.length;
      },
      truncate: async (length) => {
        contents.set(path, current().slice(0, length));
      },
      setMode: async () => undefined,
      close: async () => undefined,
    };
  }
}

function missing(path: string): Error {
  return Object.assign(new Error(`ENOENT: no such file or directory, ${path}`), { code: "ENOENT" });
}
