/**
 * The lines of a legacy session file, read as their own reader read them: forgivingly (spec Appendix B).
 *
 * A line ends at byte 0x0A and nowhere else; the last may lack it. Blank lines are skipped. A line that is no JSON
 * object is skipped with a warning, wherever it stands, the end included: old programs left such lines behind, and
 * the file is never cut or mended for them. The strictness of format 4 does not apply here.
 */
import { isRecord, type Place } from "../../foundation/index.ts";
import type { JsonRecord } from "./values.ts";

/** One line that holds a JSON object. */
export interface LegacyLine {
  readonly record: JsonRecord;
  /** From 1. */
  readonly line: number;
  /** From the start of the file. */
  readonly byteOffset: number;
}

/** What was passed over or mended while reading. The session is complete without it, as its old reader saw it. */
export interface V3Warning {
  readonly reason: V3WarningReason;
  readonly message: string;
  readonly line: number;
  readonly byteOffset: number;
}

export type V3WarningReason =
  /** A line that is no JSON: torn, glued to another, or overwritten. */
  | "unparsable_line"
  /** A line that is JSON and no object. */
  | "not_an_object"
  /** The file starts with a byte order mark. */
  | "byte_order_mark"
  /** Bytes that are no UTF-8; each was read as U+FFFD. */
  | "not_utf8"
  /** A second header. */
  | "extra_header"
  /** The header carries metadata of an application, for which format 4 has no place. */
  | "header_metadata_dropped"
  /** The parent is not in the file, so the entry became a root. */
  | "missing_parent"
  /** A text held half of a surrogate pair, or a number was -0; U+FFFD and 0 stand there now. */
  | "value_mended"
  /** A time could not be read; another one near it was taken. */
  | "time_replaced"
  /** A compaction names a first kept entry that is not before it on its branch. */
  | "first_kept_missing"
  /** A label whose target has no entry left to carry it. */
  | "label_dropped";

/** Lines and what was passed over so far. */
export interface LineReader {
  /** The next line that holds an object, or undefined at the end. */
  next(): LegacyLine | undefined;
  readonly warnings: V3Warning[];
}

/** Reads the lines of a file one by one. */
export function lineReader(bytes: Uint8Array): LineReader {
  const warnings: V3Warning[] = [];
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let position = 0;
  let line = 0;
  const warn = (reason: V3WarningReason, message: string, byteOffset: number) => {
    warnings.push({ reason, message, line, byteOffset });
  };
  if (hasByteOrderMark(source)) {
    position = BYTE_ORDER_MARK.length;
    warnings.push({
      reason: "byte_order_mark",
      message: "a byte order mark was skipped",
      line: 1,
      byteOffset: 0,
    });
  }
  return {
    warnings,
    next() {
      while (position < source.length) {
        const byteOffset = position;
        const end = source.indexOf(LF, position);
        const content = source.subarray(position, end === -1 ? source.length : end);
        position = end === -1 ? source.length : end + 1;
        line += 1;
        const text = content.toString("utf8");
        if (text.trim() === "") continue;
        const value = parse(text);
        if (value === undefined) {
          warn(
            "unparsable_line",
            `the line of ${content.length} bytes is no JSON; it was skipped`,
            byteOffset,
          );
        } else if (!isRecord(value)) {
          warn("not_an_object", "the line holds no object; it was skipped", byteOffset);
        } else {
          if (!isWellEncoded(content, text))
            warn("not_utf8", "bytes that are no UTF-8 became U+FFFD", byteOffset);
          return { record: value, line, byteOffset };
        }
      }
      return undefined;
    },
  };
}

/** The place of a line, for errors. */
export function placeOf({ line, byteOffset }: LegacyLine, file: string | undefined, subject?: string): Place {
  return {
    line,
    byteOffset,
    ...(file === undefined ? {} : { file }),
    ...(subject === undefined ? {} : { subject }),
  };
}

const LF = 0x0a;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

function hasByteOrderMark(bytes: Buffer): boolean {
  return BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte);
}

/** Undefined stands for no JSON: no text of JSON has that value. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Decoding puts three bytes of U+FFFD where bytes were wrong, so only a text that has one can have lost any. */
function isWellEncoded(content: Buffer, text: string): boolean {
  return !text.includes("\ufffd") || Buffer.from(text).equals(content);
}
