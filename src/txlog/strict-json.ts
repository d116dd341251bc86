/**
 * JSON as the format reads it (spec §1): RFC 8259, and beyond what the host's parser checks, no key twice in an object
 * (compared after unescaping), no lone surrogate in keys or values, raw or escaped, and no depth that overflows.
 *
 * Method. The host parses, and of a key that comes twice it keeps one. Whether one was dropped is then proved from the
 * outside, without a second parser:
 * - The length of the shortest text of a value is known from the value. If the text has no escapes and is longer by less
 *   than a member takes, it has no room for another key. Compact writers take this road on most lines, and it never looks
 *   at the text itself. What they are longer by are round numbers, of which the shortest form has an exponent.
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
  if (text.length - shortestLength(value, DEPTH_MAX) < MEMBER_LENGTH_MIN && !text.includes("\\"))
    return ok(value);
  if (countMembers(value, DEPTH_MAX) !== countKeys(text)) return MALFORMED;
  return mayEscapeSurrogates && !isWellFormedThroughout(value) ? MALFORMED : ok(value);
}

/** Of `"":0` with its comma. */
const MEMBER_LENGTH_MIN = 5;

const MALFORMED: Result<never, "MALFORMED_JSON"> = err("MALFORMED_JSON");

/**
 * The length of the shortest text of a value whose strings need no escapes; not a number if the value is nested deeper
 * than `levels`, or holds a number that is negative or not whole.
 */
function shortestLength(value: unknown, levels: number): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value === "number") return shortestLengthOfNumber(value);
  if (typeof value === "boolean") return value ? 4 : 5;
  if (value === null) return 4;
  if (levels === 0) return Number.NaN;
  return Array.isArray(value)
    ? shortestLengthOfArray(value, levels - 1)
    : shortestLengthOfObject(value as { readonly [key: string]: unknown }, levels - 1);
}

// An empty node has two brackets; any other has one bracket and, for each member, one comma or the closing bracket.

function shortestLengthOfArray(items: readonly unknown[], levels: number): number {
  let length = 1;
  for (let index = 0; index < items.length; index++) length += shortestLength(items[index], levels) + 1;
  return length === 1 ? 2 : length;
}

function shortestLengthOfObject(object: { readonly [key: string]: unknown }, levels: number): number {
  let length = 1;
  for (const key in object) {
    const member = object[key];
    // Two quotes and a colon, and nearly every member is a string.
    const ofMember = typeof member === "string" ? member.length + 2 : shortestLength(member, levels);
    length += key.length + 3 + ofMember + 1;
  }
  return length === 1 ? 2 : length;
}

/** The characters of a whole number in its shortest form: its digits, unless an exponent stands for three zeros or more. */
function shortestLengthOfNumber(value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) return Number.NaN;
  let count = 1;
  for (let bound = 10; value >= bound; bound *= 10) count += 1;
  if (value < 1000 || value % 1000 !== 0) return count;
  let zeroCount = 3;
  for (let rest = value / 1000; rest % 10 === 0; rest /= 10) zeroCount += 1;
  return count - zeroCount + (zeroCount < 10 ? 2 : 3);
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
