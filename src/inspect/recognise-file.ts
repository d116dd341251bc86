/**
 * What a file is, from its beginning and its name. A damaged file is still called what it was: by the first line that
 * says it, wherever that stands in the beginning.
 */
import { basename } from "node:path";
import { recognise as recogniseSession } from "../session/index.ts";
import { leftoverOwner, SQLITE_SIDE_FILES } from "../storage/index.ts";

/** So many bytes of a file are enough to tell what it is. */
export const BEGINNING_BYTES = 1 << 16;

/** What a file is taken for; `other` with the reason why it is no session. */
export type Recognised =
  | { readonly kind: "jsonl_session" | "legacy_session" | "transactional_session" | "sqlite_database" }
  | { readonly kind: "journal"; readonly isCompressed: boolean }
  | { readonly kind: "leftover"; readonly owner: string }
  | { readonly kind: "side_file"; readonly owner: string }
  | { readonly kind: "lock" }
  | { readonly kind: "other"; readonly why: string };

/** See the module header. `beginning` is what the file starts with, `isWhole` whether that is all of it. */
export function recogniseFile(path: string, beginning: Buffer, isWhole: boolean): Recognised {
  const name = basename(path);
  const owner = leftoverOwner(name);
  if (owner !== undefined && /\.(jsonl|db)$/.test(owner)) return { kind: "leftover", owner };
  if (name === JOURNAL_LOCK) return { kind: "lock" };
  const suffix = SQLITE_SIDE_FILES.find((ending) => name.endsWith(ending));
  if (suffix !== undefined && isSideFile(suffix, beginning)) {
    return { kind: "side_file", owner: name.slice(0, -suffix.length) };
  }
  if (beginning.length === 0)
    return { kind: "other", why: "it is empty; a session is created whole, with its header" };
  if (beginning.toString("latin1", 0, SQLITE_MAGIC.length) === SQLITE_MAGIC)
    return { kind: "sqlite_database" };
  if (isWhole && beginning.length < SQLITE_HEADER_BYTES && name.endsWith(".db")) {
    return { kind: "other", why: "it is shorter than the header of a database" };
  }
  if (beginning.length >= 4 && beginning.readUInt32LE(0) === ZSTD_MAGIC) {
    return { kind: "journal", isCompressed: true };
  }
  return recogniseText(beginning);
}

/** What the writer of an event journal holds locked beside it. */
const JOURNAL_LOCK = "session.lock";
const SQLITE_MAGIC = "SQLite format 3\u0000";
const SQLITE_HEADER_BYTES = 100;
const ZSTD_MAGIC = 0xfd2fb528;
const WAL_MAGIC = 0x377f0682;
const ROLLBACK_JOURNAL_MAGIC = "d9d505f920a163d7";

function isSideFile(suffix: string, beginning: Buffer): boolean {
  if (beginning.length === 0) return true;
  if (beginning.length < 8) return false;
  if (suffix === "-wal") return (beginning.readUInt32BE(0) & ~1) >>> 0 === WAL_MAGIC;
  if (suffix === "-journal")
    return beginning.toString("hex", 0, 8) === ROLLBACK_JOURNAL_MAGIC || isZero(beginning);
  // The shared memory has no mark of its own, only zero bytes or a version that its first eight bytes repeat later on.
  return isZero(beginning) || beginning.readUInt32LE(0) === WAL_INDEX_VERSION;
}

const WAL_INDEX_VERSION = 3_007_000;

function isZero(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0);
}

function recogniseText(beginning: Buffer): Recognised {
  if (!isMostlyJson(beginning)) {
    if (beginning.includes(0))
      return { kind: "other", why: "it is a binary file of no kind that is known here" };
    return { kind: "other", why: "most of its lines are no JSON, as every line of a session file is" };
  }
  const first = firstObject(beginning);
  if (first !== undefined) {
    if (first.type === "session" && "delegationDepth" in first)
      return { kind: "journal", isCompressed: false };
    if (first.kind === "header" && first.v === undefined && "version" in first) {
      return { kind: "transactional_session" };
    }
  }
  const session = recogniseSession(beginning);
  if (session.kind === "format4") return { kind: "jsonl_session" };
  if (session.kind === "legacy" || session.kind === "unknown_version") return { kind: "legacy_session" };
  // A header that is gone leaves lines that only one kind of file has.
  if (MARKS.jsonl.test(beginning.toString("latin1"))) return { kind: "jsonl_session" };
  if (MARKS.transactional.test(beginning.toString("latin1"))) return { kind: "transactional_session" };
  if (beginning.includes(0))
    return { kind: "other", why: "it is a binary file of no kind that is known here" };
  return { kind: "other", why: session.kind === "other" ? session.why : "it says nothing of a session" };
}

const MARKS = {
  jsonl: /^\s*(?:\[\s*)?\{"kind":"(?:register|entry|usage)",(?:"op":"(?:set|delete)",)?"seq":\d+,/m,
  transactional: /^\s*(?:\[\s*)?\{"seq":\d+,"id":"[^"]*","timestamp":\d+,"kind":"(?:entry|record|usage)",/m,
} as const;

/** A text may quote a session file. At least half of the lines of one are objects or arrays, damaged or not. */
function isMostlyJson(beginning: Buffer): boolean {
  const lines = beginning.toString("latin1").replace(BYTE_ORDER_MARK, "").split("\n");
  const filled = lines.filter((line) => line.trim() !== "");
  return filled.filter((line) => /^\s*[[{]/.test(line)).length * 2 >= filled.length;
}

/** As single bytes. */
const BYTE_ORDER_MARK = /^\u00ef\u00bb\u00bf/;

/** The first line that is a JSON object. */
function firstObject(beginning: Buffer): Record<string, unknown> | undefined {
  for (const line of beginning
    .toString("utf8")
    .replace(/^\ufeff/, "")
    .split("\n", LINES_MAX)) {
    try {
      const value: unknown = JSON.parse(line);
      if (typeof value === "object" && value !== null && !Array.isArray(value)) {
        return value as Record<string, unknown>;
      }
    } catch {
      // Not this one.
    }
  }
  return undefined;
}

const LINES_MAX = 20;
