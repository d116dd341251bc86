/**
 * The dump: everything durable of one session, in one fixed order. Canonical views are made from it, so two stores
 * of one session dump equal values whatever their medium.
 */
import { addUsage, type Entry, type Register, type UsageRow, zeroUsage } from "../model/index.ts";
import type { EntryScan, SessionMetadata, SessionStats } from "./contract.ts";
import { hasType, scanRange } from "./ranges.ts";

/** All durable state of one session. Values are the store's own frozen ones, or copies; never shared mutable. */
export interface SessionDump {
  readonly metadata: SessionMetadata;
  /** By seq. */
  readonly entries: readonly Entry[];
  /** By namespace (UTF-16 code units), then by seq. */
  readonly registers: readonly Register[];
  /** By seq. */
  readonly usage: readonly UsageRow[];
  readonly stats: SessionStats;
}

/** What a session starts with instead of the initial registers: rows of another, with their seqs and times. */
export type SessionContents = Pick<SessionDump, "entries" | "registers" | "usage">;

/** The totals that rows add up to. */
export function totalsOf({ entries, usage }: Pick<SessionContents, "entries" | "usage">): SessionStats {
  return {
    messageCount: entries.filter((entry) => entry.type === "message").length,
    usage: usage.reduce((sum, row) => addUsage(sum, row.usage), zeroUsage()),
  };
}

/** The highest seq of some rows; 0 without any. */
export function lastSeqOf(rows: Iterable<{ readonly seq: number }>): number {
  let last = 0;
  for (const { seq } of rows) last = Math.max(last, seq);
  return last;
}

/** `scanEntries` of the contract, over a dump. */
export function scanDumpedEntries({ entries }: Pick<SessionDump, "entries">, query: EntryScan): Entry[] {
  return scanRange(entries, query, (entry) => hasType(entry, query));
}

/** The order of registers in a dump. */
export function byNamespaceThenSeq(left: Register, right: Register): number {
  if (left.namespace !== right.namespace) return left.namespace < right.namespace ? -1 : 1;
  return left.seq - right.seq;
}
