/**
 * The JSONL store (spec §1.7): tables in memory, and an append-only file from which they can be made again. The line
 * format, and when a tail is valid, stand in `codec.ts`; how the file is written to, in `session-file.ts`.
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
import { crc32 } from "node:zlib";
import type { Clock } from "../../foundation/index.ts";
import type { CommitResult, Transaction, Write } from "../../model/index.ts";
import { checkIds, inspectTransaction } from "../admission.ts";
import {
  type MigratableStorage,
  type SessionMetadata,
  type SessionStats,
  StorageFault,
} from "../contract.ts";
import { admitMetadata } from "../creation.ts";
import type { SessionContents, SessionDump } from "../dump.ts";
import { type FileSystem, hostFileSystem, type OpenMode, readWhole } from "../files/file-system.ts";
import { checkLedgerSum } from "../ledger-sum.ts";
import { tablesOf } from "../placement.ts";
import type { StoredWrite } from "../stored-write.ts";
import { TableStorage } from "../table-storage.ts";
import { Tables } from "../tables.ts";
import { ByteAccount, type FileBytes } from "./byte-account.ts";
import { encodeTransaction, type Header } from "./codec.ts";
import {
  bytesOf,
  type CompactionReport,
  type CompactionThreshold,
  isWorthCompacting,
  saysTheSame,
} from "./compaction.ts";
import { type ConvertibleSession, convertedFile } from "./conversion.ts";
import { createJsonlFile } from "./creation.ts";
import { type Replayed, replayFile, type TornTail } from "./replay.ts";
import { type OpenedFile, SessionFile } from "./session-file.ts";
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
  readonly #file: SessionFile;
  readonly #tables: Tables;
  #header: Header;
  /** From when it is first asked for. */
  #account: ByteAccount | undefined;
  /** While the file is in another format. */
  #conversion: Conversion | undefined;
  #compactionFailure: StorageFault | undefined;
  #scratch = Buffer.allocUnsafe(SCRATCH_BYTES_MIN);

  private constructor(
    { path, clock }: JsonlStorageOptions,
    file: SessionFile,
    read: Pick<Replayed, "header" | "tables">,
    conversion?: Conversion,
  ) {
    super(read.header.metadata, read.tables, clock);
    this.path = path;
    this.#file = file;
    this.#header = read.header;
    this.#tables = read.tables;
    this.#conversion = conversion;
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
    const { path, compactAtOpen } = options;
    const storage = JsonlStorage.#opened(options, "readWrite", (fileSystem, file, open) => {
      const replayed = replayFile(fileSystem, file, path, options.storageVersion);
      return new JsonlStorage(options, open(replayed), replayed);
    });
    if (compactAtOpen !== undefined) storage.#compactAtOpen(compactAtOpen);
    return storage;
  }

  /**
   * Opens a session whose file is in another format, which `read` reads. The first commit writes it in this one
   * (`conversion.ts`).
   * @throws what `read` throws; Corruption for rows that no session can hold; the host's error
   */
  static openConverting(
    options: JsonlStorageOptions,
    read: (bytes: Uint8Array) => ConvertibleSession,
  ): JsonlStorage {
    return JsonlStorage.#opened(options, "read", (fileSystem, source, open) => {
      const bytes = readWhole(fileSystem, source);
      const session = read(bytes);
      const tables = tablesOf(session.contents);
      const header = headerOf(admitMetadata(session.metadata), tables);
      const file = open({ committedBytes: bytes.length, tornTail: undefined });
      const conversion = { session, sourceChecksum: crc32(bytes) };
      return new JsonlStorage(options, file, { header, tables }, conversion);
    });
  }

  static #opened(
    { path, fileSystem = hostFileSystem }: JsonlStorageOptions,
    mode: OpenMode,
    make: (
      fileSystem: FileSystem,
      file: number,
      open: (ends: Pick<OpenedFile, "committedBytes" | "tornTail">) => SessionFile,
    ) => JsonlStorage,
  ): JsonlStorage {
    const file = fileSystem.open(path, mode);
    try {
      return make(fileSystem, file, ({ committedBytes, tornTail }) => {
        return new SessionFile({ path, fileSystem, file, committedBytes, tornTail });
      });
    } catch (error) {
      fileSystem.close(file);
      throw error;
    }
  }

  /** What a dead writer left behind the last line; undefined once it is cut off. */
  get tornTail(): TornTail | undefined {
    return this.#file.tornTail;
  }

  /** Whether the file is still in another format, which the first commit ends. */
  get isUnconverted(): boolean {
    return this.#conversion !== undefined;
  }

  /**
   * How the bytes of the file are used; in another format none of them counts as dead. Asked for the first time, it
   * costs what encoding the session costs.
   */
  get bytes(): FileBytes {
    const { committedBytes } = this.#file;
    if (this.isUnconverted) return { total: committedBytes, dead: 0 };
    this.#account ??= accountOf(this.#tables);
    return bytesOf({ header: this.#header, committedBytes }, this.#account);
  }

  /** Why the compaction at opening was not done, if it was due. The session itself is open and sound. */
  get compactionFailure(): StorageFault | undefined {
    return this.#compactionFailure;
  }

  override async getStats(): Promise<SessionStats> {
    const stats = await super.getStats();
    return this.#conversion?.session.stats ?? stats;
  }

  override dump(): SessionDump {
    const dump = super.dump();
    return this.#conversion === undefined ? dump : { ...dump, stats: this.#conversion.session.stats };
  }

  override commit(transaction: Transaction): Promise<CommitResult> {
    if (this.#conversion === undefined) return super.commit(transaction);
    return this.#commitConverting(transaction, this.#conversion);
  }

  /**
   * Rewrites the file as a snapshot of the current rows, which keep their seqs (spec §1.7). A file in another format
   * is left as it is.
   * @throws StorageClosed; StorageFault, with `recovered: true` when file and store are as they were, and with
   * `recovered: false` when another process changed the file, which is then left alone.
   */
  async compact(): Promise<CompactionReport> {
    const bytesBefore = this.#file.sizeBytes;
    const isFolderSynced = this.inMedium(
      (tables) => this.isUnconverted || this.#replaceWith(this.metadata, tables),
    );
    return { bytesBefore, bytesAfter: this.#file.sizeBytes, isFolderSynced };
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

  /**
   * Puts other contents in the place of the session, under other metadata, as a compaction puts its snapshot there, and
   * closes this store: it has read the old ones (spec §2.9). Returns whether the folder was synced. A file in another
   * format is converted by a commit first.
   * @throws as `compact`, with the store left open; TypeError and Corruption for what no session can hold
   */
  async replaceContents(metadata: SessionMetadata, contents: SessionContents): Promise<boolean> {
    const admitted = admitMetadata(metadata);
    const tables = tablesOf(contents);
    const isFolderSynced = this.inMedium(() => this.#replaceWith(admitted, tables));
    await this.close();
    return isFolderSynced;
  }

  protected override admit(transaction: Transaction): readonly Write[] {
    return inspectTransaction(transaction);
  }

  protected override persist(writes: readonly Write[], firstSeq: number, timestamp: number): StoredWrite[] {
    const { line, stored, parts } = encodeTransaction(writes, firstSeq, timestamp);
    const bytes = this.#toBytes(line);
    this.#file.append(bytes);
    this.#account?.addEncoded(stored, parts, line, bytes.length);
    return stored;
  }

  protected override release(): void {
    this.#file.close();
  }

  async #commitConverting(transaction: Transaction, conversion: Conversion): Promise<CommitResult> {
    this.assertReady();
    const commit = this.admit(transaction);
    // What is refused must convert nothing, so this is looked at before there is a prelude.
    this.inMedium((tables) => checkIds(commit, tables));
    checkLedgerSum(commit, conversion.session.stats.usage);
    const made = [...conversion.session.prelude()];
    const prelude = made.length === 0 ? [] : inspectTransaction({ writes: made });
    const result = this.commitThrough([...prelude, ...commit], (_writes, firstSeq, timestamp, tables) => {
      const file = convertedFile(this.metadata, tables, { prelude, commit }, firstSeq, timestamp);
      this.#file.replace(file.content, (bytes) => crc32(bytes) === conversion.sourceChecksum);
      this.#header = file.header;
      this.#account = file.account;
      this.#conversion = undefined;
      return file.stored;
    });
    const seqs = result.seqs.slice(prelude.length);
    return { ...result, firstSeq: result.firstSeq + prelude.length, seqs };
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
    const header = headerOf(metadata, tables);
    const account = new ByteAccount();
    const left = { header: this.#header, tables: this.#tables, committedBytes: this.#file.committedBytes };
    const content = snapshotContent(header, tables, account);
    const isFolderSynced = this.#file.replace(content, (bytes) => saysTheSame(bytes, left));
    this.#header = header;
    this.#account = account;
    return isFolderSynced;
  }

  /** The bytes of a line, in memory that is kept from commit to commit. */
  #toBytes(line: string): Uint8Array {
    const bytesMax = line.length * 3;
    if (bytesMax > this.#scratch.length) this.#scratch = Buffer.allocUnsafe(bytesMax);
    return this.#scratch.subarray(0, this.#scratch.write(line, 0));
  }
}

const SCRATCH_BYTES_MIN = 1 << 16;

/** A session in another format, and the checksum of the bytes that it was read from. */
interface Conversion {
  readonly session: ConvertibleSession;
  readonly sourceChecksum: number;
}
