/**
 * The JSONL repository: one file a session, in one folder (spec §1.7, §2.8).
 *
 * Two processes on one session are not kept apart here, because the medium knows no claim. What they do to each other is
 * found where it can be: a store refuses to write to a file that changed under it, and a rewrite to replace one.
 */
import {
  type CompactionThreshold,
  CURRENT_STORAGE_VERSION,
  createJsonlFile,
  type FileSystem,
  JsonlStorage,
  leftoversOf,
  readJsonlMetadata,
  readJsonlSession,
  type SessionContents,
  type SessionMetadata,
  StorageFault,
  StorageVersionTooNew,
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
import { assertHolds, listFolder, readingOf, syncFolderQuietly } from "./files.ts";
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

/** A repository over a folder of JSON-lines files. Opens nothing yet. */
export function jsonlRepository(options: JsonlRepositoryOptions): SessionRepository<FileSessionMetadata> {
  return new BackedRepository(new JsonlBackend(options), options);
}

const EXTENSION = ".jsonl";

class JsonlBackend implements RepositoryBackend<FileSessionMetadata, JsonlStorage> {
  readonly #options: JsonlRepositoryOptions;
  readonly #folder: SessionFolder;
  readonly #fileSystem: FileSystem;

  constructor(options: JsonlRepositoryOptions) {
    this.#options = options;
    this.#folder = new SessionFolder(options.folder, EXTENSION);
    this.#fileSystem = options.fileSystem ?? unlinkedFileSystem;
  }

  locate(metadata: SessionMetadata): FileSessionMetadata {
    return { ...metadata, path: this.#folder.placeOf(metadata.id) };
  }

  resolve(place: FileSessionMetadata): FileSessionMetadata {
    return { ...place, path: this.#folder.ownPath(place) };
  }

  isSame(left: FileSessionMetadata, right: FileSessionMetadata): boolean {
    return left.path === right.path;
  }

  withPlace(metadata: SessionMetadata, { path }: FileSessionMetadata): FileSessionMetadata {
    return { ...metadata, path };
  }

  create({ path }: FileSessionMetadata, metadata: SessionMetadata, contents?: SessionContents): void {
    createJsonlFile(path, metadata, this.#fileSystem, contents);
  }

  async open(place: FileSessionMetadata): Promise<JsonlStorage> {
    const { path } = place;
    const { clock, compactAtOpen, customMessageSchemas } = this.#options;
    assertHolds(readJsonlMetadata(path, this.#fileSystem), place);
    const storage = JsonlStorage.open({
      path,
      clock,
      fileSystem: this.#fileSystem,
      ...(compactAtOpen === undefined ? {} : { compactAtOpen }),
    });
    return openMigrated(storage, customMessageSchemas === undefined ? {} : { customMessageSchemas });
  }

  read<T>(place: FileSessionMetadata, look: (reading: SessionReading) => T): T {
    const { metadata, dump } = readJsonlSession(place.path, this.#fileSystem);
    assertHolds(metadata, place);
    return look(readingOf(dump));
  }

  list(onSkipped: (skipped: SkippedFile) => void): FileSessionMetadata[] {
    const read = (path: string) => readJsonlMetadata(path, this.#fileSystem);
    return listFolder(this.#folder, EXTENSION, read, onSkipped);
  }

  async replace(store: JsonlStorage, metadata: SessionMetadata, contents: SessionContents): Promise<void> {
    await store.replaceContents(metadata, contents);
  }

  /** Leftovers hold parts of the session too, so they go first: while one is left, so is the session. */
  async delete(place: FileSessionMetadata): Promise<void> {
    const { path } = place;
    const fileSystem = this.#fileSystem;
    const metadata = readJsonlMetadata(path, fileSystem);
    assertHolds(metadata, place);
    if (metadata.storageVersion > CURRENT_STORAGE_VERSION) {
      throw new StorageVersionTooNew(metadata, CURRENT_STORAGE_VERSION, path);
    }
    try {
      for (const leftover of leftoversOf(path, fileSystem)) fileSystem.unlink(leftover);
      fileSystem.unlink(path);
    } catch (cause) {
      throw new StorageFault(`${path} could not be deleted`, cause, true);
    }
    syncFolderQuietly(path, fileSystem);
  }
}
