/**
 * Where a commit of SQLite lies in its write-ahead log, and where it tears.
 *
 * Terms. *Frame*: one page in the log, behind a header of 24 bytes. The last frame of a transaction is marked; until it
 * is whole, SQLite takes none of its frames for committed. *Salts*: eight bytes that every frame repeats from the header
 * of the log; when a log is begun anew its salts change, and what stands behind its newest frame is of no meaning.
 *
 * A transaction is written frame by frame, so a process that dies leaves some of its frames: this is what a torn commit
 * of SQLite is. It is cut off before its last frame and in the middle of it. A store that commits each statement by
 * itself has several marked frames there, and leaves a part of its commit.
 */
import { closeSync, existsSync, openSync, readSync } from "node:fs";
import {
  isWalFrameOf,
  saltsOf,
  WAL_FRAME_HEADER_BYTES,
  WAL_HEADER_BYTES,
  walFrameBytes,
} from "../../storage/index.ts";

/** How far a log is written. */
export interface LogEnd {
  /** Tells one beginning of the log from the next. */
  readonly salts: string;
  /** Where the next frame goes, in bytes of the file. */
  readonly offset: number;
  /** Bytes of one frame with its header. */
  readonly frameBytes: number;
}

/**
 * The end of the log of a database file; undefined while it has none. Only headers are read: what its own process wrote
 * a moment ago needs no checksums, and this is asked at every boundary.
 */
export function endOfLog(databasePath: string): LogEnd | undefined {
  const path = `${databasePath}-wal`;
  if (!existsSync(path)) return undefined;
  const file = openSync(path, "r");
  try {
    const header = Buffer.alloc(WAL_HEADER_BYTES);
    if (readSync(file, header, 0, WAL_HEADER_BYTES, 0) < WAL_HEADER_BYTES) return undefined;
    const salts = saltsOf(header);
    if (salts === undefined) return undefined;
    const frameBytes = walFrameBytes(header);
    const frame = Buffer.alloc(WAL_FRAME_HEADER_BYTES);
    let offset = WAL_HEADER_BYTES;
    for (; ; offset += frameBytes) {
      if (readSync(file, frame, 0, WAL_FRAME_HEADER_BYTES, offset) < WAL_FRAME_HEADER_BYTES) break;
      if (!isWalFrameOf(header, frame)) break;
    }
    return { salts, offset, frameBytes };
  } finally {
    closeSync(file);
  }
}

/** Where what was written between two ends begins: behind the older one, unless the log was begun anew. */
export function beginningOf(before: LogEnd | undefined, after: LogEnd): number {
  return before?.salts === after.salts ? before.offset : WAL_HEADER_BYTES;
}

/** Offsets of the log at which what lies between `beginning` and its end is torn, rising; see the header. */
export function tearsOfLog(beginning: number, { offset, frameBytes }: LogEnd): readonly number[] {
  const lastFrame = offset - frameBytes;
  return lastFrame < beginning ? [] : [lastFrame, lastFrame + Math.floor(frameBytes / 2)];
}
