/**
 * Replay: the bytes of a session file to the tables that its lines recreate (spec §1.7). This is decoding, not
 * recovery: nothing is repaired, and nothing is written.
 *
 * Terms. *Torn tail*: the bytes after the last LF, left by a writer that died inside a write. `codec.ts` has the
 * format, and the rule that a transaction is in the file if and only if its whole line is.
 *
 * Invariants.
 * 1. Lines are split at byte 0x0A and nowhere else, before anything in them is read.
 * 2. seq rises strictly from line to line and inside a line; gaps are legal, for a rewritten file has them.
 * 3. The times of entries never fall, and are one within a transaction. Committed times are kept as they stand. Only
 *    entries that the header declares as taken from elsewhere may fall behind (`codec.ts`).
 * 4. Ids are unique over entries and usage rows; a parent stands before its child.
 * 5. A line that breaks a rule is reported as `Corruption` with its reason, line and byte offset, and no part of the
 *    session is given out. Only a torn tail is dropped, whole.
 *
 * Lines are decoded in chunks of text, because decoding each on its own costs as much as parsing it.
 */
import { isAscii, isUtf8 } from "node:buffer";
import { Corruption } from "../../foundation/index.ts";
import { CURRENT_STORAGE_VERSION } from "../contract.ts";
import { assertReadableVersion } from "../creation.ts";
import { placementIssue } from "../placement.ts";
import type { StoredEntry, StoredWrite } from "../stored-write.ts";
import { Tables } from "../tables.ts";
import {
  assertInDomain,
  decodeHeader,
  decodeLine,
  type Header,
  LineRefusal,
  maySpellOutsideDomain,
} from "./codec.ts";

/** What a file says. */
export interface Replayed {
  readonly header: Header;
  readonly tables: Tables;
  /** Up to here the file is whole lines. */
  readonly committedBytes: number;
  readonly tornTail: TornTail | undefined;
}

/** Bytes of a line that was never finished. They are no part of the session. */
export interface TornTail {
  /** Where they start, from the start of the file. */
  readonly byteOffset: number;
  readonly byteLength: number;
}

/**
 * Reads the bytes of a session file. `file` names it in errors; `newestVersion` is the newest storage version whose
 * lines are read, because newer ones may have forms that are unknown here.
 * @throws Corruption, with the reasons of `JsonlCorruptionReason`; StorageVersionTooNew.
 */
export function replay(bytes: Buffer, file?: string, newestVersion = CURRENT_STORAGE_VERSION): Replayed {
  const committedBytes = bytes.lastIndexOf(LF) + 1;
  const progress: Progress = {
    tables: new Tables(),
    lines: 0,
    header: undefined,
    acceptHeader: ({ metadata }) => assertReadableVersion(metadata, newestVersion, file),
  };
  try {
    refuseByteOrderMark(bytes);
    if (committedBytes === 0) throw new LineRefusal("no_header", NO_HEADER);
    let from = 0;
    while (from < committedBytes) {
      const end = chunkEnd(bytes, from, committedBytes);
      replayChunk(bytes.subarray(from, end), progress);
      from = end;
    }
  } catch (error) {
    if (!(error instanceof LineRefusal)) throw error;
    throw corruptionAt(error, progress.lines, bytes, file);
  }
  const byteLength = bytes.length - committedBytes;
  return {
    header: progress.header as Header,
    tables: progress.tables,
    committedBytes,
    tornTail: byteLength === 0 ? undefined : { byteOffset: committedBytes, byteLength },
  };
}

const LF = 0x0a;
const CHUNK_BYTES = 1 << 16;
const NO_HEADER = "the file has no complete first line; a session is created whole, with its header";

interface Progress {
  readonly tables: Tables;
  /** Lines that were accepted; the next one has this index. */
  lines: number;
  header: Header | undefined;
  /** Refuses a session by its header, before its lines are read. */
  readonly acceptHeader: (header: Header) => void;
}

function refuseByteOrderMark(bytes: Buffer): void {
  if (bytes[0] !== 0xef || bytes[1] !== 0xbb || bytes[2] !== 0xbf) return;
  throw new LineRefusal("byte_order_mark", "a session file has no byte order mark; a text editor added one");
}

/** The end of a chunk that starts at `from`: behind the last LF within the chunk size, or behind the next one. */
function chunkEnd(bytes: Buffer, from: number, committedBytes: number): number {
  if (from + CHUNK_BYTES >= committedBytes) return committedBytes;
  const last = bytes.lastIndexOf(LF, from + CHUNK_BYTES - 1);
  return (last >= from ? last : bytes.indexOf(LF, from + CHUNK_BYTES)) + 1;
}

function replayChunk(chunk: Buffer, progress: Progress): void {
  const isPlain = isAscii(chunk);
  if (!isPlain && !isUtf8(chunk)) {
    // Lines before the damaged one are replayed first, so that the first damage is the one reported.
    replayLineByLine(chunk, progress);
    return;
  }
  const text = isPlain ? chunk.toString("latin1") : chunk.toString("utf8");
  const isSuspicious = text.includes("\r") || maySpellOutsideDomain(text);
  let start = 0;
  while (start < text.length) {
    const end = text.indexOf("\n", start);
    replayLine(text.slice(start, end), isSuspicious, progress);
    start = end + 1;
  }
}

function replayLineByLine(chunk: Buffer, progress: Progress): void {
  let start = 0;
  while (start < chunk.length) {
    const end = chunk.indexOf(LF, start);
    const line = chunk.subarray(start, end);
    if (!isUtf8(line)) throw new LineRefusal("not_utf8", "the line has bytes that are no UTF-8");
    replayLine(line.toString("utf8"), true, progress);
    start = end + 1;
  }
}

function replayLine(text: string, isSuspicious: boolean, progress: Progress): void {
  if (isSuspicious) {
    if (text.includes("\r"))
      throw new LineRefusal("carriage_return", "the line has a raw CR, which no writer writes");
    if (maySpellOutsideDomain(text)) assertInDomain(text);
  }
  if (progress.header === undefined) {
    progress.header = decodeHeader(text);
    progress.acceptHeader(progress.header);
  } else {
    applyLine(decodeLine(text), progress.tables, progress.header.timesKeptThroughSeq);
  }
  progress.lines += 1;
}

/** Holds the writes of one line against what stands before them, one after the other, and applies them. */
function applyLine(writes: readonly StoredWrite[], tables: Tables, timesKeptThroughSeq: number): void {
  let lineTimestamp: number | undefined;
  for (const write of writes) {
    const issue = placementIssue(write, tables);
    if (issue !== undefined) throw new LineRefusal(issue.reason, issue.message);
    if (write.kind === "entry") {
      const newest = write.seq > timesKeptThroughSeq ? tables.newestEntryTimestamp : 0;
      refuseTime(write, lineTimestamp, newest);
      lineTimestamp = write.timestamp;
    }
    tables.applyOne(write);
  }
}

function refuseTime({ id, timestamp }: StoredEntry, lineTimestamp: number | undefined, newest: number): void {
  if (lineTimestamp !== undefined && timestamp !== lineTimestamp) {
    const message = `entry ${id} has the time ${timestamp} in a transaction of ${lineTimestamp}`;
    throw new LineRefusal("timestamp_differs", message);
  }
  if (timestamp < newest) {
    const message = `entry ${id} has the time ${timestamp}, behind ${newest} of an earlier entry`;
    throw new LineRefusal("timestamp_falls", message);
  }
}

function corruptionAt(
  refusal: LineRefusal,
  lines: number,
  bytes: Buffer,
  file: string | undefined,
): Corruption {
  let byteOffset = 0;
  for (let line = 0; line < lines; line++) byteOffset = bytes.indexOf(LF, byteOffset) + 1;
  const place = { line: lines + 1, byteOffset, ...(file === undefined ? {} : { file }) };
  return new Corruption(refusal.reason, `${refusal.message}; nothing was changed`, place);
}
