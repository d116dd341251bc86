/**
 * JSON as the format reads it (spec §1): RFC 8259, and beyond what the host's parser checks, no key twice in an object
 * (compared after unescaping), no lone surrogate in keys or values, raw or escaped, and no depth that overflows.
 *
 * Method. The host parses, and of a key that comes twice it keeps one. Whether one was dropped is then proved from the
 * outside, without a second parser:
 * - The shortest text of a value is known from the value. If the text has no escapes and is exactly that long, it has no
 *   room for another key. Compact writers take this road on most lines, and it never looks at the text itself.
 * - Otherwise: a grammatical text has one colon outside its strings for each key. One pass over the text counts them, and
 *   there are as many as members in the value if and only if none was dropped.
 * A raw surrogate cannot stand in strict UTF-8, so the strings of a value are looked at only where the file escapes one.
 *
 * Invariants.
 * 1. The two roads agree wherever both apply; the road is chosen by speed alone.
 * 2. Time is linear in the text, and nothing recurses deeper than `DEPTH_MAX`.
 */
import { err, ok, type Result } from "../foundation/index.ts";

/** Deeper texts are refused: readers that recurse would overflow somewhere, each at another depth. */
export const DEPTH_MAX = 1_000;

/** Parses one line. `mayEscapeSurrogates` says whether any escape in it can name one. */
export function readStrictJson(
  text: string,
  mayEscapeSurrogates: boolean,
): Result<unknown, "MALFORMED_JSON"> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return MALFORMED;
  }
  if (!text.includes("\\") && shortestLength(value, DEPTH_MAX) === text.length) return ok(value);
  if (countMembers(value, DEPTH_MAX) !== countKeys(text)) return MALFORMED;
  return mayEscapeSurrogates && !isWellFormedThroughout(value) ? MALFORMED : ok(value);
}

const MALFORMED: Result<never, "MALFORMED_JSON"> = err("MALFORMED_JSON");

/**
 * The length of the shortest text of a value whose strings need no escapes; not a number if the value is nested deeper
 * than `levels`, or holds a number of which the usual text may not be the shortest.
 */
function shortestLength(value: unknown, levels: number): number {
  switch (typeof value) {
    case "string":
      return value.length + 2;
    case "number":
      return digitCount(value);
    case "boolean":
      return value ? 4 : 5;
    default:
      return value === null ? 4 : shortestLengthOfNode(value as object, levels);
  }
}

function shortestLengthOfNode(node: object, levels: number): number {
  if (levels === 0) return Number.NaN;
  // An empty node has two brackets; any other has one bracket and, for each member, one comma or the closing bracket.
  let length = 1;
  if (Array.isArray(node)) {
    for (const item of node) length += shortestLength(item, levels - 1) + 1;
  } else {
    const object = node as { readonly [key: string]: unknown };
    for (const key in object) length += key.length + 3 + shortestLength(object[key], levels - 1) + 1;
  }
  return length === 1 ? 2 : length;
}

/** The digits of a whole number; of the multiples of 1000 the form with an exponent may be shorter. */
function digitCount(value: number): number {
  if (!Number.isSafeInteger(value) || value < 0 || (value >= 1000 && value % 1000 === 0)) return Number.NaN;
  let count = 1;
  for (let bound = 10; value >= bound; bound *= 10) count += 1;
  return count;
}

/** The colons outside the strings of a grammatical text. */
function countKeys(text: string): number {
  let keyCount = 0;
  let index = 0;
  while (index < text.length) {
    const unit = text.charCodeAt(index++);
    if (unit === COLON) keyCount += 1;
    else if (unit === QUOTE) index = afterString(text, index);
  }
  return keyCount;
}

/** The index after the quote that closes a string, of which the first character stands at `start`. */
function afterString(text: string, start: number): number {
  let index = start;
  const patience = start + SHORT_STRING_LENGTH;
  for (let unit = text.charCodeAt(index++); unit !== QUOTE; unit = text.charCodeAt(index++)) {
    if (unit === BACKSLASH) index += 1;
    // Long strings are text of people and tools, in which the search of the host is several times faster.
    if (index > patience) return afterLongString(text, index);
  }
  return index;
}

function afterLongString(text: string, start: number): number {
  let quote = text.indexOf('"', start);
  while (isEscaped(text, start, quote)) quote = text.indexOf('"', quote + 1);
  return quote + 1;
}

/** Whether an odd number of backslashes stands before an index; `start` is known to stand after a whole character. */
function isEscaped(text: string, start: number, index: number): boolean {
  let first = index;
  while (first > start && text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (index - first) % 2 === 1;
}

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const SHORT_STRING_LENGTH = 96;

/** The members of all objects in a value; not a number if it is nested deeper than `levels`, so that no count equals it. */
function countMembers(value: unknown, levels: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (levels === 0) return Number.NaN;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countMembers(item, levels - 1);
    return count;
  }
  const object = value as { readonly [key: string]: unknown };
  for (const key in object) {
    const member = object[key];
    count += 1;
    if (typeof member === "object" && member !== null) count += countMembers(member, levels - 1);
  }
  return count;
}

function isWellFormedThroughout(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormedThroughout);
  return Object.entries(value).every(([key, member]) => key.isWellFormed() && isWellFormedThroughout(member));
}
