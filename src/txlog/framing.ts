/**
 * Framing: from bytes to lines (spec §1, rows 1 to 6).
 *
 * Terms. *Committed region*: the bytes up to and including the last line feed. *Torn tail*: the bytes after it, which
 * are never decoded, also when they would parse.
 *
 * Invariants.
 * 1. The byte 0x0A is the only separator. Other line separators of Unicode are ordinary characters of strings.
 * 2. The whole region is checked to be UTF-8 before its first line is read, so that damage to bytes is reported ahead
 *    of damage to meaning.
 */
import { isAscii, isUtf8 } from "node:buffer";
import { err, ok, type Result } from "../foundation/index.ts";
import type { LineCode, Refusal } from "./refusal.ts";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Bytes that are known to be UTF-8 and to end with a line feed. */
export interface CommittedRegion {
  /** A view of the given bytes, not a copy. */
  readonly buffer: Buffer;
  /** Decoding is several times faster when every byte is its own character. */
  readonly encoding: "latin1" | "utf8";
  /** Whether any escape in it may name a surrogate. */
  readonly escapesSurrogates: boolean;
}

/** Cuts the torn tail off and checks the rest to be UTF-8. */
export function committedRegion(bytes: Uint8Array): Result<CommittedRegion, Refusal> {
  const cut = bytes.lastIndexOf(LINE_FEED);
  if (cut < 0) return err({ code: "MISSING_HEADER", line: 1 });
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, cut + 1);
  if (isUtf8(buffer)) {
    const encoding = isAscii(buffer) ? "latin1" : "utf8";
    return ok({ buffer, encoding, escapesSurrogates: escapesSurrogates(buffer) });
  }
  const surrogate = indexOfEncodedSurrogate(buffer);
  if (surrogate < 0) return err({ code: "INVALID_UTF8", line: 1 });
  return err({ code: "MALFORMED_JSON", line: lineNumberAt(buffer, surrogate) });
}

/** One search settles the usual case, in which no escape names its character by number. */
function escapesSurrogates(buffer: Buffer): boolean {
  return buffer.includes("\\u") && (buffer.includes("\\ud") || buffer.includes("\\uD"));
}

/** The index of the line feed that ends the line which starts at `start`. */
export function lineEnd(region: CommittedRegion, start: number): number {
  return region.buffer.indexOf(LINE_FEED, start);
}

/** What is wrong with a line before it is decoded. */
export function lineFault(
  region: CommittedRegion,
  start: number,
  end: number,
  line: number,
): LineCode | undefined {
  if (start === end) return line === 1 ? "MISSING_HEADER" : "BLANK_LINE";
  return region.buffer[end - 1] === CARRIAGE_RETURN ? "CRLF_NOT_ALLOWED" : undefined;
}

/** The characters of a line, without its line feed. A byte order mark is kept, so that it is refused as JSON. */
export function lineText(region: CommittedRegion, start: number, end: number): string {
  return region.buffer.toString(region.encoding, start, end);
}

/** Where a line starts, for messages to people. `line` counts from 1. */
export function byteOffsetOfLine(bytes: Uint8Array, line: number): number {
  let offset = 0;
  for (let current = 1; current < line; current++) offset = bytes.indexOf(LINE_FEED, offset) + 1;
  return offset;
}

/** A surrogate in three bytes (ED A0–BF 80–BF): what a writer leaves that encodes each half of a pair by itself. */
function indexOfEncodedSurrogate(buffer: Buffer): number {
  for (let index = buffer.indexOf(0xed); index >= 0; index = buffer.indexOf(0xed, index + 1)) {
    const second = buffer[index + 1] ?? 0;
    const third = buffer[index + 2] ?? 0;
    if (second >= 0xa0 && second <= 0xbf && third >= 0x80 && third <= 0xbf) return index;
  }
  return -1;
}

function lineNumberAt(buffer: Buffer, offset: number): number {
  let line = 1;
  for (let feed = buffer.indexOf(LINE_FEED); feed >= 0 && feed < offset; line++) {
    feed = buffer.indexOf(LINE_FEED, feed + 1);
  }
  return line;
}
