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
 * A file is read and decoded in chunks of whole lines: decoding each line on its own costs as much as parsing it, and
 * a file as a whole need not fit into memory.
 */
import { isAscii, isUtf8 } from "node:buffer";
import { Corruption } from "../../foundation/index.ts";
import { CURRENT_STORAGE_VERSION } from "../contract.ts";
import { assertReadableVersion } from "../creation.ts";
import type { FileSystem } from "../files/file-system.ts";
import { placementIssue } from "../placement.ts";
import type { StoredEntry, StoredWrite } from "../stored-write.ts";
import { Tables } from "../tables.ts";
import { decodeHeader, decodeLine, type Header, LineRefusal } from "./codec.ts";

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
 * Reads the bytes of a session file. `name` names it in errors; `newestVersion` is the newest storage version whose
 * lines are read, because newer ones may have forms that are unknown here.
 * @throws Corruption, with the reasons of `JsonlCorruptionReason`; StorageVersionTooNew.
 */
export function replay(bytes: Buffer, name?: string, newestVersion = CURRENT_STORAGE_VERSION): Replayed {
  return replayChunks(chunksOf(bytes), name, newestVersion);
}

/** Reads an open session file; otherwise as `replay`. */
export function replayFile(
  fileSystem: FileSystem,
  file: number,
  name: string,
  newestVersion = CURRENT_STORAGE_VERSION,
): Replayed {
  return replayChunks(chunksOfFile(fileSystem, file), name, newestVersion);
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

/** Chunks of whole lines in their order, and what follows the last LF as a last chunk of its own. */
function replayChunks(chunks: Iterable<Buffer>, file: string | undefined, newestVersion: number): Replayed {
  const progress: Progress = {
    tables: new Tables(),
    lines: 0,
    header: undefined,
    acceptHeader: ({ metadata }) => assertReadableVersion(metadata, newestVersion, file),
  };
  let committedBytes = 0;
  let tornTail: TornTail | undefined;
  for (const chunk of chunks) {
    const linesBefore = progress.lines;
    try {
      if (committedBytes === 0) refuseByteOrderMark(chunk);
      if (chunk.at(-1) === LF) replayChunk(chunk, progress);
      else tornTail = { byteOffset: committedBytes, byteLength: chunk.length };
    } catch (error) {
      if (!(error instanceof LineRefusal)) throw error;
      const byteOffset = committedBytes + lineStart(chunk, progress.lines - linesBefore);
      throw corruption(error, { line: progress.lines + 1, byteOffset }, file);
    }
    if (tornTail === undefined) committedBytes += chunk.length;
  }
  const { header, tables } = progress;
  if (header === undefined) {
    throw corruption(new LineRefusal("no_header", NO_HEADER), { line: 1, byteOffset: 0 }, file);
  }
  return { header, tables, committedBytes, tornTail };
}

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  let from = 0;
  while (from < bytes.length) {
    const end = chunkEnd(bytes, from);
    yield bytes.subarray(from, end);
    from = end;
  }
}

/** The end of a chunk that starts at `from`: behind the last LF within the chunk size, or behind the next one. */
function chunkEnd(bytes: Buffer, from: number): number {
  const last = bytes.lastIndexOf(LF, from + CHUNK_BYTES - 1);
  if (last >= from) return last + 1;
  const next = bytes.indexOf(LF, from + CHUNK_BYTES);
  return next < 0 ? bytes.length : next + 1;
}

/** A chunk is good until the next one is asked for: all of them are read into the same memory. */
function* chunksOfFile(fileSystem: FileSystem, file: number): Generator<Buffer> {
  let buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let filled = 0;
  let position = 0;
  for (;;) {
    const count = fileSystem.read(file, buffer, filled, buffer.length - filled, position);
    if (count === 0) break;
    position += count;
    const read = buffer.subarray(filled, filled + count);
    const end = filled + read.lastIndexOf(LF) + 1;
    const hasLine = end > filled;
    filled += count;
    if (hasLine) {
      yield buffer.subarray(0, end);
      buffer.copyWithin(0, end, filled);
      filled -= end;
    } else if (filled === buffer.length) {
      buffer = Buffer.concat([buffer], buffer.length * 2);
    }
  }
  if (filled > 0) yield buffer.subarray(0, filled);
}

function refuseByteOrderMark(chunk: Buffer): void {
  if (chunk[0] !== 0xef || chunk[1] !== 0xbb || chunk[2] !== 0xbf) return;
  throw new LineRefusal("byte_order_mark", "a session file has no byte order mark; a text editor added one");
}

function replayChunk(chunk: Buffer, progress: Progress): void {
  const isPlain = isAscii(chunk);
  if (!isPlain && !isUtf8(chunk)) {
    replayLineByLine(chunk, progress);
    return;
  }
  const text = isPlain ? chunk.toString("latin1") : chunk.toString("utf8");
  if (text.includes("\r")) {
    replayLineByLine(chunk, progress);
    return;
  }
  let start = 0;
  while (start < text.length) {
    const end = text.indexOf("\n", start);
    replayLine(text.slice(start, end), progress);
    start = end + 1;
  }
}

/** For a chunk with damage: the lines before it are replayed first, so that the first damage is the one reported. */
function replayLineByLine(chunk: Buffer, progress: Progress): void {
  let start = 0;
  while (start < chunk.length) {
    const end = chunk.indexOf(LF, start);
    const line = chunk.subarray(start, end);
    if (!isUtf8(line)) throw new LineRefusal("not_utf8", "the line has bytes that are no UTF-8");
    const text = line.toString("utf8");
    if (text.includes("\r")) {
      throw new LineRefusal("carriage_return", "the line has a raw CR, which no writer writes");
    }
    replayLine(text, progress);
    start = end + 1;
  }
}

function replayLine(text: string, progress: Progress): void {
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

/** Where a line of a chunk starts, by the number of lines before it. */
function lineStart(chunk: Buffer, linesBefore: number): number {
  let start = 0;
  for (let line = 0; line < linesBefore; line++) start = chunk.indexOf(LF, start) + 1;
  return start;
}

function corruption(
  refusal: LineRefusal,
  place: { line: number; byteOffset: number },
  file: string | undefined,
): Corruption {
  const message = `${refusal.message}; nothing was changed`;
  return new Corruption(refusal.reason, message, { ...place, ...(file === undefined ? {} : { file }) });
}
