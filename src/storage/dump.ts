/**
 * The dump: everything durable of one session, in one fixed order. Canonical views are made from it, so two stores
 * of one session dump equal values whatever their medium.
 */
import type { Entry, Register, UsageRow } from "../model/index.ts";
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

/** `scanEntries` of the contract, over a dump. */
export function scanDumpedEntries({ entries }: Pick<SessionDump, "entries">, query: EntryScan): Entry[] {
  return scanRange(entries, query, (entry) => hasType(entry, query));
}

/** The order of registers in a dump. */
export function byNamespaceThenSeq(left: Register, right: Register): number {
  if (left.namespace !== right.namespace) return left.namespace < right.namespace ? -1 : 1;
  return left.seq - right.seq;
}
