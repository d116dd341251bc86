/**
 * Is the branch index what the entries say (spec §2.6)? It is a cache that no read doubts, so damage in it shows as a
 * wrong or refused path, and only a rebuild heals it (`SqliteStorage.rebuildBranchIndex`).
 *
 * Each row is held against its entry, and against the row before it on its chain, which must be the entry's parent. By
 * induction every chain is then the path to the root, and the whole costs one pass over the rows.
 */
import type { Connection } from "./connection.ts";

/** What is wrong, in sentences; at most `faultsMax` of them. Empty for an index that agrees with the entries. */
export function branchIndexFaults(connection: Connection, faultsMax = 10): string[] {
  const faults: string[] = [];
  for (const find of [rowFaults, missingRows, tipFaults]) {
    for (const fault of find(connection)) {
      faults.push(fault);
      if (faults.length === faultsMax) return faults;
    }
  }
  return faults;
}

interface Segment {
  readonly baseBranchId: string | null;
  readonly baseSeq: number | null;
}

function* rowFaults(connection: Connection): Generator<string> {
  const segments = segmentsOf(connection);
  let branchId: string | undefined;
  /** The entry of the row before on the chain; null at the root, undefined where the chain is broken. */
  let before: string | null | undefined;
  for (const row of connection.statement(ROWS).all()) {
    const [branch, entryId, seq, type, parentId, entrySeq, entryType] = row as [
      string,
      string,
      number,
      string,
      string | null,
      number | null,
      string | null,
    ];
    if (branch !== branchId) {
      branchId = branch;
      const base = baseOf(connection, branch, segments.get(branch));
      if (typeof base === "string") yield base;
      before = typeof base === "string" ? undefined : base.entryId;
    }
    if (entrySeq === null) yield `segment ${branch} holds ${entryId}, which is no entry`;
    else if (entrySeq !== seq || entryType !== type) {
      yield `segment ${branch} holds ${entryId} as a ${type} with seq ${seq}, and it is a ${entryType} with ${entrySeq}`;
    } else if (before !== undefined && parentId !== before) {
      yield `in segment ${branch} entry ${entryId} follows ${before ?? "the root"}, and its parent is ${parentId ?? "the root"}`;
    }
    before = entryId;
  }
}

/** The entry that a segment stands on, or what is wrong with its base. */
function baseOf(
  connection: Connection,
  branchId: string,
  segment: Segment | undefined,
): { readonly entryId: string | null } | string {
  if (segment === undefined) return `segment ${branchId} has rows and is no segment`;
  const { baseBranchId, baseSeq } = segment;
  if (baseBranchId === null && baseSeq === null) return { entryId: null };
  if (baseBranchId === null || baseSeq === null) return `segment ${branchId} has half a base`;
  if (baseBranchId >= branchId) return `segment ${branchId} stands on ${baseBranchId}, which is not older`;
  const row = connection.statement(ROW_AT).get(baseBranchId, baseSeq);
  if (row === undefined)
    return `segment ${branchId} stands on ${baseBranchId} at ${baseSeq}, where there is no row`;
  return { entryId: row[0] as string };
}

function* missingRows(connection: Connection): Generator<string> {
  for (const [id] of connection.statement(MISSING).all() as [string][]) {
    yield `entry ${id} is in no segment`;
  }
}

function* tipFaults(connection: Connection): Generator<string> {
  for (const row of connection.statement(TIPS).all()) {
    const [branchId, tipId, tipSeq, newestId, newestSeq] = row as [
      string,
      string,
      number,
      string | null,
      number | null,
    ];
    if (newestId === tipId && newestSeq === tipSeq) continue;
    yield `segment ${branchId} has the tip ${tipId} (${tipSeq}), and its newest row is ${newestId ?? "none"}`;
  }
}

function segmentsOf(connection: Connection): ReadonlyMap<string, Segment> {
  const segments = new Map<string, Segment>();
  for (const row of connection.statement(SEGMENTS).all()) {
    const [branchId, baseBranchId, baseSeq] = row as [string, string | null, number | null];
    segments.set(branchId, { baseBranchId, baseSeq });
  }
  return segments;
}

const SEGMENTS = "SELECT branch_id, base_branch_id, base_seq FROM branch_meta";
const ROWS = `SELECT b.branch_id, b.entry_id, b.entry_seq, b.entry_type, e.parent_id, e.seq, e.type
  FROM branch_entries b LEFT JOIN entries e ON e.id = b.entry_id ORDER BY b.branch_id, b.entry_seq`;
const ROW_AT = "SELECT entry_id FROM branch_entries WHERE branch_id = ? AND entry_seq = ?";
const MISSING = `SELECT id FROM entries e
  WHERE NOT EXISTS (SELECT 1 FROM branch_entries b WHERE b.entry_id = e.id) ORDER BY seq`;
/** SQLite takes the bare column from the row that has the maximum. */
const TIPS = `SELECT m.branch_id, m.tip_entry_id, m.tip_seq, b.entry_id, max(b.entry_seq)
  FROM branch_meta m LEFT JOIN branch_entries b ON b.branch_id = m.branch_id
  GROUP BY m.branch_id ORDER BY m.branch_id`;
