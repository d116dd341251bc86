/**
 * The read-only door: what a session file says, for views and inspection. It opens nothing for writing, changes
 * nothing, and closes the file before it returns; also right after a writer was killed.
 */
import { CURRENT_STORAGE_VERSION, type SessionMetadata } from "../contract.ts";
import type { SessionDump } from "../dump.ts";
import { type FileSystem, hostFileSystem, readFile } from "../files/file-system.ts";
import { dumpOf } from "../queries.ts";
import type { FileBytes } from "./byte-account.ts";
import { bytesOf } from "./compaction.ts";
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

/**
 * Everything durable of a session file. Cheaper than `readJsonlSession`, which also says how the bytes are used.
 * @throws as `readJsonlSession`
 */
export function dumpJsonl(path: string, fileSystem: FileSystem = hostFileSystem): SessionDump {
  const { tables, header } = replay(readFile(path, fileSystem), path);
  return dumpOf(tables, header.metadata);
}

/**
 * What a session file says of its session, from its first line alone and of any storage version.
 * @throws Corruption, and the host's error if there is no such file
 */
export function readJsonlMetadata(path: string, fileSystem: FileSystem = hostFileSystem): SessionMetadata {
  const line = readFirstLine(path, fileSystem);
  return replay(line, path, Number.MAX_SAFE_INTEGER).header.metadata;
}

/** The first line with its LF; what there is, or as much as a header can have, if it has none. */
function readFirstLine(path: string, fileSystem: FileSystem): Buffer {
  const file = fileSystem.open(path, "read");
  try {
    const pieces: Buffer[] = [];
    for (let position = 0; ; ) {
      const piece = Buffer.allocUnsafe(PIECE_BYTES);
      const count = fileSystem.read(file, piece, 0, piece.length, position);
      const end = piece.subarray(0, count).indexOf(LF);
      if (end >= 0) return Buffer.concat([...pieces, piece.subarray(0, end + 1)]);
      pieces.push(piece.subarray(0, count));
      position += count;
      if (count === 0 || position > HEADER_BYTES_MAX) return Buffer.concat(pieces);
    }
  } finally {
    fileSystem.close(file);
  }
}

const LF = 0x0a;
const PIECE_BYTES = 4096;
/** A first line that is longer is no header; metadata has a handful of fields. */
const HEADER_BYTES_MAX = 1 << 20;

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
