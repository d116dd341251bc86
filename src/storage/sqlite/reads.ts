/**
 * The reads of a session that are not scans of a branch (spec §1.5). Each is one index range or key look-up.
 *
 * Text that is not well-formed can be in no row, because admission refuses it; it is answered here, since SQLite
 * would bind a lone surrogate as U+FFFD and could find another row under it.
 */
import { Corruption } from "../../foundation/index.ts";
import type { Entry, Register, RegisterNamespace, UsageRow } from "../../model/index.ts";
import type { EntryScan, UsageScan } from "../contract.ts";
import { rowsAtMost } from "../ranges.ts";
import type { Connection } from "./connection.ts";
import {
  decodeEntry,
  decodeRegister,
  decodeSession,
  decodeUsageRow,
  ENTRY_COLUMNS,
  REGISTER_COLUMNS,
  SESSION_COLUMNS,
  type SessionRow,
  USAGE_COLUMNS,
} from "./rows.ts";

/** In the order of `ids`. */
export function getEntries(connection: Connection, ids: readonly string[]): Map<string, Entry> {
  const rows = new Map<string, unknown[]>();
  const wanted = ids.filter((id) => id.isWellFormed());
  for (let from = 0; from < wanted.length; from += IDS_PER_READ) {
    const part = wanted.slice(from, from + IDS_PER_READ);
    // A short part repeats its last id: one statement serves every size, and IN counts no id twice.
    const padding = Array<string | undefined>(IDS_PER_READ - part.length).fill(part.at(-1));
    for (const row of connection.statement(ENTRIES_BY_ID).all(...part, ...padding)) {
      rows.set(row[0] as string, row);
    }
  }
  const entries = new Map<string, Entry>();
  for (const id of wanted) {
    const row = rows.get(id);
    if (row !== undefined) entries.set(id, decodeEntry(row, connection));
  }
  return entries;
}

export function getRegister<N extends RegisterNamespace>(
  connection: Connection,
  namespace: N,
  key: string,
): Register<N> | undefined {
  if (!key.isWellFormed()) return undefined;
  const row = connection.statement(REGISTER_BY_KEY).get(namespace, key);
  return row === undefined ? undefined : decodeRegister(namespace, row, connection);
}

/** Sorted here, because SQLite orders text by UTF-8 bytes and the contract by UTF-16 code units. */
export function listRegisters<N extends RegisterNamespace>(
  connection: Connection,
  namespace: N,
  keyPrefix = "",
): Register<N>[] {
  const bytePrefix = keyPrefix.isWellFormed() ? keyPrefix : wellFormedPart(keyPrefix);
  const above = successor(bytePrefix);
  const rows =
    above === undefined
      ? connection.statement(REGISTERS_FROM).all(namespace, bytePrefix)
      : connection.statement(REGISTERS_BETWEEN).all(namespace, bytePrefix, above);
  return rows
    .map((row) => decodeRegister(namespace, row, connection))
    .filter((register) => register.key.startsWith(keyPrefix))
    .sort((left, right) => (left.key < right.key ? -1 : 1));
}

export function scanEntries(connection: Connection, query: EntryScan): Entry[] {
  const type = query.customType === undefined ? query.type : "custom";
  if (query.customType !== undefined && query.type !== undefined && query.type !== "custom") return [];
  if (query.customType?.isWellFormed() === false) return [];
  const filter = query.customType !== undefined ? "customType" : type !== undefined ? "type" : "none";
  const filters = [type, query.customType].filter((value) => value !== undefined);
  const rows = connection
    .statement(ENTRY_SCANS[query.order ?? "asc"][filter])
    .all(...seqRange(query), ...filters, rowsAtMost(query.limit));
  return rows.map((row) => decodeEntry(row, connection));
}

export function scanUsage(connection: Connection, query: UsageScan): UsageRow[] {
  const rows = connection
    .statement(USAGE_SCANS[query.order ?? "asc"])
    .all(...seqRange(query), rowsAtMost(query.limit));
  return rows.map((row) => decodeUsageRow(row, connection));
}

/** The session's own row. @throws Corruption `session_missing`. */
export function readSession(connection: Connection): SessionRow {
  const row = connection.statement(SESSION_ROW).get();
  if (row === undefined) {
    throw new Corruption("session_missing", "there is no session row", connection.place("session"));
  }
  return decodeSession(row, connection);
}

/** The time of the newest entry, Unix ms; 0 when there is none. */
export function newestTimestamp(connection: Connection): number {
  const row = connection.statement(NEWEST_TIMESTAMP).get(Number.MAX_SAFE_INTEGER);
  return row === undefined ? 0 : (row[0] as number);
}

function seqRange({ fromSeq, toSeq }: UsageScan): [number, number] {
  return [fromSeq ?? 0, toSeq ?? Number.MAX_SAFE_INTEGER];
}

/** The longest start of a text that SQLite can bind unchanged. */
function wellFormedPart(text: string): string {
  let length = text.length;
  while (!text.slice(0, length).isWellFormed()) length -= 1;
  return text.slice(0, length);
}

/** The least text above all that start with `prefix`, by UTF-8 bytes; undefined when there is none. */
function successor(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === CODE_POINT_MAX) continue;
    // The code points of surrogates encode to nothing; the next one after them is U+E000.
    points.push(last + 1 === SURROGATES_FROM ? SURROGATES_TO + 1 : last + 1);
    return String.fromCodePoint(...points);
  }
  return undefined;
}

const CODE_POINT_MAX = 0x10ffff;
const SURROGATES_FROM = 0xd800;
const SURROGATES_TO = 0xdfff;

const IDS_PER_READ = 16;
const ENTRIES_BY_ID = `SELECT ${ENTRY_COLUMNS} FROM entries WHERE id IN (${Array(IDS_PER_READ).fill("?").join(", ")})`;
const REGISTER_BY_KEY = `SELECT ${REGISTER_COLUMNS} FROM registers WHERE namespace = ? AND key = ?`;
const REGISTERS_FROM = `SELECT ${REGISTER_COLUMNS} FROM registers WHERE namespace = ? AND key >= ?`;
const REGISTERS_BETWEEN = `${REGISTERS_FROM} AND key < ?`;
const SESSION_ROW = `SELECT ${SESSION_COLUMNS} FROM session WHERE rowid = 1`;
const NEWEST_TIMESTAMP = "SELECT timestamp FROM entries WHERE seq <= ? ORDER BY seq DESC LIMIT 1";

const ENTRY_SCAN = `SELECT ${ENTRY_COLUMNS} FROM entries WHERE seq >= ? AND seq <= ?`;
const entryScans = (order: string) => ({
  none: `${ENTRY_SCAN} ORDER BY seq ${order} LIMIT ?`,
  type: `${ENTRY_SCAN} AND type = ? ORDER BY seq ${order} LIMIT ?`,
  customType: `${ENTRY_SCAN} AND type = ? AND custom_type = ? ORDER BY seq ${order} LIMIT ?`,
});
const ENTRY_SCANS = { asc: entryScans("ASC"), desc: entryScans("DESC") };
const usageScan = (order: string) =>
  `SELECT ${USAGE_COLUMNS} FROM usage_ledger WHERE seq >= ? AND seq <= ? ORDER BY seq ${order} LIMIT ?`;
const USAGE_SCANS = { asc: usageScan("ASC"), desc: usageScan("DESC") };

/** Every read of this file, for the guard over query plans. */
export const SESSION_READS = [
  ENTRIES_BY_ID,
  REGISTER_BY_KEY,
  REGISTERS_FROM,
  REGISTERS_BETWEEN,
  SESSION_ROW,
  NEWEST_TIMESTAMP,
  ...Object.values(ENTRY_SCANS.asc),
  ...Object.values(ENTRY_SCANS.desc),
  USAGE_SCANS.asc,
  USAGE_SCANS.desc,
] as const;
