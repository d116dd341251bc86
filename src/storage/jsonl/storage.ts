/**
 * The JSONL store (spec §1.7): tables in memory, and an append-only file from which they can be made again. The line
 * format, and when a tail is valid, stand in `codec.ts`.
 *
 * Invariants.
 * 1. One commit is one line and one `write` call, at the end of what this store last left.
 * 2. A write that fails or falls short is cut off again before the commit is refused (`recovered: true`). If that
 *    fails too, the store takes no commit any more (`recovered: false`): no later line is ever fused to a fragment.
 * 3. Opening changes nothing. A torn tail stays in the file until the first commit, which cuts it off first.
 * 4. Before each commit the file has the size that this store left, and a name. Otherwise another process wrote to it
 *    or replaced it; the commit is refused with nothing written, and so are all later ones.
 *
 * What it promises: a commit that resolved survives the death of the process. What it does not: nothing is synced to
 * the device, so a loss of power may take the newest lines, or leave a part of them; and two processes that open the
 * same file are not kept apart. Invariant 4 finds most such accidents; it is no lock.
 */
import type { Clock } from "../../foundation/index.ts";
import type { Transaction, Write } from "../../model/index.ts";
import { inspectTransaction } from "../admission.ts";
import { type SessionMetadata, StorageFault } from "../contract.ts";
import type { StoredWrite } from "../stored-write.ts";
import { TableStorage } from "../table-storage.ts";
import { encodeTransaction } from "./codec.ts";
import { createJsonlFile } from "./creation.ts";
import { type FileSystem, hostFileSystem, readWhole } from "./file-system.ts";
import { type Replayed, replay, type TornTail } from "./replay.ts";

/** What a JSONL store is made of. */
export interface JsonlStorageOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Default: the host's. */
  readonly fileSystem?: FileSystem;
}

/** The store of a session in one file. */
export class JsonlStorage extends TableStorage {
  readonly path: string;
  /** What a dead writer left behind the last line, until the first commit cuts it off. */
  #tornTail: TornTail | undefined;
  readonly #fileSystem: FileSystem;
  readonly #file: number;
  /** The end of the last line. */
  #committedBytes: number;
  #scratch = Buffer.allocUnsafe(SCRATCH_BYTES_MIN);

  private constructor(options: JsonlStorageOptions, file: number, replayed: Replayed) {
    super(replayed.metadata, replayed.tables, options.clock);
    this.path = options.path;
    this.#fileSystem = options.fileSystem ?? hostFileSystem;
    this.#file = file;
    this.#committedBytes = replayed.committedBytes;
    this.#tornTail = replayed.tornTail;
  }

  /** Creates the file of a new session, whole or not at all, and opens it. @throws SessionExists, StorageFault */
  static create(options: JsonlStorageOptions & { readonly metadata: SessionMetadata }): JsonlStorage {
    createJsonlFile(options.path, options.metadata, options.fileSystem);
    return JsonlStorage.open(options);
  }

  /** Opens the file of a session. @throws Corruption, and the host's error if there is no such file */
  static open(options: JsonlStorageOptions): JsonlStorage {
    const { path, fileSystem = hostFileSystem } = options;
    const file = fileSystem.open(path, "readWrite");
    try {
      return new JsonlStorage(options, file, replay(readWhole(fileSystem, file), path));
    } catch (error) {
      fileSystem.close(file);
      throw error;
    }
  }

  /** What a dead writer left behind the last line; undefined once it is cut off. */
  get tornTail(): TornTail | undefined {
    return this.#tornTail;
  }

  protected override admit(transaction: Transaction): readonly Write[] {
    return inspectTransaction(transaction);
  }

  protected override persist(writes: readonly Write[], firstSeq: number, timestamp: number): StoredWrite[] {
    this.#assertUntouched();
    const { line, stored } = encodeTransaction(writes, firstSeq, timestamp);
    const length = this.#toBytes(line);
    try {
      if (this.#tornTail !== undefined) this.#cutOff();
      const written = this.#fileSystem.write(this.#file, this.#scratch, 0, length, this.#committedBytes);
      if (written !== length) throw new Error(`the file took ${written} of ${length} bytes`);
    } catch (cause) {
      throw this.#afterFailure(cause);
    }
    this.#committedBytes += length;
    return stored;
  }

  protected override release(): void {
    this.#fileSystem.close(this.#file);
  }

  #assertUntouched(): void {
    let found: { size: number; nlink: number };
    try {
      found = this.#fileSystem.fstat(this.#file);
    } catch (cause) {
      throw new StorageFault(`${this.path}: its size could not be read; nothing was written`, cause, true);
    }
    const expected = this.#committedBytes + (this.#tornTail?.byteLength ?? 0);
    if (found.size !== expected) {
      throw new StorageFault(
        `${this.path} has ${found.size} bytes where this store left ${expected}: another process wrote to it; nothing was written`,
        undefined,
      );
    }
    if (found.nlink === 0) {
      throw new StorageFault(`${this.path} was deleted or replaced; nothing was written`, undefined);
    }
  }

  /** The bytes of a line, in the scratch buffer, which is kept from commit to commit. Returns their count. */
  #toBytes(line: string): number {
    const bytesMax = line.length * 3;
    if (bytesMax > this.#scratch.length) this.#scratch = Buffer.allocUnsafe(bytesMax);
    return this.#scratch.write(line, 0);
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

const SCRATCH_BYTES_MIN = 1 << 16;
