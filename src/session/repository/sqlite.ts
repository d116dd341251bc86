/**
 * The SQLite repository: one database file a session, in one folder (spec §1.7, §2.8). The writer's lease in the file
 * keeps other processes out of what is opened, deleted or rewritten here.
 */
import {
  createSqliteFile,
  type FileSystem,
  readSqlite,
  removeSqliteSession,
  replaceSqliteSession,
  type SessionContents,
  type SessionMetadata,
  SQLITE_SIDE_FILES,
  type SqliteOptions,
  SqliteStorage,
  unlinkedFileSystem,
} from "../../storage/index.ts";
import { openMigrated } from "../migration/migration.ts";
import type {
  FileSessionMetadata,
  RepositoryOptions,
  SessionReading,
  SessionRepository,
  SkippedFile,
} from "./contract.ts";
import { assertHolds, FilePlaces, listFolder, removeLeftovers, syncFolderQuietly } from "./files.ts";
import { SessionFolder } from "./paths.ts";
import { BackedRepository, type RepositoryBackend } from "./repository.ts";

export interface SqliteRepositoryOptions extends RepositoryOptions, Omit<SqliteOptions, "storageVersion"> {
  /** Where the sessions lie; made, for its owner alone, when the first one is created. */
  readonly folder: string;
  /** The calls that make, replace and delete session files. Default: the host's. */
  readonly fileSystem?: FileSystem;
}

/** A repository whose sessions have a branch index, which is a cache and can be made again. */
export interface SqliteRepository extends SessionRepository<FileSessionMetadata> {
  /**
   * Makes the branch index of a session again from its entries, in one transaction (spec §2.6). The one repair there is,
   * and only on request: `crashproof inspect` finds what is wrong with an index. Rejects as `rewrite`.
   */
  rebuildBranchIndex(metadata: FileSessionMetadata): Promise<void>;
}

/** A repository over a folder of SQLite databases. Opens nothing yet. */
export function sqliteRepository(options: SqliteRepositoryOptions): SqliteRepository {
  return new RepairableRepository(new SqliteBackend(options), options);
}

class RepairableRepository
  extends BackedRepository<FileSessionMetadata, SqliteStorage>
  implements SqliteRepository
{
  rebuildBranchIndex(metadata: FileSessionMetadata): Promise<void> {
    return this.withClosed(metadata, (store) => store.rebuildBranchIndex());
  }
}

const EXTENSION = ".db";

class SqliteBackend extends FilePlaces implements RepositoryBackend<FileSessionMetadata, SqliteStorage> {
  readonly #options: SqliteRepositoryOptions;
  readonly #fileSystem: FileSystem;

  constructor(options: SqliteRepositoryOptions) {
    super(new SessionFolder(options.folder, EXTENSION, SQLITE_SIDE_FILES));
    this.#options = options;
    this.#fileSystem = options.fileSystem ?? unlinkedFileSystem;
  }

  create({ path }: FileSessionMetadata, metadata: SessionMetadata, contents?: SessionContents): void {
    createSqliteFile(path, metadata, { clock: this.#options.clock, fileSystem: this.#fileSystem }, contents);
  }

  async open(place: FileSessionMetadata): Promise<SqliteStorage> {
    const storage = await this.#claim(place);
    const { customMessageSchemas } = this.#options;
    return openMigrated(storage, { customMessageSchemas });
  }

  openForRewrite(place: FileSessionMetadata): Promise<SqliteStorage> {
    return this.open(place);
  }

  read<T>(place: FileSessionMetadata, look: (reading: SessionReading) => T): T {
    return readSqlite({ kind: "file", path: place.path }, (reading) => {
      assertHolds(reading.metadata, place);
      return look(reading);
    });
  }

  list(onSkipped: (skipped: SkippedFile) => void): FileSessionMetadata[] {
    const ofAnyVersion = Number.MAX_SAFE_INTEGER;
    const read = (path: string) =>
      readSqlite({ kind: "file", path }, ({ metadata }) => metadata, ofAnyVersion);
    return listFolder(this.folder, EXTENSION, read, onSkipped);
  }

  async replace(store: SqliteStorage, metadata: SessionMetadata, contents: SessionContents): Promise<void> {
    const options = { ...this.#options, fileSystem: this.#fileSystem };
    if (store.path !== undefined) removeLeftovers(store.path, this.#fileSystem);
    await replaceSqliteSession(store, metadata, options, contents);
  }

  async delete(place: FileSessionMetadata): Promise<void> {
    const storage = await this.#claim(place);
    try {
      removeLeftovers(place.path, this.#fileSystem);
      await removeSqliteSession(storage, { ...this.#options, fileSystem: this.#fileSystem });
    } finally {
      await storage.close();
    }
    syncFolderQuietly(place.path, this.#fileSystem);
  }

  async #claim(place: FileSessionMetadata): Promise<SqliteStorage> {
    const storage = await SqliteStorage.open({ kind: "file", path: place.path }, this.#options);
    try {
      assertHolds(storage.metadata, place);
      return storage;
    } catch (error) {
      await storage.close();
      throw error;
    }
  }
}
