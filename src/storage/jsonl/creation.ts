/**
 * Making a session file as a whole: beside its place first, then named (`../files/replacement.ts`). A process that dies
 * in the middle leaves the place as it was, and at the most a leftover.
 */
import type { SessionMetadata } from "../contract.ts";
import { admitMetadata, INITIAL_WRITES, SessionExists } from "../creation.ts";
import type { SessionContents } from "../dump.ts";
import { type FileSystem, hostFileSystem } from "../files/file-system.ts";
import { closeQuietly, createFile, exists } from "../files/replacement.ts";
import { tablesOf } from "../placement.ts";
import { encodeHeader, encodeTransaction } from "./codec.ts";
import { headerOf, snapshotContent } from "./snapshot.ts";

/**
 * Creates the file of a new session. Without `contents` it holds the lane `main` at the root (spec §2.8), and is not
 * synced: there is nothing yet that a loss of power could take.
 * @throws SessionExists, StorageFault; Corruption for contents that no session can hold
 */
export function createJsonlFile(
  path: string,
  metadata: SessionMetadata,
  fileSystem: FileSystem = hostFileSystem,
  contents?: SessionContents,
): void {
  const admitted = admitMetadata(metadata);
  if (exists(path, fileSystem)) throw new SessionExists(path);
  const content = contents === undefined ? [initialContent(admitted)] : contentOf(admitted, contents);
  const { file } = createFile(path, content, { fileSystem, isSynced: contents !== undefined });
  closeQuietly(file, fileSystem);
}

function initialContent(metadata: SessionMetadata): Uint8Array {
  const header = encodeHeader(metadata);
  return Buffer.from(header + encodeTransaction(INITIAL_WRITES, 1, metadata.createdAt).line);
}

function contentOf(metadata: SessionMetadata, contents: SessionContents): Iterable<Uint8Array> {
  const tables = tablesOf(contents);
  return snapshotContent(headerOf(metadata, tables), tables);
}
