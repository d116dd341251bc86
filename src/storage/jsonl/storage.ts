/**
 * The JSONL store (spec §1.7): tables in memory, and an append-only file from which they can be made again. The line
 * format, and when a tail is valid, stand in `codec.ts`.
 *
 * Invariants.
 * 1. One commit is one line and one `write` call, at the end of what this store last left.
 * 2. A write that fails or falls short is cut off again before the commit is refused (`recovered: true`). If that
 *    fails too, the store takes no commit any more (`recovered: false`): no later line is ever fused to a fragment.
 * 3. Opening changes nothing, unless a compaction at opening is asked for. A torn tail stays in the file until the
 *    first commit, which cuts it off first.
 * 4. Before each commit the file has the size that this store left, and a name. Otherwise another process wrote to it
 *    or replaced it; the commit is refused with nothing written, and so are all later ones.
 * 5. The file is replaced as a whole only while its content is what this store left (`compaction.ts`), and the store
 *    then goes on over the new file. A replacement that fails leaves file and store as they were.
 *
 * What it promises: a commit that resolved survives the death of the process. What it does not: a line is not synced
 * to the device, so a loss of power may take the newest ones, or leave a part of them; and two processes that open
 * the same file are not kept apart. Invariant 4 finds most such accidents; it is no lock.
 */
import type { Clock } from "../../foundation/index.ts";
import type { CommitResult, Transaction, Write } from "../../model/index.ts";
import { inspectTransaction } from "../admission.ts";
import { type MigratableStorage, type SessionMetadata, StorageFault } from "../contract.ts";
import type { SessionContents } from "../dump.ts";
import type { StoredWrite } from "../stored-write.ts";
import { TableStorage } from "../table-storage.ts";
import { Tables } from "../tables.ts";
import { ByteAccount, type FileBytes } from "./byte-account.ts";
import { encodeTransaction, type Header } from "./codec.ts";
import {
  assertSameFile,
  bytesOf,
  type CompactionReport,
  type CompactionThreshold,
  isWorthCompacting,
} from "./compaction.ts";
import { createJsonlFile } from "./creation.ts";
import { type FileSystem, hostFileSystem } from "./file-system.ts";
import { type Replacement, replaceFile } from "./replacement.ts";
import { type Replayed, replayFile, type TornTail } from "./replay.ts";
import { accountOf, headerOf, snapshotContent } from "./snapshot.ts";

/** What a JSONL store is made of. */
export interface JsonlStorageOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Default: the host's. */
  readonly fileSystem?: FileSystem;
  /** Compact at opening from this threshold on. Default: never. */
  readonly compactAtOpen?: CompactionThreshold;
  /** The newest storage version that may be opened. Default: the one of this program. */
  readonly storageVersion?: number;
}

/** The store of a session in one file. */
export class JsonlStorage extends TableStorage implements MigratableStorage {
  readonly path: string;
  readonly #fileSystem: FileSystem;
  #file: number;
  #header: Header;
  /** From when it is first asked for. */
  #account: ByteAccount | undefined;
  /** The whole lines of the file. */
  #committedBytes: number;
  readonly #tables: Tables;
  /** What a dead writer left behind the last line, until the first commit cuts it off. */
  #tornTail: TornTail | undefined;
  #compactionFailure: StorageFault | undefined;
  #scratch = Buffer.allocUnsafe(SCRATCH_BYTES_MIN);

  private constructor(options: JsonlStorageOptions, file: number, replayed: Replayed) {
    super(replayed.header.metadata, replayed.tables, options.clock);
    this.path = options.path;
    this.#fileSystem = options.fileSystem ?? hostFileSystem;
    this.#file = file;
    this.#header = replayed.header;
    this.#tables = replayed.tables;
    this.#committedBytes = replayed.committedBytes;
    this.#tornTail = replayed.tornTail;
  }

  /** Creates the file of a new session, whole or not at all, and opens it. @throws SessionExists, StorageFault */
  static create(
    options: JsonlStorageOptions & {
      readonly metadata: SessionMetadata;
      /** Rows to start with, as a fork copies them; default: the lane `main` at the root. */
      readonly contents?: SessionContents;
    },
  ): JsonlStorage {
    createJsonlFile(options.path, options.metadata, options.fileSystem, options.contents);
    return JsonlStorage.open(options);
  }

  /**
   * Opens the file of a session, which may be of an older storage version and is then to be migrated before anything
   * else (spec §7.3).
   * @throws Corruption, StorageVersionTooNew, and the host's error if there is no such file
   */
  static open(options: JsonlStorageOptions): JsonlStorage {
    const { path, fileSystem = hostFileSystem, compactAtOpen } = options;
    const file = fileSystem.open(path, "readWrite");
    let storage: JsonlStorage;
    try {
      const replayed = replayFile(fileSystem, file, path, options.storageVersion);
      storage = new JsonlStorage(options, file, replayed);
    } catch (error) {
      fileSystem.close(file);
      throw error;
    }
    if (compactAtOpen !== undefined) storage.#compactAtOpen(compactAtOpen);
    return storage;
  }

  /** What a dead writer left behind the last line; undefined once it is cut off. */
  get tornTail(): TornTail | undefined {
    return this.#tornTail;
  }

  /** How the bytes of the file are used. Asked for the first time, it costs what encoding the session costs. */
  get bytes(): FileBytes {
    this.#account ??= accountOf(this.#tables);
    return bytesOf(this.#left(), this.#account);
  }

  /** Why the compaction at opening was not done, if it was due. The session itself is open and sound. */
  get compactionFailure(): StorageFault | undefined {
    return this.#compactionFailure;
  }

  /**
   * Rewrites the file as a snapshot of the current rows, which keep their seqs (spec §1.7).
   * @throws StorageClosed; StorageFault, with `recovered: true` when file and store are as they were, and with
   * `recovered: false` when another process changed the file, which is then left alone.
   */
  async compact(): Promise<CompactionReport> {
    const bytesBefore = this.#committedBytes + (this.#tornTail?.byteLength ?? 0);
    const isFolderSynced = this.inMedium((tables) => this.#replaceWith(this.metadata, tables));
    return { bytesBefore, bytesAfter: this.#committedBytes, isFolderSynced };
  }

  /**
   * Commits a migration step as a compaction: the new file has the new version in its header and the converted
   * registers, and none of the superseded ones. The old file stands until the rename (spec §7.3).
   */
  async commitMigration(transaction: Transaction, storageVersion: number): Promise<CommitResult> {
    this.assertReady();
    const writes = transaction.writes.length === 0 ? [] : this.admit(transaction);
    return this.commitThrough(writes, (admitted, firstSeq, timestamp, tables) => {
      const { stored } = encodeTransaction(admitted, firstSeq, timestamp);
      const after = new Tables(tables);
      after.apply(stored);
      const metadata = Object.freeze({ ...this.metadata, storageVersion });
      this.#replaceWith(metadata, after);
      this.adoptMetadata(metadata);
      return stored;
    });
  }

  protected override admit(transaction: Transaction): readonly Write[] {
    return inspectTransaction(transaction);
  }

  protected override persist(writes: readonly Write[], firstSeq: number, timestamp: number): StoredWrite[] {
    this.#assertUntouched();
    const { line, stored, parts } = encodeTransaction(writes, firstSeq, timestamp);
    const length = this.#toBytes(line);
    try {
      if (this.#tornTail !== undefined) this.#cutOff();
      const written = this.#fileSystem.write(this.#file, this.#scratch, 0, length, this.#committedBytes);
      if (written !== length) throw new Error(`the file took ${written} of ${length} bytes`);
    } catch (cause) {
      throw this.#afterFailure(cause);
    }
    this.#committedBytes += length;
    if (this.#account !== undefined) accountForLine(this.#account, stored, parts, line, length);
    return stored;
  }

  protected override release(): void {
    this.#fileSystem.close(this.#file);
  }

  #compactAtOpen(threshold: CompactionThreshold): void {
    if (!isWorthCompacting(this.bytes, threshold)) return;
    try {
      this.inMedium((tables) => this.#replaceWith(this.metadata, tables));
    } catch (error) {
      // A full disk or a folder without the right to write is no reason to withhold a session that is sound.
      if (!(error instanceof StorageFault) || !error.recovered) {
        this.abandon();
        throw error;
      }
      this.#compactionFailure = error;
    }
  }

  /** Puts a snapshot in the place of the file and goes on over it. Returns whether the folder was synced. */
  #replaceWith(metadata: SessionMetadata, tables: Tables): boolean {
    this.#assertUntouched();
    const fileSystem = this.#fileSystem;
    const header = headerOf(metadata, tables);
    const target = this.#realPath();
    const account = new ByteAccount();
    const replacement = replaceFile(target, snapshotContent(header, tables, account), {
      fileSystem,
      isSynced: true,
      assertUnchanged: () => assertSameFile(target, this.#left(), fileSystem),
    });
    this.#adopt(replacement, header, account);
    return replacement.isFolderSynced;
  }

  #adopt(replacement: Replacement, header: Header, account: ByteAccount): void {
    const replaced = this.#file;
    this.#file = replacement.file;
    this.#header = header;
    this.#account = account;
    this.#committedBytes = replacement.sizeBytes;
    this.#tornTail = undefined;
    try {
      this.#fileSystem.close(replaced);
    } catch {
      // The file has no name any more; nothing that is still wanted can be lost with it.
    }
  }

  /** A link to a session is followed, so that the link stays and the session itself is replaced. */
  #realPath(): string {
    try {
      return this.#fileSystem.realPath(this.path);
    } catch (cause) {
      throw new StorageFault(`${this.path} could not be found again; it was not replaced`, cause, true);
    }
  }

  /** What the file should say now. */
  #left(): Replayed {
    return {
      header: this.#header,
      tables: this.#tables,
      committedBytes: this.#committedBytes,
      tornTail: this.#tornTail,
    };
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

  /** Puts the bytes of a line into memory that is kept from commit to commit. Returns their count. */
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

function accountForLine(
  account: ByteAccount,
  stored: readonly StoredWrite[],
  parts: readonly string[],
  line: string,
  lineBytes: number,
): void {
  const isOneByteEach = lineBytes === line.length;
  const sizeOf = (index: number) => {
    const part = parts[index] ?? "";
    return isOneByteEach ? part.length : Buffer.byteLength(part);
  };
  account.addLine(stored, lineBytes - 1, sizeOf);
}
