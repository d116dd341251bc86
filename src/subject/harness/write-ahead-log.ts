/**
 * Where a commit of SQLite lies in its write-ahead log, and where it tears.
 *
 * Terms. *Frame*: one page in the log, behind a header of 24 bytes. The last frame of a transaction is marked; until it
 * is whole, SQLite takes none of its frames for committed. *Salt*: eight bytes that every frame repeats from the header
 * of the log; when a log is begun anew its salt changes, and what stands behind its newest frame is of no meaning.
 *
 * A transaction is written frame by frame, so a process that dies leaves some of its frames: this is what a torn commit
 * of SQLite is. It is cut off before its last frame and in the middle of it. A store that commits each statement by
 * itself has several marked frames there, and leaves a part of its commit.
 */
import { closeSync, existsSync, openSync, readSync } from "node:fs";

const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const PAGE_SIZE_OFFSET = 8;
const LOG_SALT_OFFSET = 16;
const FRAME_SALT_OFFSET = 8;
const SALT_BYTES = 8;

/** How far a log is written. */
export interface LogEnd {
  /** Tells one beginning of the log from the next. */
  readonly salt: string;
  /** Where the next frame goes, in bytes of the file. */
  readonly offset: number;
  /** Bytes of one frame with its header. */
  readonly frameBytes: number;
}

/** The end of the log of a database file; undefined while it has none. */
export function endOfLog(databasePath: string): LogEnd | undefined {
  const path = `${databasePath}-wal`;
  if (!existsSync(path)) return undefined;
  const file = openSync(path, "r");
  try {
    const header = Buffer.alloc(LOG_HEADER_BYTES);
    if (readSync(file, header, 0, LOG_HEADER_BYTES, 0) < LOG_HEADER_BYTES) return undefined;
    const salt = header.subarray(LOG_SALT_OFFSET, LOG_SALT_OFFSET + SALT_BYTES);
    const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(PAGE_SIZE_OFFSET);
    const frame = Buffer.alloc(FRAME_HEADER_BYTES);
    let offset = LOG_HEADER_BYTES;
    for (; ; offset += frameBytes) {
      if (readSync(file, frame, 0, FRAME_HEADER_BYTES, offset) < FRAME_HEADER_BYTES) break;
      if (!frame.subarray(FRAME_SALT_OFFSET, FRAME_SALT_OFFSET + SALT_BYTES).equals(salt)) break;
    }
    return { salt: salt.toString("hex"), offset, frameBytes };
  } finally {
    closeSync(file);
  }
}

/** Where what was written between two ends begins: behind the older one, unless the log was begun anew. */
export function beginningOf(before: LogEnd | undefined, after: LogEnd): number {
  return before?.salt === after.salt ? before.offset : LOG_HEADER_BYTES;
}

/** Offsets of the log at which what lies between `beginning` and its end is torn, rising; see the header. */
export function tearsOfLog(beginning: number, { offset, frameBytes }: LogEnd): readonly number[] {
  const lastFrame = offset - frameBytes;
  return lastFrame < beginning ? [] : [lastFrame, lastFrame + Math.floor(frameBytes / 2)];
}
