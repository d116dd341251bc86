/**
 * Putting a whole file in its place (spec §1.7): written beside it under a name of its own, synced, renamed over an old
 * one or linked to a free name, and the folder synced.
 *
 * Terms. *Leftover*: the unfinished file of a process that died before its rename. Leftovers are never read as
 * sessions and never reused; `leftoversOf` lists them, and whoever knows that no writer is at work may delete them.
 *
 * Invariants.
 * 1. Whatever step a process dies at, the path names the old file or the new one, whole. Power loss included: the
 *    new content is on the device before the name is, if `isSynced`.
 * 2. The name beside is created exclusively, counting up from 1, so that two writers never share one, whatever their
 *    clocks, process ids and random sources do.
 * 3. A failure before the rename takes the unfinished file away again and leaves the path as it was.
 * 4. A refused rename is a failure. There is no second way that writes over the old file in place.
 * 5. A file that is created takes the place of none: of two writers that create under one name, one is refused.
 *
 * POSIX has no rename on condition: `assertUnchanged` is the last call before the rename, and what another process
 * writes between the two is lost. It narrows that window to one step; it is no lock.
 */
import { basename, dirname, join } from "node:path";
import { StorageFault } from "../contract.ts";
import { SessionExists } from "../creation.ts";
import type { FileSystem } from "./file-system.ts";

/** How a file is created. */
export interface CreationOptions {
  readonly fileSystem: FileSystem;
  /** Whether content and name are on the device before this returns; without it a loss of power may lose both. */
  readonly isSynced: boolean;
}

/** How a file is replaced. */
export interface ReplacementOptions extends CreationOptions {
  /** Called between the last write and the rename. What it throws stops the replacement. */
  readonly assertUnchanged?: () => void;
}

/** The file that now has the path, open to read and write. */
export interface Replacement {
  readonly file: number;
  readonly sizeBytes: number;
  /** False when only the sync of the folder failed: the new file is in place, and a loss of power may undo that. */
  readonly isFolderSynced: boolean;
}

/**
 * Puts a file with this content in the place of `path`, whether or not there is one.
 * @throws StorageFault with `recovered: true`, or what `assertUnchanged` throws; the path is as it was then.
 */
export function replaceFile(
  path: string,
  content: Iterable<Uint8Array>,
  options: ReplacementOptions,
): Replacement {
  return putFile(path, content, options, (beside) => {
    options.assertUnchanged?.();
    options.fileSystem.rename(beside, path);
  });
}

/**
 * Makes a file with this content where there is none.
 * @throws SessionExists if the name is taken; StorageFault with `recovered: true`; the path is as it was then.
 */
export function createFile(
  path: string,
  content: Iterable<Uint8Array>,
  options: CreationOptions,
): Replacement {
  const { fileSystem } = options;
  return putFile(path, content, options, (beside) => {
    try {
      fileSystem.link(beside, path);
    } catch (cause) {
      if (codeOf(cause) === "EEXIST") throw new SessionExists(path);
      if (!NO_LINKS.has(codeOf(cause))) throw cause;
      // A file system without links cannot refuse a taken name; the look before is all there is then.
      if (exists(path, fileSystem)) throw new SessionExists(path);
      fileSystem.rename(beside, path);
      return;
    }
    try {
      fileSystem.unlink(beside);
    } catch {
      // The file has its name; the other one is a leftover that does no harm.
    }
  });
}

/** Writes the content beside, lets `name` give it its name, and syncs what is to be synced. */
function putFile(
  path: string,
  content: Iterable<Uint8Array>,
  { fileSystem, isSynced }: CreationOptions,
  name: (beside: string) => void,
): Replacement {
  const beside = createBeside(path, fileSystem);
  let sizeBytes = 0;
  try {
    for (const bytes of content) {
      writeAll(beside.file, bytes, sizeBytes, fileSystem);
      sizeBytes += bytes.length;
    }
    if (isSynced) fileSystem.sync(beside.file);
    name(beside.path);
  } catch (cause) {
    discard(beside, fileSystem);
    if (cause instanceof StorageFault) throw cause;
    throw failedReplacement(path, cause);
  }
  const isFolderSynced = isSynced && syncFolderOf(path, fileSystem);
  return { file: beside.file, sizeBytes, isFolderSynced };
}

/** Closes a file that has been put in place: nothing is lost with a descriptor that cannot be closed. */
export function closeQuietly(file: number, fileSystem: FileSystem): void {
  try {
    fileSystem.close(file);
  } catch {
    // See above.
  }
}

/** Whether a file has this name. @throws StorageFault */
export function exists(path: string, fileSystem: FileSystem): boolean {
  try {
    fileSystem.close(fileSystem.open(path, "read"));
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw new StorageFault(`${path} could not be looked at`, error, true);
  }
}

/** The file itself where a path is a link to it, so that the link stays and the file is replaced. @throws StorageFault */
export function followed(path: string, fileSystem: FileSystem): string {
  try {
    return fileSystem.realPath(path);
  } catch (cause) {
    throw new StorageFault(`${path} could not be found again; nothing was changed`, cause, true);
  }
}

/** The leftovers beside a session file, as paths in order of their numbers. @throws the host's error */
export function leftoversOf(path: string, fileSystem: FileSystem): string[] {
  const folder = dirname(path);
  const names = fileSystem.list(folder).filter((name) => leftoverOwner(name) === basename(path));
  return names.sort(byNumber).map((name) => join(folder, name));
}

/** The name of the file beside which a leftover stands, or undefined for a name that is none. */
export function leftoverOwner(name: string): string | undefined {
  const match = LEFTOVER.exec(name);
  return match === null ? undefined : name.slice(0, match.index);
}

/** The mark of an unfinished file behind the name of its target. */
const LEFTOVER = /(?<=.)\.new-\d+$/;
/** What hosts answer on file systems without hard links. */
const NO_LINKS: ReadonlySet<unknown> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);
/** So many leftovers beside one file mean that something else is wrong. */
const NUMBER_MAX = 10_000;

interface Beside {
  readonly path: string;
  readonly file: number;
}

function createBeside(path: string, fileSystem: FileSystem): Beside {
  for (let number = 1; number <= NUMBER_MAX; number++) {
    const beside = `${path}.new-${number}`;
    try {
      return { path: beside, file: fileSystem.open(beside, "createNew") };
    } catch (cause) {
      if (codeOf(cause) !== "EEXIST") throw failedReplacement(path, cause);
    }
  }
  const message = `${path} has ${NUMBER_MAX} leftovers beside it; delete those whose writers are dead`;
  throw new StorageFault(message, undefined, true);
}

function writeAll(file: number, bytes: Uint8Array, position: number, fileSystem: FileSystem): void {
  const written = fileSystem.write(file, bytes, 0, bytes.length, position);
  if (written !== bytes.length) throw new Error(`the file took ${written} of ${bytes.length} bytes`);
}

function syncFolderOf(path: string, fileSystem: FileSystem): boolean {
  try {
    fileSystem.syncFolder(dirname(path));
    return true;
  } catch {
    // The rename has happened, so this is no failure of the replacement; the caller is told in the result.
    return false;
  }
}

/** Closes and deletes the unfinished file, as far as that is possible: the first failure is the one to report. */
function discard(beside: Beside, fileSystem: FileSystem): void {
  closeQuietly(beside.file, fileSystem);
  try {
    fileSystem.unlink(beside.path);
  } catch {
    // See above; a leftover does no harm.
  }
}

function failedReplacement(path: string, cause: unknown): StorageFault {
  return new StorageFault(`${path} could not be written; nothing half-made stands there`, cause, true);
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}

function byNumber(left: string, right: string): number {
  return Number(left.slice(left.lastIndexOf("-") + 1)) - Number(right.slice(right.lastIndexOf("-") + 1));
}
