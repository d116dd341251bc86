/**
 * Why a session file is refused (spec §1, §3, §4).
 *
 * A refusal is corruption: a complete line that no correct writer can have left. Nothing is skipped, nothing is
 * repaired, and the file is left alone. The bytes after the last line feed are never a reason: they are the torn
 * tail, which is discarded unread.
 */

/** Refusals of one fact. They carry the fact's `seq`, once that could be read. */
export type FactCode =
  | "INVALID_FACT"
  | "SEQ_MISMATCH"
  | "DUPLICATE_ID"
  | "INVALID_REFERENCE"
  | "INVALID_TRANSITION"
  | "INVALID_TRANSCRIPT";

/** Refusals of a line or of the whole committed region. They carry no `seq`. */
export type LineCode =
  | "INVALID_UTF8"
  | "MISSING_HEADER"
  | "INVALID_HEADER"
  | "UNSUPPORTED_VERSION"
  | "BLANK_LINE"
  | "CRLF_NOT_ALLOWED"
  | "MALFORMED_JSON"
  | "EMPTY_TRANSACTION";

export type RefusalCode = FactCode | LineCode;

/** The first thing that is wrong with a file. `line` counts from 1. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly line: number;
  readonly seq?: number;
}

/** What the reader expected instead, one sentence for each code; used in messages for people. */
export const EXPECTATIONS: Readonly<Record<RefusalCode, string>> = {
  INVALID_UTF8: "every byte up to the last line feed must be strict UTF-8",
  MISSING_HEADER: "the first line must be a complete header that ends with a line feed",
  INVALID_HEADER: "the first line must be a closed header object of version 2 with every field in its type",
  UNSUPPORTED_VERSION: "only version 2 is read; there is no migration from another version",
  BLANK_LINE: "every line after the header must hold one transaction",
  CRLF_NOT_ALLOWED: "lines end with a line feed alone, without a carriage return before it",
  MALFORMED_JSON: "a line must be JSON without duplicate keys and without lone surrogates",
  EMPTY_TRANSACTION: "an array of facts must hold at least one fact",
  INVALID_FACT: "a fact must be a closed object with every field in its type",
  SEQ_MISMATCH: "seq starts at 1 and rises by exactly 1 with every fact",
  DUPLICATE_ID:
    "an id names one fact, operation, step or attempt only, and a reserved id waits for its owner",
  INVALID_REFERENCE: "a reference must name an earlier fact that stands in the stated relation",
  INVALID_TRANSITION: "a fact must be legal in the state that the facts before it left",
  INVALID_TRANSCRIPT: "every tool call must be answered before the next user or assistant message",
};
