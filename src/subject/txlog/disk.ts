/**
 * The disk of a transactional session: a folder with one session file, on the host or in memory.
 *
 * A walk runs on real files; most cuts run on copies in memory, which the room's own file interface makes cheap.
 * A commit is one append, so it tears where a kernel tears one: at a 4 KB offset of the file, else in its middle.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { MemorySessionFiles, type SessionFiles, sessionDirectory } from "../../txlog/index.ts";
import type { Disk, DiskFile, TornDisk } from "../contract.ts";
import { tearsOf } from "../tears.ts";
import { RootedFiles, SESSION_CWD } from "./rooted-files.ts";

/** Where the files of a session are. */
type Ground =
  | { readonly kind: "host"; readonly folder: string }
  | { readonly kind: "memory"; readonly files: MemorySessionFiles };

/** The name of the one file of a disk. */
const SESSION = "session";

/** See the module header. */
export class TxlogDisk implements Disk {
  readonly #ground: Ground;
  /** Where the newest commit begins, as `size` last said it. */
  #lastCommitFrom = 0;

  private constructor(ground: Ground) {
    this.#ground = ground;
  }

  /** Real files below a folder. */
  static onHost(folder: string): TxlogDisk {
    mkdirSync(folder, { recursive: true });
    return new TxlogDisk({ kind: "host", folder });
  }

  /** The working directory of its session, as that sees it. */
  get cwd(): string {
    return SESSION_CWD;
  }

  get fileSystem(): SessionFiles {
    return this.#ground.kind === "host" ? new RootedFiles(this.#ground.folder) : this.#ground.files;
  }

  /** The bytes of the session file as they are now. */
  bytes(): Uint8Array {
    const { name, bytes } = this.#file();
    if (bytes === undefined) throw new Error(`the session file ${name} cannot be read`);
    return bytes;
  }

  fork(): TxlogDisk {
    if (this.#ground.kind === "memory")
      return new TxlogDisk({ kind: "memory", files: this.#ground.files.fork() });
    return this.#copyWith(this.bytes());
  }

  size(): number {
    this.#lastCommitFrom = this.bytes().length;
    return this.#lastCommitFrom;
  }

  tear(sizeBefore: number): readonly TornDisk[] {
    const bytes = this.bytes();
    return tearsOf(sizeBefore, bytes.length).map((offset) => ({
      bytesWritten: offset - sizeBefore,
      make: () => this.#copyWith(bytes.slice(0, offset)),
    }));
  }

  imprint(): readonly unknown[] {
    const { name, bytes } = this.#file();
    return [name, bytes && Buffer.from(bytes).toString("latin1")];
  }

  files(): readonly DiskFile[] {
    const bytes = this.bytes();
    // Its specification leaves damage unnoticed that leaves valid transactions.
    return [
      {
        name: SESSION,
        format: { kind: "lines" },
        bytes,
        lastCommitFrom: this.#lastCommitFrom,
        noticesChanges: false,
      },
    ];
  }

  withFiles(contents: ReadonlyMap<string, Uint8Array>): TxlogDisk {
    return this.#copyWith(contents.get(SESSION) ?? new Uint8Array());
  }

  dispose(): void {
    if (this.#ground.kind === "host") rmSync(this.#ground.folder, { recursive: true, force: true });
  }

  #copyWith(bytes: Uint8Array): TxlogDisk {
    const files = new MemorySessionFiles();
    files.setContents(join(sessionDirectory(SESSION_CWD), this.#file().name), bytes);
    return new TxlogDisk({ kind: "memory", files });
  }

  #file(): { readonly name: string; readonly bytes: Uint8Array | undefined } {
    if (this.#ground.kind === "memory") {
      const [path = ""] = this.#ground.files.paths();
      return { name: path.slice(path.lastIndexOf("/") + 1), bytes: this.#ground.files.contents(path) };
    }
    const directory = sessionDirectory(this.#ground.folder);
    const [name = ""] = readdirSync(directory);
    return { name, bytes: readFileSync(join(directory, name)) };
  }
}
