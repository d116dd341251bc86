/**
 * Lines of format 4: one text line of a session file to what it says, and back (spec §1.7).
 *
 * The file.
 *
 *     file    = header LF *( line LF ) [ torn ]
 *     header  = {"v":4,"kind":"header","id":…,"storageVersion":…,"createdAt":…, …}      the metadata
 *               and, in a file that took rows from elsewhere, "timesKeptThroughSeq":…
 *     line    = write                       a transaction of one write
 *             | [ write , … ]               a transaction of several, in their order
 *     write   = {"kind":"entry","seq":…,"timestamp":…,"id":…,"parentId":…,"type":…, …}  the entry
 *             | {"kind":"usage","seq":…,"id":…,"usage":…,"adjustment":…, …}             the row
 *             | {"kind":"register","op":"set","seq":…,"namespace":…,"key":…,"value":…}
 *             | {"kind":"register","op":"delete","seq":…,"namespace":…,"key":…}
 *
 * UTF-8 without a byte order mark. LF (byte 0x0A) ends a line and is the only thing that does: CR, U+2028 and U+2029
 * separate nothing. Inside strings the last two are data; CR is data only in its escaped form.
 *
 * A transaction is in the file if and only if its whole line is, the LF included. What follows the last LF is a torn
 * tail, whatever its bytes: it is no part of the session. Every line before it must be valid, as `decodeLine` and
 * `replay.ts` say, or the file is corrupt.
 *
 * The times of entries never fall from line to line. Imported entries keep their own times, which may; a file that
 * was written as a whole says in its header up to which seq that is so.
 *
 * The value of a register is raw JSON here, at every storage version: sessions of an older version hold superseded
 * shapes until they are migrated, and superseded lines stay in a file until it is compacted (spec §7.3).
 *
 * This file knows single lines; what holds between lines (order, ids, parents) is in `replay.ts`.
 */
import { admitJson, isCount, isRecord, JSON_DEPTH_MAX, NotJson } from "../../foundation/index.ts";
import type {
  Entry,
  Register,
  RegisterNamespace,
  RegisterValues,
  UsageRow,
  Write,
} from "../../model/index.ts";
import { entryFormIssue, registerFormIssue, usageFormIssue } from "../admission.ts";
import type { SessionMetadata } from "../contract.ts";
import { metadataIssue } from "../creation.ts";
import { StoredEntry, StoredRegister, StoredUsage, type StoredWrite, storedDelete } from "../stored-write.ts";

/** The version that every header of this format carries. */
const JSONL_FORMAT = 4;

/** Why a file is corrupt. Each is the `reason` of a `Corruption`. */
export type JsonlCorruptionReason =
  /** The file has no complete first line. */
  | "no_header"
  /** The first line is no header of format 4, or its metadata is wrong. */
  | "bad_header"
  /** The file starts with a byte order mark. */
  | "byte_order_mark"
  /** A line has bytes that are no UTF-8. */
  | "not_utf8"
  /** A line has a raw CR, as editors and transfers of text add. */
  | "carriage_return"
  /** A line is no JSON; an empty line is none. */
  | "not_json"
  /** A line holds a value that no writer can have written: an infinite number, -0, a lone surrogate, too many levels. */
  | "outside_json_domain"
  /** A line is an array without writes. */
  | "empty_transaction"
  /** A write has not the form of one. */
  | "malformed_write"
  /** A seq is not above the one before it. */
  | "seq_not_rising"
  /** The time of an entry falls behind an earlier one's. */
  | "timestamp_falls"
  /** Entries of one transaction differ in time. */
  | "timestamp_differs"
  /** An id is written twice; entries and usage rows share one namespace of ids. */
  | "duplicate_id"
  /** An entry names a parent that is not before it. */
  | "missing_parent"
  /** With a usage row the sum of the ledger exceeds what a number holds. */
  | "sum_too_large";

/** A line that no correct writer can have written. `replay.ts` adds the place and makes it a `Corruption`. */
export class LineRefusal extends Error {
  override readonly name = "LineRefusal";
  readonly reason: JsonlCorruptionReason;

  constructor(reason: JsonlCorruptionReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** What a header line says. */
export interface Header {
  readonly metadata: SessionMetadata;
  /** Entries up to this seq were taken from elsewhere with their times, which may fall; 0 in most files. */
  readonly timesKeptThroughSeq: number;
}

/** The header line, with its LF. */
export function encodeHeader(metadata: SessionMetadata, timesKeptThroughSeq = 0): string {
  const kept = timesKeptThroughSeq === 0 ? {} : { timesKeptThroughSeq };
  return `${JSON.stringify({ v: JSONL_FORMAT, kind: "header", ...metadata, ...kept })}\n`;
}

/** A transaction as it goes into the file, and as it goes into the tables. */
export interface EncodedTransaction {
  /** With its LF: an object for one write, an array for several. */
  readonly line: string;
  /** Held as the text that is in the line. */
  readonly stored: StoredWrite[];
  /** The text of each write, as it stands in the line. */
  readonly parts: readonly string[];
}

/** The line of a transaction: seq from `firstSeq` on, one time (Unix ms) for all. Of the writes nothing is kept. */
export function encodeTransaction(
  writes: readonly Write[],
  firstSeq: number,
  timestamp: number,
): EncodedTransaction {
  const stored: StoredWrite[] = [];
  const parts: string[] = [];
  let text = "";
  for (let index = 0; index < writes.length; index++) {
    const write = storeAsText(writes[index] as Write, firstSeq + index, timestamp);
    const part = encodeStored(write);
    if (index > 0) text += ",";
    text += part;
    stored.push(write);
    parts.push(part);
  }
  return { line: writes.length === 1 ? `${text}\n` : `[${text}]\n`, stored, parts };
}

/** A stored write, as it stands in a line. */
export function encodeStored(write: StoredWrite): string {
  switch (write.kind) {
    case "entry":
      return `{"kind":"entry","seq":${write.seq},"timestamp":${write.timestamp},${write.draftText.slice(1)}`;
    case "usage":
      return `{"kind":"usage","seq":${write.seq},${write.draftText.slice(1)}`;
    case "set":
      return `{"kind":"register","op":"set",${placeOf(write)},"value":${write.draftText}}`;
    case "delete":
      return `{"kind":"register","op":"delete",${placeOf(write)}}`;
  }
}

/** What a header line says. @throws LineRefusal */
export function decodeHeader(text: string): Header {
  const header = parse(text);
  if (!isRecord(header) || header.kind !== "header") {
    throw new LineRefusal("bad_header", 'the first line of a session is an object of the kind "header"');
  }
  if (header.v !== JSONL_FORMAT) {
    throw new LineRefusal(
      "bad_header",
      `the header says format ${JSON.stringify(header.v)}, and this reads format ${JSONL_FORMAT}; import the session first`,
    );
  }
  const { v: _v, kind: _kind, timesKeptThroughSeq = 0, ...metadata } = header;
  const issue = metadataIssue(metadata);
  if (issue !== undefined) throw new LineRefusal("bad_header", `in the header, ${issue}`);
  if (!isCount(timesKeptThroughSeq)) {
    throw new LineRefusal(
      "bad_header",
      "in the header, timesKeptThroughSeq is a whole number from 0 or absent",
    );
  }
  return { metadata: inDomain(metadata) as unknown as SessionMetadata, timesKeptThroughSeq };
}

/** The writes of a line, in their order. Their rows are not frozen. @throws LineRefusal */
export function decodeLine(text: string): StoredWrite[] {
  const line = parse(text);
  // Either may spell what no writer spells; what exactly is wrong, and where, is for admission to say.
  if (isOutsideDomain(line) || hasEscapedSurrogate(text)) inDomain(line);
  if (!Array.isArray(line)) return [decodeWrite(line)];
  if (line.length === 0) throw new LineRefusal("empty_transaction", "a transaction has at least one write");
  return line.map(decodeWrite);
}

/**
 * Whether a decoded value holds what JSON text can spell and no writer writes: a number that overflows, -0, or a node at
 * more levels than admission allows, below which no reader follows.
 */
function isOutsideDomain(value: unknown, levelsLeft = JSON_DEPTH_MAX): boolean {
  if (typeof value === "number") return value - value !== 0 || (value === 0 && 1 / value < 0);
  if (typeof value !== "object" || value === null) return false;
  if (levelsLeft < 0) return true;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      if (isOutsideDomain(value[index], levelsLeft - 1)) return true;
    }
    return false;
  }
  for (const key in value) {
    if (isOutsideDomain((value as Record<string, unknown>)[key], levelsLeft - 1)) return true;
  }
  return false;
}

/** Whether a text may spell a lone surrogate. In UTF-8 it can only be spelled with an escape. */
function hasEscapedSurrogate(text: string): boolean {
  return text.includes("\\u") && ESCAPED_SURROGATE.test(text);
}

const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F]/;

function inDomain<T>(value: T): T {
  try {
    return admitJson(value);
  } catch (error) {
    if (error instanceof NotJson) throw new LineRefusal("outside_json_domain", error.message);
    throw error;
  }
}

function storeAsText(write: Write, seq: number, timestamp: number): StoredWrite {
  switch (write.kind) {
    case "entry":
      return new StoredEntry(write.entry, seq, timestamp, { text: JSON.stringify(write.entry) });
    case "usage":
      return new StoredUsage(write.row, seq, { text: JSON.stringify(write.row) });
    case "register":
      if (write.op === "delete") return storedDelete(write, seq);
      return new StoredRegister(write, seq, { text: JSON.stringify(write.value) });
  }
}

function placeOf({ seq, namespace, key }: { seq: number; namespace: string; key: string }): string {
  return `"seq":${seq},"namespace":"${namespace}","key":${JSON.stringify(key)}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new LineRefusal("not_json", `the line is no JSON: ${(error as Error).message}`);
  }
}

function decodeWrite(write: unknown): StoredWrite {
  if (!isRecord(write)) throw malformed("a write is an object");
  const { kind, seq } = write;
  if (!isCount(seq, 1)) throw malformed("the seq of a write is a whole number from 1");
  switch (kind) {
    case "entry": {
      if (!isCount(write.timestamp)) {
        throw malformed("the timestamp of an entry is a whole number from 0, Unix ms");
      }
      refuseIssue(entryFormIssue(write));
      const loose = write as unknown as Entry;
      return new StoredEntry(loose, seq, loose.timestamp, { loose });
    }
    case "usage": {
      refuseIssue(usageFormIssue(write));
      const loose = write as unknown as UsageRow;
      return new StoredUsage(loose, seq, { loose });
    }
    case "register": {
      refuseIssue(registerFormIssue(write));
      const namespace = write.namespace as RegisterNamespace;
      const key = write.key as string;
      const isSet = write.op === "set";
      if (countKeys(write) !== (isSet ? SET_KEY_COUNT : DELETE_KEY_COUNT)) {
        throw malformed(`a register ${write.op} has no keys beside those of the format`);
      }
      if (!isSet) return storedDelete({ namespace, key }, seq);
      const loose: Register = {
        namespace,
        key,
        value: write.value as RegisterValues[RegisterNamespace],
        seq,
      };
      return new StoredRegister(loose, seq, { loose });
    }
    default:
      throw malformed("the kind of a write is entry, usage or register");
  }
}

/** kind, op, seq, namespace, key; a set has a value too. */
const DELETE_KEY_COUNT = 5;
const SET_KEY_COUNT = 6;

function countKeys(value: object): number {
  let count = 0;
  for (const _key in value) count += 1;
  return count;
}

function refuseIssue(issue: string | undefined): void {
  if (issue !== undefined) throw malformed(issue);
}

function malformed(message: string): LineRefusal {
  return new LineRefusal("malformed_write", message);
}
