/**
 * The branch index: which entries lie on the way from an entry to the root, without walking parents (spec §2.6).
 *
 * Terms. *Segment*: the rows of one `branch_id`, plus, if it has a base, the base's prefix up to `base_seq`. *Own
 * rows*: the rows that a segment holds itself, all with a seq above its `base_seq`. *Chain*: a segment, its base, the
 * base of that, down to the root; clipped at each step to what lies at or below the previous `base_seq`. *Covers*: a
 * segment covers an entry if the entry is on its chain. *Home*: of the segments that hold an entry in their own
 * rows, the oldest: the one it was appended to.
 *
 * Invariants.
 * 1. Along the chain of its home, downward from an entry, lies exactly the entry's path to the root.
 * 2. Segments are never shortened or removed; a segment that nobody appends to stays valid history.
 * 3. The id of a segment is the seq of the entry that opened it, in fixed width, so that ids sort by age and a base
 *    is always older than what stands on it.
 * 4. The cost of an append depends on neither the length of the session nor that of the branch.
 *
 * The two rules of the specification, and where they stand.
 * - A base must cover the entry that it is the base for; that some ancestor of it holds the entry is not enough. `home`
 *   answers with own rows only, and own rows are always covered.
 * - The newest compaction is searched along the whole chain, not in the newest segment alone: `#fork` walks on until
 *   it has found one.
 *
 * Where a branch has no compaction for a long way back, a fork copies `ROWS_COPIED_MAX` rows and puts the base below
 * them: the specification bounds the copy by the newest compaction interval, and a session that never compacted has
 * no such bound (contract invariant 6).
 *
 * Reads are in `branch-scan.ts`.
 */
import { Corruption } from "../../foundation/index.ts";
import type { EntryType } from "../../model/index.ts";
import type { Connection } from "./connection.ts";

/** A stretch of a chain: the own rows of one segment with `lowSeq < seq <= highSeq`. */
export interface Stretch {
  readonly branchId: string;
  readonly lowSeq: number;
  readonly highSeq: number;
}

/** Where an entry stands in the index. */
export interface BranchPosition {
  readonly branchId: string;
  readonly seq: number;
}

/** The most rows that one fork copies. */
const ROWS_COPIED_MAX = 256;

export class BranchIndex {
  readonly #connection: Connection;
  readonly #rowsCopiedMax: number;

  constructor(connection: Connection, rowsCopiedMax: number = ROWS_COPIED_MAX) {
    this.#connection = connection;
    this.#rowsCopiedMax = rowsCopiedMax;
  }

  /** Adds an entry below its parent. Runs inside the transaction that inserts the entry. */
  append(entryId: string, parentId: string | null, seq: number, type: EntryType): void {
    const tip = parentId === null ? undefined : this.#connection.statement(BRANCH_OF_TIP).get(parentId);
    if (tip !== undefined) {
      const [branchId] = tip as [string];
      this.#connection.statement(INSERT_ROW).run(branchId, entryId, seq, type);
      this.#connection.statement(MOVE_TIP).run(entryId, seq, branchId);
      return;
    }
    const branchId = branchIdOf(seq);
    const base = parentId === null ? undefined : this.#fork(parentId, branchId);
    this.#connection.statement(INSERT_ROW).run(branchId, entryId, seq, type);
    this.#connection
      .statement(INSERT_BRANCH)
      .run(branchId, entryId, seq, base?.branchId ?? null, base?.seq ?? null);
  }

  /** The home of an entry, or undefined for an entry that the index does not have. */
  home(entryId: string): BranchPosition | undefined {
    const row = this.#connection.statement(HOME_OF_ENTRY).get(entryId);
    if (row === undefined) return undefined;
    const [branchId, seq] = row as [string, number];
    return { branchId, seq };
  }

  /** The chain from a position to the root, newest stretch first. */
  *chain(from: BranchPosition): Generator<Stretch, void, undefined> {
    let { branchId, seq: highSeq } = from;
    for (;;) {
      const row = this.#connection.statement(BASE_OF_BRANCH).get(branchId);
      if (row === undefined) throw this.#broken(`segment ${branchId} is missing`, branchId);
      const [baseBranchId, baseSeq] = row as [string | null, number | null];
      if (baseBranchId === null || baseSeq === null) {
        yield { branchId, lowSeq: 0, highSeq };
        return;
      }
      yield { branchId, lowSeq: baseSeq, highSeq };
      // Invariant 3; a chain that does not get older would never end.
      if (baseBranchId >= branchId) throw this.#broken(`base ${baseBranchId} is not older`, branchId);
      branchId = baseBranchId;
      highSeq = Math.min(highSeq, baseSeq);
    }
  }

  /** The newest entry of a type in a stretch. */
  newestOfType(stretch: Stretch, type: EntryType): number | undefined {
    return this.#seqOfType(NEWEST_OF_TYPE, stretch, type);
  }

  /** The oldest entry of a type in a stretch. */
  oldestOfType(stretch: Stretch, type: EntryType): number | undefined {
    return this.#seqOfType(OLDEST_OF_TYPE, stretch, type);
  }

  /** The seq of an entry if it lies in a stretch. */
  seqInStretch({ branchId, lowSeq, highSeq }: Stretch, entryId: string): number | undefined {
    // SQLite would bind a lone surrogate as U+FFFD and could find another entry under it.
    if (!entryId.isWellFormed()) return undefined;
    const row = this.#connection.statement(SEQ_IN_BRANCH).get(branchId, entryId);
    if (row === undefined) return undefined;
    const [seq] = row as [number];
    return seq > lowSeq && seq <= highSeq ? seq : undefined;
  }

  /** Forgets everything; the caller appends all entries again, by seq. The one way to repair the index. */
  clear(): void {
    this.#connection.execute("DELETE FROM branch_entries; DELETE FROM branch_meta;");
  }

  /** Copies what a new segment needs of its past, and says what it stands on. */
  #fork(parentId: string, branchId: string): BranchPosition | undefined {
    const parent = this.home(parentId);
    if (parent === undefined) throw this.#broken(`entry ${parentId} is in no segment`, parentId);
    let rowsLeft = this.#rowsCopiedMax;
    for (const stretch of this.chain(parent)) {
      const compaction = this.newestOfType(stretch, "compaction");
      const past = compaction === undefined ? stretch : { ...stretch, lowSeq: compaction };
      const cut = this.#rowBelow(past, rowsLeft);
      rowsLeft -= this.#connection
        .statement(COPY_ROWS)
        .run(branchId, past.branchId, cut?.seq ?? past.lowSeq, past.highSeq).changes;
      // The row below the cut may be a copy itself. Standing on its home keeps chains of forks of forks short.
      if (cut !== undefined) return this.home(cut.entryId);
      if (compaction !== undefined) return { branchId: stretch.branchId, seq: compaction };
    }
    return undefined;
  }

  /** The row below the newest `rowCount` rows of a stretch, if it has more than that. */
  #rowBelow({ branchId, lowSeq, highSeq }: Stretch, rowCount: number) {
    const row = this.#connection.statement(ROW_BELOW).get(branchId, lowSeq, highSeq, rowCount);
    return row === undefined ? undefined : { entryId: row[0] as string, seq: row[1] as number };
  }

  #seqOfType(sql: string, { branchId, lowSeq, highSeq }: Stretch, type: EntryType): number | undefined {
    const row = this.#connection.statement(sql).get(branchId, type, lowSeq, highSeq);
    return row === undefined ? undefined : (row[0] as number);
  }

  #broken(message: string, subject: string): Corruption {
    const place = this.#connection.place(`branch_meta[${subject}]`);
    return new Corruption("branch_index", `${message}; rebuild the branch index from the entries`, place);
  }
}

/** 2^53 in base 36 has eleven digits, so text order is the order of seqs. */
function branchIdOf(seq: number): string {
  return seq.toString(36).padStart(11, "0");
}

const BRANCH_OF_TIP = "SELECT branch_id FROM branch_meta WHERE tip_entry_id = ?";
const BASE_OF_BRANCH = "SELECT base_branch_id, base_seq FROM branch_meta WHERE branch_id = ?";
const INSERT_BRANCH = "INSERT INTO branch_meta VALUES (?, ?, ?, ?, ?)";
const MOVE_TIP = "UPDATE branch_meta SET tip_entry_id = ?, tip_seq = ? WHERE branch_id = ?";
const INSERT_ROW = "INSERT INTO branch_entries VALUES (?, ?, ?, ?)";
const HOME_OF_ENTRY =
  "SELECT branch_id, entry_seq FROM branch_entries WHERE entry_id = ? ORDER BY branch_id LIMIT 1";
const SEQ_IN_BRANCH = "SELECT entry_seq FROM branch_entries WHERE branch_id = ? AND entry_id = ?";
const RANGE = "branch_id = ? AND entry_seq > ? AND entry_seq <= ?";
const ROW_BELOW = `SELECT entry_id, entry_seq FROM branch_entries WHERE ${RANGE} ORDER BY entry_seq DESC LIMIT 1 OFFSET ?`;
const COPY_ROWS = `INSERT INTO branch_entries SELECT ?, entry_id, entry_seq, entry_type FROM branch_entries WHERE ${RANGE}`;
const TYPE_RANGE = "branch_id = ? AND entry_type = ? AND entry_seq > ? AND entry_seq <= ?";
const NEWEST_OF_TYPE = `SELECT entry_seq FROM branch_entries WHERE ${TYPE_RANGE} ORDER BY entry_seq DESC LIMIT 1`;
const OLDEST_OF_TYPE = `SELECT entry_seq FROM branch_entries WHERE ${TYPE_RANGE} ORDER BY entry_seq LIMIT 1`;

/** Every read that a commit makes of this index, for the guard over query plans. */
export const BRANCH_INDEX_READS = [
  BRANCH_OF_TIP,
  BASE_OF_BRANCH,
  HOME_OF_ENTRY,
  SEQ_IN_BRANCH,
  ROW_BELOW,
  COPY_ROWS,
  NEWEST_OF_TYPE,
  OLDEST_OF_TYPE,
] as const;
