/**
 * Making a session file as a whole: under another name first, then renamed. A process that dies in the middle leaves
 * the target as it was, and at the most a file that ends in `.new`, which the next attempt replaces.
 */
import { type SessionMetadata, StorageFault } from "../contract.ts";
import { admitMetadata, INITIAL_WRITES, SessionExists } from "../creation.ts";
import { encodeHeader, encodeTransaction } from "./codec.ts";
import { type FileSystem, hostFileSystem } from "./file-system.ts";

/** Creates the file of a new session: header, and a lane `main` at the root (spec §2.8). @throws SessionExists, StorageFault */
export function createJsonlFile(
  path: string,
  metadata: SessionMetadata,
  fileSystem: FileSystem = hostFileSystem,
): void {
  const admitted = admitMetadata(metadata);
  if (exists(path, fileSystem)) throw new SessionExists(path);
  writeJsonlFile(path, admitted, [encodeTransaction(INITIAL_WRITES, 1, admitted.createdAt).line], fileSystem);
}

/**
 * Puts a file with these lines, each with its LF, in the place of `path`, whether or not there is one.
 * @throws StorageFault; the place is as it was then.
 */
export function writeJsonlFile(
  path: string,
  metadata: SessionMetadata,
  lines: readonly string[],
  fileSystem: FileSystem,
): void {
  const text = encodeHeader(metadata) + lines.join("");
  const temporary = `${path}.new`;
  try {
    removeIfThere(temporary, fileSystem);
    writeNew(temporary, Buffer.from(text), fileSystem);
    fileSystem.rename(temporary, path);
  } catch (cause) {
    try {
      removeIfThere(temporary, fileSystem);
    } catch {
      // The first failure is the one to report; a file under the other name does no harm.
    }
    throw new StorageFault(`${path} could not be written; nothing half-made stands there`, cause, true);
  }
}

function writeNew(path: string, bytes: Buffer, fileSystem: FileSystem): void {
  const file = fileSystem.open(path, "createNew");
  try {
    const written = fileSystem.write(file, bytes, 0, bytes.length, 0);
    if (written !== bytes.length) throw new Error(`the file took ${written} of ${bytes.length} bytes`);
  } finally {
    fileSystem.close(file);
  }
}

function exists(path: string, fileSystem: FileSystem): boolean {
  try {
    fileSystem.close(fileSystem.open(path, "read"));
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return false;
    throw error;
  }
}

function removeIfThere(path: string, fileSystem: FileSystem): void {
  try {
    fileSystem.unlink(path);
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ENOENT") throw error;
  }
}
