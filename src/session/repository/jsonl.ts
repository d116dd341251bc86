/**
 * The JSONL repository: one file a session, in one folder (spec §1.7, §2.8).
 *
 * Two processes on one session are not kept apart here, because the medium knows no claim. What they do to each other is
 * found where it can be: a store refuses to write to a file that changed under it, and a rewrite to replace one.
 * Legacy files are sessions like others; a listing or a reading leaves their bytes alone (`jsonl-files.ts`).
 */
import {
  type CompactionReport,
  type CompactionThreshold,
  CURRENT_STORAGE_VERSION,
  createJsonlFile,
  type FileSystem,
  type JsonlStorage,
  type SessionContents,
  type SessionMetadata,
  StorageFault,
  StorageVersionTooNew,
  unlinkedFileSystem,
} from "../../storage/index.ts";
import type {
  FileSessionMetadata,
  RepositoryOptions,
  SessionReading,
  SessionRepository,
  SkippedFile,
} from "./contract.ts";
import {
  assertHolds,
  FilePlaces,
  listFolder,
  readingOf,
  removeLeftovers,
  syncFolderQuietly,
} from "./files.ts";
import { convertSessionFile, dumpSessionFile, metadataOfFile, openSessionFile } from "./jsonl-files.ts";
import { SessionFolder } from "./paths.ts";
import { BackedRepository, type RepositoryBackend } from "./repository.ts";

export interface JsonlRepositoryOptions extends RepositoryOptions {
  /** Where the sessions lie; made, for its owner alone, when the first one is created. */
  readonly folder: string;
  /** Compact a session when it is opened, from this threshold on. Default: never. */
  readonly compactAtOpen?: CompactionThreshold;
  /** The calls that are made on session files. Default: the host's, which follow no link. */
  readonly fileSystem?: FileSystem;
}

/** A repository whose sessions keep what was deleted as bytes until their files are written anew. */
export interface JsonlRepository extends SessionRepository<FileSessionMetadata> {
  /**
   * Writes the file of a session anew without its dead bytes, whether the session is open here or not (spec §1.7). Who
   * must be rid of cancelled content promptly asks for it when an operation has ended. A legacy file that was not
   * written to yet is left as it is. Rejects as `open`, and with StorageFault if the file could not be replaced: it is
   * as it was then.
   */
  compact(metadata: FileSessionMetadata): Promise<CompactionReport>;
}

/** A repository over a folder of JSON-lines files. Opens nothing yet. */
export function jsonlRepository(options: JsonlRepositoryOptions): JsonlRepository {
  return new CompactingRepository(new JsonlBackend(options), options);
}

class CompactingRepository
  extends BackedRepository<FileSessionMetadata, JsonlStorage>
  implements JsonlRepository
{
  compact(metadata: FileSessionMetadata): Promise<CompactionReport> {
    return this.withStore(metadata, (store) => store.compact());
  }
}

const EXTENSION = ".jsonl";

class JsonlBackend extends FilePlaces implements RepositoryBackend<FileSessionMetadata, JsonlStorage> {
  readonly #options: JsonlRepositoryOptions & { readonly fileSystem: FileSystem };

  constructor(options: JsonlRepositoryOptions) {
    super(new SessionFolder(options.folder, EXTENSION));
    this.#options = { ...options, fileSystem: options.fileSystem ?? unlinkedFileSystem };
  }

  create({ path }: FileSessionMetadata, metadata: SessionMetadata, contents?: SessionContents): void {
    createJsonlFile(path, metadata, this.#options.fileSystem, contents);
  }

  async open(place: FileSessionMetadata): Promise<JsonlStorage> {
    assertHolds(metadataOfFile(place.path, this.#options), place);
    return openSessionFile({ ...this.#options, path: place.path });
  }

  async openForRewrite(place: FileSessionMetadata): Promise<JsonlStorage> {
    const storage = await this.open(place);
    try {
      await convertSessionFile(storage);
      return storage;
    } catch (error) {
      await storage.close();
      throw error;
    }
  }

  read<T>(place: FileSessionMetadata, look: (reading: SessionReading) => T): T {
    const dump = dumpSessionFile(place.path, this.#options);
    assertHolds(dump.metadata, place);
    return look(readingOf(dump));
  }

  list(onSkipped: (skipped: SkippedFile) => void): FileSessionMetadata[] {
    const read = (path: string) => metadataOfFile(path, this.#options);
    return listFolder(this.folder, EXTENSION, read, onSkipped);
  }

  async replace(store: JsonlStorage, metadata: SessionMetadata, contents: SessionContents): Promise<void> {
    removeLeftovers(store.path, this.#options.fileSystem);
    await store.replaceContents(metadata, contents);
  }

  /** Leftovers hold parts of the session too, so they go first: while one is left, so is the session. */
  async delete(place: FileSessionMetadata): Promise<void> {
    const { path } = place;
    const { fileSystem } = this.#options;
    const metadata = metadataOfFile(path, this.#options);
    assertHolds(metadata, place);
    if (metadata.storageVersion > CURRENT_STORAGE_VERSION) {
      throw new StorageVersionTooNew(metadata, CURRENT_STORAGE_VERSION, path);
    }
    removeLeftovers(path, fileSystem);
    try {
      fileSystem.unlink(path);
    } catch (cause) {
      throw new StorageFault(`${path} could not be deleted`, cause, true);
    }
    syncFolderQuietly(path, fileSystem);
  }
}
