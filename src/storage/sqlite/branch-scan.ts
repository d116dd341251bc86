/**
 * Scans of a branch: the path from an entry to the root, read segment by segment (spec §1.7, §2.5, §2.6).
 *
 * The order of things is that of the specification: order the path, end it at the stop, filter, apply the cursor,
 * limit. Stop, filter and cursor are ranges of seq, because seqs rise along a path; so a scan reads the rows that it
 * returns and, per segment, one or two index look-ups besides.
 *
 * Invariants.
 * 1. One JOIN per stretch, driven by `branch_entries`. CROSS JOIN forces that order: left to itself the planner may
 *    drive from `entries`, scan the table and sort.
 * 2. No scan falls back to parent pointers. An entry that the index lacks is a `Corruption` (`branch_index`).
 */
import { Corruption } from "../../foundation/index.ts";
import type { Entry, EntryStructure } from "../../model/index.ts";
import { type BranchScan, UnknownEntry } from "../contract.ts";
import { rowsAtMost } from "../ranges.ts";
import type { BranchIndex, BranchPosition, Stretch } from "./branch-index.ts";
import type { Connection } from "./connection.ts";
import { decodeEntry, decodeStructure } from "./rows.ts";

/** The entries of a branch. @throws UnknownEntry; Corruption. */
export function scanBranch(connection: Connection, index: BranchIndex, query: BranchScan): Entry[] {
  return scan(connection, index, query, "entry").map((row) => decodeEntry(row, connection));
}

/** The same without payloads. @throws UnknownEntry; Corruption. */
export function scanBranchStructure(
  connection: Connection,
  index: BranchIndex,
  query: BranchScan,
): EntryStructure[] {
  return scan(connection, index, query, "structure").map((row) => decodeStructure(row, connection));
}

/** What a scan reads of each entry, which way, and what it filters by. */
export interface BranchStatement {
  readonly columns: "entry" | "structure";
  readonly order: "newestFirst" | "oldestFirst";
  readonly filter: "none" | "type" | "customType";
}

/** The statement that reads one stretch. Parameters: branch, type if filtered, low, high, custom type if filtered, limit. */
export function branchStatement({ columns, order, filter }: BranchStatement): string {
  return `SELECT e.id, e.parent_id, e.seq, e.type, e.custom_type, e.timestamp${columns === "entry" ? ", e.payload" : ""}
FROM branch_entries b
CROSS JOIN entries e ON e.id = b.entry_id
WHERE b.branch_id = ?${filter === "none" ? "" : " AND b.entry_type = ?"} AND b.entry_seq > ? AND b.entry_seq <= ?${
    filter === "customType" ? " AND e.custom_type = ?" : ""
  }
ORDER BY b.entry_seq${order === "newestFirst" ? " DESC" : ""}
LIMIT ?`;
}

function scan(
  connection: Connection,
  index: BranchIndex,
  query: BranchScan,
  columns: BranchStatement["columns"],
): unknown[][] {
  const start = positionOf(connection, index, query.start);
  // Only custom entries have a custom type, so a filter by it is a filter by type too, and a contradiction is empty.
  const type = query.customType === undefined ? query.type : "custom";
  if (query.customType !== undefined && query.type !== undefined && query.type !== "custom") return [];
  if (query.customType?.isWellFormed() === false) return [];
  const order = query.order ?? "newestFirst";
  const filter = query.customType !== undefined ? "customType" : type !== undefined ? "type" : "none";
  const statement = connection.statement(STATEMENTS[columns][order][filter]);
  const typeParameters = type === undefined ? [] : [type];
  const customParameters = query.customType === undefined ? [] : [query.customType];
  const limit = rowsAtMost(query.limit);
  const rows: unknown[][] = [];

  /** Reads one stretch; false when the limit is reached. */
  const read = ({ branchId, lowSeq, highSeq }: Stretch): boolean => {
    if (lowSeq >= highSeq) return true;
    const rowsLeft = limit - rows.length;
    const found = statement.all(branchId, ...typeParameters, lowSeq, highSeq, ...customParameters, rowsLeft);
    for (const row of found) rows.push(row);
    return rows.length < limit;
  };
  if (limit === 0) return [];
  if (order === "newestFirst") walkDown(index, query, start, read);
  else walkUp(index, query, start, read);
  if (filter === "none") assertUnbroken(connection, rows, order);
  return rows;
}

/** Newest first: from the start down, until the newest stop. */
function walkDown(
  index: BranchIndex,
  query: BranchScan,
  start: BranchPosition,
  read: (stretch: Stretch) => boolean,
): void {
  const cursorSeq = query.cursor?.seq ?? Number.POSITIVE_INFINITY;
  for (const stretch of index.chain(start)) {
    const stopSeq = newest(
      query.stopAtType === undefined ? undefined : index.newestOfType(stretch, query.stopAtType),
      query.stopAtId === undefined ? undefined : index.seqInStretch(stretch, query.stopAtId),
    );
    const lowSeq = stopSeq === undefined ? stretch.lowSeq : stopSeq - 1;
    const highSeq = Math.min(stretch.highSeq, Math.ceil(cursorSeq) - 1);
    if (!read({ branchId: stretch.branchId, lowSeq, highSeq }) || stopSeq !== undefined) return;
  }
}

/** Oldest first: from the root up, until the oldest stop. */
function walkUp(
  index: BranchIndex,
  query: BranchScan,
  start: BranchPosition,
  read: (stretch: Stretch) => boolean,
): void {
  const cursorSeq = query.cursor?.seq ?? 0;
  const hasStop = query.stopAtType !== undefined || query.stopAtId !== undefined;
  const chain: Stretch[] = [];
  for (const stretch of index.chain(start)) {
    // Without a stop nothing below the cursor matters; with one, a stop down there ends the walk before it begins.
    if (!hasStop && stretch.highSeq <= cursorSeq) break;
    chain.push(stretch);
  }
  for (const stretch of chain.reverse()) {
    const stopSeq = oldest(
      query.stopAtType === undefined ? undefined : index.oldestOfType(stretch, query.stopAtType),
      query.stopAtId === undefined ? undefined : index.seqInStretch(stretch, query.stopAtId),
    );
    const lowSeq = Math.max(stretch.lowSeq, cursorSeq);
    const highSeq = stopSeq ?? stretch.highSeq;
    if (!read({ branchId: stretch.branchId, lowSeq, highSeq }) || stopSeq !== undefined) return;
  }
}

/** Each row's parent is its neighbour. A gap means that the index or `entries` lost a row: never an answer. */
function assertUnbroken(connection: Connection, rows: unknown[][], order: BranchStatement["order"]): void {
  const toParent = order === "newestFirst" ? 1 : -1;
  for (let at = 0; at < rows.length; at++) {
    const parent = rows[at + toParent];
    if (parent === undefined || rows[at]?.[PARENT_ID] === parent[ID]) continue;
    const place = connection.place(`entries[${String(rows[at]?.[ID])}]`);
    throw new Corruption("branch_index", "the scan did not find the parent of this entry beside it", place);
  }
}

function positionOf(connection: Connection, index: BranchIndex, entryId: string): BranchPosition {
  // SQLite would bind a lone surrogate as U+FFFD and could find another entry under it.
  if (!entryId.isWellFormed()) throw new UnknownEntry(entryId);
  const position = index.home(entryId);
  if (position !== undefined) return position;
  if (connection.statement(HAS_ENTRY).get(entryId) === undefined) throw new UnknownEntry(entryId);
  const place = connection.place(`branch_entries[${entryId}]`);
  const message = "the entry is in no segment; rebuild the branch index from the entries";
  throw new Corruption("branch_index", message, place);
}

function newest(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return Math.max(left, right);
}

function oldest(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return Math.min(left, right);
}

/** Where `ENTRY_COLUMNS` has the two. */
const ID = 0;
const PARENT_ID = 1;
const HAS_ENTRY = "SELECT 1 FROM entries WHERE id = ?";

function statementsOf(columns: BranchStatement["columns"]) {
  const ordered = (order: BranchStatement["order"]) => ({
    none: branchStatement({ columns, order, filter: "none" }),
    type: branchStatement({ columns, order, filter: "type" }),
    customType: branchStatement({ columns, order, filter: "customType" }),
  });
  return { newestFirst: ordered("newestFirst"), oldestFirst: ordered("oldestFirst") };
}

/** The twelve statements, written once, so that each finds its prepared form by identity. */
const STATEMENTS = { entry: statementsOf("entry"), structure: statementsOf("structure") };
