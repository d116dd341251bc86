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

/** The byte after the line feed of line 1. */
export function firstLineEnd(region: CommittedRegion): number {
  return region.buffer.indexOf(LINE_FEED) + 1;
}

/**
 * Visits the lines of a region from a byte on, as text without the line feed, until a visit gives something. Many lines are
 * decoded at once, because decoding each by itself costs more than its characters do.
 */
export function visitLines<T>(
  region: CommittedRegion,
  from: number,
  visit: (text: string) => T | undefined,
): T | undefined {
  const { buffer, encoding } = region;
  for (let start = from; start < buffer.length; ) {
    const end = blockEnd(buffer, start);
    const block = buffer.toString(encoding, start, end);
    for (let lineStart = 0; lineStart < block.length; ) {
      const lineEnd = block.indexOf("\n", lineStart);
      const found = visit(block.slice(lineStart, lineEnd));
      if (found !== undefined) return found;
      lineStart = lineEnd + 1;
    }
    start = end;
  }
  return undefined;
}

/** The end of the lines that are decoded together: the first line feed after enough bytes. */
function blockEnd(buffer: Buffer, start: number): number {
  return buffer.indexOf(LINE_FEED, Math.min(start + BLOCK_LENGTH, buffer.length - 1)) + 1;
}

const BLOCK_LENGTH = 1 << 16;

/** What is wrong with a line before it is parsed. */
export function lineFault(text: string, line: number): LineCode | undefined {
  if (text === "") return line === 1 ? "MISSING_HEADER" : "BLANK_LINE";
  return text.endsWith("\r") ? "CRLF_NOT_ALLOWED" : undefined;
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
