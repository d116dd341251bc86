/**
 * The queries of the contract, answered from the tables (spec §1.5, §2.5).
 *
 * Each is a pure function of the tables as they stand. Arrays and maps that they return are made for the caller; the
 * rows in them are the store's own, deeply frozen.
 *
 * The order of a branch scan is that of the specification: the path is ordered first, then it ends at the first stop
 * in that order, then it is filtered, then the cursor counts, then the limit.
 */
import { Corruption } from "../foundation/index.ts";
import {
  type Entry,
  type EntryStructure,
  isRegisterNamespace,
  type Register,
  type RegisterNamespace,
  type UsageRow,
} from "../model/index.ts";
import {
  type BranchScan,
  type EntryScan,
  type SessionMetadata,
  type SessionStats,
  UnknownEntry,
  type UsageScan,
} from "./contract.ts";
import { byNamespaceThenSeq, type SessionDump } from "./dump.ts";
import { hasType, rowsAtMost, scanRange } from "./ranges.ts";
import type { StoredEntry } from "./stored-write.ts";
import type { Tables } from "./tables.ts";

/** The entries among `ids` that exist. */
export function findEntries(tables: Tables, ids: readonly string[]): Map<string, Entry> {
  const found = new Map<string, Entry>();
  for (const id of ids) {
    const entry = tables.entry(id);
    if (entry !== undefined) found.set(id, entry.row);
  }
  return found;
}

/** The register, or undefined. */
export function findRegister<N extends RegisterNamespace>(
  tables: Tables,
  namespace: N,
  key: string,
): Register<N> | undefined {
  if (!isRegisterNamespace(namespace)) return undefined;
  return tables.registers(namespace).get(key) as Register<N> | undefined;
}

/** The registers of a namespace under a prefix, by key. */
export function listRegisters<N extends RegisterNamespace>(
  tables: Tables,
  namespace: N,
  keyPrefix = "",
): Register<N>[] {
  if (!isRegisterNamespace(namespace)) return [];
  return tables.registers(namespace).list(keyPrefix) as Register<N>[];
}

/** The path from `start` toward the root. @throws UnknownEntry */
export function scanBranch(tables: Tables, query: BranchScan): Entry[] {
  return branchOf(tables, query).map((entry) => entry.row);
}

/** The same without payloads. @throws UnknownEntry */
export function scanBranchStructure(tables: Tables, query: BranchScan): EntryStructure[] {
  return branchOf(tables, query).map(structureOf);
}

/** All entries, by seq. */
export function scanEntries(tables: Tables, query: EntryScan): Entry[] {
  return scanRange(tables.entryOrder, query, (entry) => hasType(entry, query)).map(({ row }) => row);
}

/** The ledger, by seq. */
export function scanUsage(tables: Tables, query: UsageScan): UsageRow[] {
  return scanRange(tables.usageOrder, query, () => true).map(({ row }) => row);
}

/** The maintained totals. */
export function statsOf(tables: Tables): SessionStats {
  const usage = tables.usageSum;
  Object.freeze(usage.cost);
  return { messageCount: tables.messageCount, usage: Object.freeze(usage) };
}

/** Everything durable, in the order of a dump. */
export function dumpOf(tables: Tables, metadata: SessionMetadata): SessionDump {
  return {
    metadata,
    entries: tables.entryOrder.map((entry) => entry.row),
    registers: tables
      .allRegisters()
      .map((register) => register.row)
      .sort(byNamespaceThenSeq),
    usage: tables.usageOrder.map((usage) => usage.row),
    stats: statsOf(tables),
  };
}

function branchOf(tables: Tables, query: BranchScan): StoredEntry[] {
  const start = tables.entry(query.start);
  if (start === undefined) throw new UnknownEntry(query.start);
  const limit = rowsAtMost(query.limit);
  const found: StoredEntry[] = [];
  const isOldestFirst = query.order === "oldestFirst";
  // Newest first, the walk itself is in order and ends early. Oldest first, the order starts at the root, so the
  // whole path is needed before the first stop can be known.
  const path = isOldestFirst ? [...ancestry(tables, start)].reverse() : ancestry(tables, start);
  for (const entry of path) {
    if (found.length >= limit) break;
    if (isWithin(entry.seq, query) && hasType(entry, query)) found.push(entry);
    if (entry.type === query.stopAtType || entry.id === query.stopAtId) break;
  }
  return found;
}

function* ancestry(tables: Tables, start: StoredEntry): Generator<StoredEntry> {
  let entry: StoredEntry | undefined = start;
  while (entry !== undefined) {
    yield entry;
    const { id, parentId }: StoredEntry = entry;
    if (parentId === null) return;
    entry = tables.entry(parentId);
    if (entry === undefined) {
      throw new Corruption(
        "missing_parent",
        `entry ${id} names the parent ${parentId}, which does not exist`,
      );
    }
  }
}

function isWithin(seq: number, { cursor, order }: BranchScan): boolean {
  if (cursor === undefined) return true;
  return order === "oldestFirst" ? seq > cursor.seq : seq < cursor.seq;
}

function structureOf({ id, parentId, seq, timestamp, type, customType }: StoredEntry): EntryStructure {
  const structure: EntryStructure = { id, parentId, seq, timestamp, type };
  if (customType !== undefined) structure.customType = customType;
  return structure;
}
