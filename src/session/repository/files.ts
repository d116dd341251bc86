/**
 * What repositories of files share: where sessions lie, the listing of a folder, and that a file holds the session it was
 * named for.
 */
import { basename, dirname } from "node:path";
import {
  type FileSystem,
  leftoversOf,
  type SessionDump,
  type SessionMetadata,
  StorageFault,
  scanDumpedEntries,
} from "../../storage/index.ts";
import {
  type FileSessionMetadata,
  ForeignSession,
  type SessionReading,
  type SkippedFile,
} from "./contract.ts";
import type { SessionFolder } from "./paths.ts";

/** Where the sessions of a backend of files lie: each is one file of a folder, and named by its path. */
export abstract class FilePlaces {
  protected readonly folder: SessionFolder;

  constructor(folder: SessionFolder) {
    this.folder = folder;
  }

  locate(metadata: SessionMetadata): FileSessionMetadata {
    return { ...metadata, path: this.folder.placeOf(metadata.id) };
  }

  resolve(place: FileSessionMetadata): FileSessionMetadata {
    return { ...place, path: this.folder.ownPath(place) };
  }

  isSame(left: FileSessionMetadata, right: FileSessionMetadata): boolean {
    return left.path === right.path;
  }

  withPlace(metadata: SessionMetadata, { path }: FileSessionMetadata): FileSessionMetadata {
    return { ...metadata, path };
  }
}

/**
 * The sessions of a folder, each id once. Of several files with one id, the one named after it is the session, or else
 * the first by name; the others are skipped as duplicates.
 */
export function listFolder(
  folder: SessionFolder,
  extension: string,
  readMetadata: (path: string) => SessionMetadata,
  onSkipped: (skipped: SkippedFile) => void,
): FileSessionMetadata[] {
  const found = new Map<string, FileSessionMetadata>();
  for (const path of folder.ownPaths(onSkipped)) {
    let metadata: SessionMetadata;
    try {
      metadata = readMetadata(path);
    } catch (error) {
      onSkipped({ path, reason: "unreadable", error });
      continue;
    }
    const other = found.get(metadata.id);
    const isNamedAfterIt = basename(path) === metadata.id + extension;
    if (other !== undefined) onSkipped({ path: isNamedAfterIt ? other.path : path, reason: "duplicate_id" });
    if (other === undefined || isNamedAfterIt) found.set(metadata.id, { ...metadata, path });
  }
  return [...found.values()];
}

/** Refuses a file that holds another session. @throws ForeignSession */
export function assertHolds(stored: SessionMetadata, { id, path }: FileSessionMetadata): void {
  if (stored.id === id) return;
  throw new ForeignSession("other_id", path, `it holds session ${stored.id}, not ${id}`);
}

/** A snapshot that is in memory as a whole. */
export function readingOf(dump: SessionDump): SessionReading {
  return {
    metadata: dump.metadata,
    scanEntries: (query) => scanDumpedEntries(dump, query),
    dump: () => dump,
  };
}

/** Deletes what dead writers left beside a session file. @throws StorageFault */
export function removeLeftovers(path: string, fileSystem: FileSystem): void {
  try {
    for (const leftover of leftoversOf(path, fileSystem)) fileSystem.unlink(leftover);
  } catch (cause) {
    throw new StorageFault(`what was left beside ${path} could not be deleted`, cause, true);
  }
}

/** Waits until a deletion is on the device, if it can be waited for: the file has no name any more either way. */
export function syncFolderQuietly(path: string, fileSystem: FileSystem): void {
  try {
    fileSystem.syncFolder(dirname(path));
  } catch {
    // See above.
  }
}
