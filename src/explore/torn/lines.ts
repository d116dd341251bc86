/**
 * What can happen to a file of whole lines, of which the last one is the last commit. A line is a commit if and only if
 * it is whole, its line feed included; so for each damage the format itself says what must be read.
 *
 * What is behind the last line feed is no part of the session, whatever its bytes: cut off anywhere, in the middle of a
 * character too, or turned to zeros, the last commit is gone and the ones before it stand. A line that is whole and that no
 * correct writer writes is refused. Nothing is repaired.
 */
import { seededRandom } from "../../foundation/index.ts";
import type { DiskFile } from "../../subject/index.ts";
import { spread } from "../spread.ts";
import {
  type Damage,
  type DamageBudget,
  type DamageName,
  damageName,
  type Reading,
  replaced,
} from "./damage.ts";

/** A file of lines, taken apart at its last one. */
interface Lines {
  readonly before: Buffer;
  /** The last line with its line feed. */
  readonly line: Buffer;
}

/** A kind of damage. `at` is counted from the start of the last line. */
interface LineDamage {
  readonly allows: Reading;
  /** Where it can be done; absent: it has no place. */
  places?(lines: Lines, budget: DamageBudget): readonly number[];
  bytes(lines: Lines, at: number): Buffer;
}

const LF = 0x0a;
const LINE_FEED = Buffer.from([LF]);
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const LINE_SEPARATOR = Buffer.from("\u2028");

/** The kinds, in the order in which they are done. */
const LINE_DAMAGES: Readonly<Record<string, LineDamage>> = {
  /** Only the first `at` bytes of the last line are there. */
  cut: {
    allows: "previous",
    places: ({ line }, { places }) => cutPlaces(line, places),
    bytes: ({ before, line }, at) => Buffer.concat([before, line.subarray(0, at)]),
  },
  /** From `at` on the last line is zeros, as a file system leaves what was allotted and not written. */
  zeros: {
    allows: "previous",
    places: ({ line }) => [0, line.length >> 1, line.length - 1],
    bytes: ({ before, line }, at) =>
      Buffer.concat([before, line.subarray(0, at), Buffer.alloc(line.length - at)]),
  },
  /** The zeros are in the middle of the line, and its end is there. */
  hole: {
    allows: "refused",
    places: ({ line }) => [0, line.length >> 1, line.length - 2],
    bytes: ({ before, line }, at) =>
      Buffer.concat([before, line.subarray(0, at), Buffer.alloc(line.length - 1 - at), LINE_FEED]),
  },
  "zeros-after": { allows: "complete", bytes: ({ before, line }) => Buffer.concat([before, line, ZEROS]) },
  "garbage-after": {
    allows: "complete",
    bytes: ({ before, line }) => Buffer.concat([before, line, GARBAGE]),
  },
  "garbage-line": {
    allows: "refused",
    bytes: ({ before, line }) => Buffer.concat([before, line, GARBAGE, LINE_FEED]),
  },
  /** An empty line is a line, and no transaction. */
  "empty-line": { allows: "refused", bytes: ({ before, line }) => Buffer.concat([before, line, LINE_FEED]) },
  /** The last line is there twice, as after a write that was repeated. */
  doubled: { allows: "refused", bytes: ({ before, line }) => Buffer.concat([before, line, line]) },
  /** As `doubled`, and the second one is torn before its line feed. */
  "doubled-torn": {
    allows: "complete",
    bytes: ({ before, line }) => Buffer.concat([before, line, line.subarray(0, -1)]),
  },
  /** What follows `at` is there twice: a short write that was repeated from the wrong place. */
  "tail-doubled": {
    allows: "refused",
    places: ({ line }) => [1, line.length >> 1, line.length - 2],
    bytes: ({ before, line }, at) => Buffer.concat([before, line, line.subarray(at)]),
  },
  /** The last line and the one before it have changed places. */
  swapped: {
    allows: "refused",
    bytes: ({ before, line }) => {
      const from = before.lastIndexOf(LF, before.length - 2) + 1;
      return Buffer.concat([before.subarray(0, from), line, before.subarray(from)]);
    },
  },
  /** The line feed before the last line is missing. */
  fused: { allows: "refused", bytes: ({ before, line }) => Buffer.concat([before.subarray(0, -1), line]) },
  /** The last line feed became a carriage return: nothing ends the line. */
  "carriage-return": {
    allows: "previous",
    bytes: ({ before, line }) => Buffer.concat([before, line.subarray(0, -1), Buffer.from("\r")]),
  },
  /** The last line feed became a line separator, which separates nothing. */
  "line-separator": {
    allows: "previous",
    bytes: ({ before, line }) => Buffer.concat([before, line.subarray(0, -1), LINE_SEPARATOR]),
  },
  /** The last line ends as an editor for another system ends it; and so do all. */
  "last-crlf": {
    allows: "refused",
    bytes: ({ before, line }) => Buffer.concat([before, line.subarray(0, -1), Buffer.from("\r\n")]),
  },
  crlf: {
    allows: "refused",
    bytes: ({ before, line }) =>
      Buffer.from(Buffer.concat([before, line]).toString("latin1").replaceAll("\n", "\r\n"), "latin1"),
  },
  /** The first line is gone. */
  headless: {
    allows: "refused",
    bytes: ({ before, line }) => Buffer.concat([before, line]).subarray(before.indexOf(LF) + 1),
  },
  empty: { allows: "refused", bytes: () => Buffer.alloc(0) },
  "byte-order-mark": {
    allows: "refused",
    bytes: ({ before, line }) => Buffer.concat([BYTE_ORDER_MARK, before, line]),
  },
  "byte-order-mark-in-line": {
    allows: "refused",
    bytes: ({ before, line }) => Buffer.concat([before, BYTE_ORDER_MARK, line]),
  },
};

/** Where what is in a page of zeros, or left by another file, ends is up to chance. */
const ZEROS = Buffer.alloc(512);
const GARBAGE = garbage(61);

/** The damages of a file of lines within a budget. */
export function damagesOfLines(files: readonly DiskFile[], file: DiskFile, budget: DamageBudget): Damage[] {
  const lines = linesOf(file);
  return Object.entries(LINE_DAMAGES).flatMap(([kind, { places }]) => {
    const wanted: readonly (number | undefined)[] = places?.(lines, budget) ?? [undefined];
    return wanted.map((at) => made(files, file, { kind, at, bit: undefined }));
  });
}

/** The damage of a name; undefined if there is no such kind, or the file has no such place. */
export function damageOfLines(
  files: readonly DiskFile[],
  file: DiskFile,
  name: DamageName,
): Damage | undefined {
  const { kind, at, bit } = name;
  const damage = Object.hasOwn(LINE_DAMAGES, kind) ? LINE_DAMAGES[kind] : undefined;
  if (damage === undefined || bit !== undefined) return undefined;
  const hasPlace = at !== undefined && at < linesOf(file).line.length;
  return (damage.places === undefined ? at === undefined : hasPlace) ? made(files, file, name) : undefined;
}

function made(files: readonly DiskFile[], file: DiskFile, name: DamageName): Damage {
  const { kind, at } = name;
  const damage = LINE_DAMAGES[kind];
  if (damage === undefined) throw new Error(`lines have no damage ${kind}`);
  return {
    name: damageName(name),
    kind,
    allows: [damage.allows],
    contents: () => replaced(files, file.name, damage.bytes(linesOf(file), at ?? 0)),
  };
}

function linesOf({ bytes, lastCommitFrom }: DiskFile): Lines {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return { before: whole.subarray(0, lastCommitFrom), line: whole.subarray(lastCommitFrom) };
}

/**
 * Places to cut a line at, rising: after each of its bytes but the last. Of a long line, or within a budget, those where
 * something else may go wrong: beside the ends, in the middle of a character, where a member of an array is whole,
 * around pages; and others, evenly spread.
 */
export function cutPlaces(line: Uint8Array, budget: "every" | number): readonly number[] {
  const last = line.length - 1;
  if (budget === "every" && last <= LINE_BYTES_MAX) return Array.from({ length: last }, (_, at) => at + 1);
  const limit = budget === "every" ? LINE_BYTES_MAX : budget;
  const special = specialPlaces(line).filter((at) => at >= 1 && at <= last);
  const chosen = new Set(spread([...new Set(special)], Math.ceil(limit / 2)));
  for (let at = 1; at <= last && chosen.size < limit; at += Math.max(1, Math.ceil(last / limit)))
    chosen.add(at);
  return [...chosen].sort((one, other) => one - other);
}

/** Longer lines are not cut after each of their bytes; this many cuts are made of them. */
export const LINE_BYTES_MAX = 8192;

const PAGE_BYTES = 4096;

function specialPlaces(line: Uint8Array): number[] {
  const last = line.length - 1;
  const places = [last, 1, last - 1];
  const character = line.findIndex((byte) => byte >= 0xc0);
  if (character >= 0) places.push(character + 1);
  const text = Buffer.from(line.buffer, line.byteOffset, line.length);
  for (let end = text.indexOf("},{"); end >= 0 && places.length < 16; end = text.indexOf("},{", end + 1)) {
    places.push(end + 1, end + 2);
  }
  for (let page = PAGE_BYTES; page < last && places.length < 32; page += PAGE_BYTES) places.push(page);
  return places;
}

/** Bytes that are no text, and no line. */
function garbage(length: number): Buffer {
  const random = seededRandom("garbage");
  return Buffer.from(
    Array.from({ length }, () => random.nextInt(256)).map((byte) => (byte === LF ? 0xff : byte)),
  );
}
