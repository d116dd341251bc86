/**
 * One open session file: its whole lines, what lies behind them, and the only two ways in which it changes.
 *
 * Invariants; the numbers are those of `storage.ts`, which keeps them through this.
 * 1. A line goes in by one `write` call, at the end of what was left last.
 * 2. A write that fails or falls short is cut off again. If that fails too, nobody can say what the file ends in.
 * 4. Nothing is written to a file whose size is not the one that was left, or that has no name any more.
 * 5. The file is replaced as a whole only while its content is what was left, and this goes on over the new one.
 */
import { StorageFault } from "../contract.ts";
import type { FileSystem } from "../files/file-system.ts";
import { followed, replaceFile } from "../files/replacement.ts";
import { assertSameFile } from "./compaction.ts";
import type { TornTail } from "./replay.ts";

/** A file that was just opened and read. */
export interface OpenedFile {
  readonly path: string;
  readonly fileSystem: FileSystem;
  /** What `fileSystem.open` returned. */
  readonly file: number;
  /** The size of the whole lines. */
  readonly committedBytes: number;
  readonly tornTail: TornTail | undefined;
}

/** See the module header. */
export class SessionFile {
  readonly path: string;
  readonly #fileSystem: FileSystem;
  #file: number;
  #committedBytes: number;
  #tornTail: TornTail | undefined;

  constructor({ path, fileSystem, file, committedBytes, tornTail }: OpenedFile) {
    this.path = path;
    this.#fileSystem = fileSystem;
    this.#file = file;
    this.#committedBytes = committedBytes;
    this.#tornTail = tornTail;
  }

  /** The size of the whole lines. */
  get committedBytes(): number {
    return this.#committedBytes;
  }

  /** What a dead writer left behind the last line; undefined once it is cut off. */
  get tornTail(): TornTail | undefined {
    return this.#tornTail;
  }

  /** The size of the file. */
  get sizeBytes(): number {
    return this.#committedBytes + (this.#tornTail?.byteLength ?? 0);
  }

  /** Appends a line, or leaves nothing of it. @throws StorageFault */
  append(line: Uint8Array): void {
    this.#assertUntouched();
    const { length } = line;
    try {
      if (this.#tornTail !== undefined) this.#cutOff();
      const written = this.#fileSystem.write(this.#file, line, 0, length, this.#committedBytes);
      if (written !== length) throw new Error(`the file took ${written} of ${length} bytes`);
    } catch (cause) {
      throw this.#afterFailure(cause);
    }
    this.#committedBytes += length;
  }

  /**
   * Puts a file with this content, which is whole lines, in the place of this one, if `isSame` says that what is
   * there now is what was left. Returns whether the folder was synced.
   * @throws StorageFault; the file is as it was then.
   */
  replace(content: Iterable<Uint8Array>, isSame: (bytes: Buffer) => boolean): boolean {
    this.#assertUntouched();
    const fileSystem = this.#fileSystem;
    const target = followed(this.path, fileSystem);
    const replacement = replaceFile(target, content, {
      fileSystem,
      isSynced: true,
      assertUnchanged: () => assertSameFile(target, this.sizeBytes, isSame, fileSystem),
    });
    const replaced = this.#file;
    this.#file = replacement.file;
    this.#committedBytes = replacement.sizeBytes;
    this.#tornTail = undefined;
    try {
      fileSystem.close(replaced);
    } catch {
      // The file has no name any more; nothing that is still wanted can be lost with it.
    }
    return replacement.isFolderSynced;
  }

  close(): void {
    this.#fileSystem.close(this.#file);
  }

  #assertUntouched(): void {
    let found: { size: number; nlink: number };
    try {
      found = this.#fileSystem.fstat(this.#file);
    } catch (cause) {
      throw new StorageFault(`${this.path}: its size could not be read; nothing was written`, cause, true);
    }
    if (found.size !== this.sizeBytes) {
      throw new StorageFault(
        `${this.path} has ${found.size} bytes where this store left ${this.sizeBytes}: another process wrote to it; nothing was written`,
        undefined,
      );
    }
    if (found.nlink === 0) {
      throw new StorageFault(`${this.path} was deleted or replaced; nothing was written`, undefined);
    }
  }

  #cutOff(): void {
    this.#fileSystem.truncate(this.#file, this.#committedBytes);
    this.#tornTail = undefined;
  }

  #afterFailure(cause: unknown): StorageFault {
    try {
      this.#cutOff();
    } catch (second) {
      const causes = new AggregateError([cause, second], "the write failed, and so did cutting it off");
      return new StorageFault(
        `${this.path} may end in a part of a line; open the session again`,
        causes,
        false,
      );
    }
    return new StorageFault(`${this.path} did not take the commit; nothing of it is left`, cause, true);
  }
}
