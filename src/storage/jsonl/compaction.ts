/**
 * Snapshot compaction (spec §1.7): when a session file is worth writing again without its dead bytes, and how it is
 * made sure that the file which is replaced is still the one that was read. The form of the new file stands in
 * `snapshot.ts`, its way into place in `../files/replacement.ts`; `JsonlStorage.compact` puts the three together.
 *
 * Until then a session file only grows: a deleted payload or an overwritten state stays in it as bytes. Who must be
 * rid of them promptly asks for a compaction after each terminal transaction.
 */
import { Corruption } from "../../foundation/index.ts";
import { StorageFault } from "../contract.ts";
import { type FileSystem, readFile } from "../files/file-system.ts";
import type { ByteAccount, FileBytes } from "./byte-account.ts";
import { encodeHeader } from "./codec.ts";
import { type Replayed, replay } from "./replay.ts";
import { isSameSnapshot } from "./snapshot.ts";

/** From when on a file is worth compacting. Both must be reached. */
export interface CompactionThreshold {
  /** Dead bytes by all bytes, from 0 to 1. */
  readonly deadRatioMin: number;
  /** In bytes; a small file is quick to read whatever is dead in it. */
  readonly fileBytesMin: number;
}

/** For who asks for compaction at opening and has no figures of their own. */
export const DEFAULT_COMPACTION_THRESHOLD: CompactionThreshold = {
  deadRatioMin: 0.5,
  fileBytesMin: 1 << 16,
};

/** What a compaction did. */
export interface CompactionReport {
  /** Of the file, a torn tail included. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** False when the folder could not be synced: the compaction stands, but a loss of power may undo it. */
  readonly isFolderSynced: boolean;
}

/** Whether a file has reached the threshold. */
export function isWorthCompacting(bytes: FileBytes, threshold: CompactionThreshold): boolean {
  if (bytes.total < threshold.fileBytesMin) return false;
  return bytes.dead > 0 && bytes.dead >= bytes.total * threshold.deadRatioMin;
}

/** How the bytes of a file are used. A file with spaces that no writer writes may seem all live. */
export function bytesOf(
  { header, committedBytes }: Pick<Replayed, "header" | "committedBytes">,
  account: ByteAccount,
): FileBytes {
  const headerText = encodeHeader(header.metadata, header.timesKeptThroughSeq);
  const live = Buffer.byteLength(headerText) + account.liveBytes;
  return { total: committedBytes, dead: Math.max(0, committedBytes - live) };
}

/**
 * Holds the file that has the path now against what the store left: also one of the same size with other content,
 * and one that was put in its place. @throws StorageFault, `recovered: false` when the file is not the one.
 */
export function assertSameFile(
  path: string,
  sizeBytes: number,
  isSame: (bytes: Buffer) => boolean,
  fileSystem: FileSystem,
): void {
  let bytes: Buffer;
  try {
    bytes = readFile(path, fileSystem);
  } catch (cause) {
    throw new StorageFault(`${path} could not be read again; it was not replaced`, cause, true);
  }
  if (bytes.length === sizeBytes && isSame(bytes)) return;
  const message = `${path} is not the file that this store left: another process changed it; it was not replaced`;
  throw new StorageFault(message, undefined);
}

/**
 * Whether the bytes of a file say what a store left in it. They are replayed and their snapshot is compared, because
 * a checksum would have to be kept up in every commit.
 */
export function saysTheSame(
  bytes: Buffer,
  left: Pick<Replayed, "header" | "tables" | "committedBytes">,
): boolean {
  try {
    const found = replay(bytes, undefined, Number.MAX_SAFE_INTEGER);
    return found.committedBytes === left.committedBytes && isSameSnapshot(found, left);
  } catch (error) {
    if (error instanceof Corruption) return false;
    throw error;
  }
}
