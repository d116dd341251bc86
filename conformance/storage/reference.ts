/**
 * The reference: what a session must hold after a list of transactions, worked out from the contract in the plainest
 * way. It shares no code with any store, keeps everything in arrays, and sorts and filters anew for every question.
 */
import {
  addUsage,
  type CommitResult,
  type Entry,
  type EntryStructure,
  type Register,
  type RegisterNamespace,
  type UsageRow,
  type Write,
  zeroUsage,
} from "../../src/model/index.ts";
import type { BranchScan, EntryScan, SessionStats, UsageScan } from "../../src/storage/index.ts";

/** The expected contents of one session. */
export class Reference {
  readonly entries: Entry[] = [];
  readonly usage: UsageRow[] = [];
  /** The seq of the last write before the suite's own: a new session may have registers from its creation. */
  readonly baseSeq: number;
  #registers: Register[];
  #lastSeq: number;
  #lastTimestamp = 0;

  /** @param created the registers of the session as it was created; their writes are its first ones (spec §2.8). */
  constructor(created: readonly Register[]) {
    this.#registers = [...created];
    this.baseSeq = Math.max(0, ...created.map(({ seq }) => seq));
    this.#lastSeq = this.baseSeq;
  }

  /** Applies writes that the contract admits, at a clock time; answers what the store must answer. */
  apply(writes: readonly Write[], nowMs: number): CommitResult {
    const timestamp = Math.max(nowMs, this.#lastTimestamp);
    this.#lastTimestamp = timestamp;
    const firstSeq = this.#lastSeq + 1;
    for (const write of writes) this.#applyOne(structuredClone(write), timestamp);
    return { firstSeq, seqs: writes.map((_, index) => firstSeq + index), timestamp };
  }

  #applyOne(write: Write, timestamp: number): void {
    this.#lastSeq++;
    const seq = this.#lastSeq;
    if (write.kind === "entry") this.entries.push({ ...write.entry, seq, timestamp });
    else if (write.kind === "usage") this.usage.push({ ...write.row, seq });
    else {
      const { namespace, key } = write;
      this.#registers = this.#registers.filter((old) => old.namespace !== namespace || old.key !== key);
      if (write.op === "set") this.#registers.push({ namespace, key, value: write.value, seq });
    }
  }

  registers(namespace: RegisterNamespace, keyPrefix = ""): Register[] {
    return this.#registers
      .filter((register) => register.namespace === namespace && register.key.startsWith(keyPrefix))
      .sort((left, right) => (left.key < right.key ? -1 : 1));
  }

  /** In the order of spec §2.5: path, order, stop, filter, cursor, limit. */
  scanBranch(query: BranchScan): Entry[] {
    let path = this.#pathToRoot(query.start);
    const isOldestFirst = query.order === "oldestFirst";
    if (isOldestFirst) path.reverse();
    const stop = path.findIndex(({ id, type }) => id === query.stopAtId || type === query.stopAtType);
    if (stop >= 0) path = path.slice(0, stop + 1);
    const { cursor } = query;
    return path
      .filter((entry) => fits(entry, query))
      .filter(({ seq }) => cursor === undefined || (isOldestFirst ? seq > cursor.seq : seq < cursor.seq))
      .slice(0, query.limit);
  }

  scanEntries(query: EntryScan): Entry[] {
    return ranged(this.entries, query)
      .filter((entry) => fits(entry, query))
      .slice(0, query.limit);
  }

  scanUsage(query: UsageScan): UsageRow[] {
    return ranged(this.usage, query).slice(0, query.limit);
  }

  stats(): SessionStats {
    return {
      messageCount: this.entries.filter(({ type }) => type === "message").length,
      usage: this.usage.map((row) => row.usage).reduce(addUsage, zeroUsage()),
    };
  }

  #pathToRoot(start: string): Entry[] {
    const path: Entry[] = [];
    for (let next: string | null = start; next !== null; ) {
      const entry = this.entries.find(({ id }) => id === next);
      if (entry === undefined)
        throw new Error(`the suite asked for the path of an entry that it never wrote: ${next}`);
      path.push(entry);
      next = entry.parentId;
    }
    return path;
  }
}

/** An entry without its payload (spec §1.5). */
export function structureOf(entry: Entry): EntryStructure {
  const { id, parentId, seq, timestamp, type } = entry;
  const structure = { id, parentId, seq, timestamp, type };
  return entry.type === "custom" ? { ...structure, customType: entry.customType } : structure;
}

function fits(entry: Entry, { type, customType }: Pick<EntryScan, "type" | "customType">): boolean {
  if (type !== undefined && entry.type !== type) return false;
  return customType === undefined || (entry.type === "custom" && entry.customType === customType);
}

function ranged<Row extends { seq: number }>(rows: readonly Row[], query: UsageScan): Row[] {
  const { fromSeq = 0, toSeq = Number.POSITIVE_INFINITY, order } = query;
  const kept = rows.filter(({ seq }) => seq >= fromSeq && seq <= toSeq);
  return order === "desc" ? kept.reverse() : kept;
}
