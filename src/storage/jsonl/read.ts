/**
 * The read-only door: what a session file says, for views and inspection. It opens nothing for writing, changes
 * nothing, and closes the file before it returns; also right after a writer was killed.
 */
import { CURRENT_STORAGE_VERSION, type SessionMetadata } from "../contract.ts";
import type { SessionDump } from "../dump.ts";
import { dumpOf } from "../queries.ts";
import type { FileBytes } from "./byte-account.ts";
import { bytesOf } from "./compaction.ts";
import { type FileSystem, hostFileSystem, readFile } from "./file-system.ts";
import { replay, type TornTail } from "./replay.ts";
import { accountOf } from "./snapshot.ts";

/** What a session file holds. */
export interface JsonlSession {
  readonly metadata: SessionMetadata;
  readonly dump: SessionDump;
  /** What of the file a compaction would keep and drop. */
  readonly bytes: FileBytes;
  /** What a dead writer left behind the last line. */
  readonly tornTail: TornTail | undefined;
}

/**
 * Reads a session from its path or its bytes, of a storage version up to the given one.
 * @throws Corruption, StorageVersionTooNew, and the host's error if there is no such file
 */
export function readJsonlSession(
  source: string | Uint8Array,
  fileSystem: FileSystem = hostFileSystem,
  storageVersion = CURRENT_STORAGE_VERSION,
): JsonlSession {
  const bytes = typeof source === "string" ? readFile(source, fileSystem) : bufferOf(source);
  const replayed = replay(bytes, typeof source === "string" ? source : undefined, storageVersion);
  const { tables, tornTail } = replayed;
  const { metadata } = replayed.header;
  return { metadata, dump: dumpOf(tables, metadata), bytes: bytesOf(replayed, accountOf(tables)), tornTail };
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
