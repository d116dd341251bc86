/**
 * The tables: the whole state of one session in memory (spec §1.7, Memory). The Memory store is these tables; the
 * JSONL store is these tables and a file from which they can be made again.
 *
 * Invariants.
 * 1. Checking and applying are apart: what `checkIds` (admission) let through, `apply` applies without a way to
 *    fail, so that a transaction is never half in the tables.
 * 2. Rows are never changed in place. Copies of the tables share the stored rows, and nothing else.
 * 3. Applying a write costs the same however many rows there are (amortized, as maps and arrays grow).
 * 4. Rows come in rising seq, so the order of arrival is the order of seq.
 *
 * Two projections are kept with the rows, because their queries must not add up a session: the count of message
 * entries and the sum of the ledger (spec §1.6). A map of children, which the specification sketches, is left out:
 * no query of the contract walks downward.
 *
 * The queries over the tables stand in `queries.ts`.
 */
import {
  addUsage,
  REGISTER_NAMESPACES,
  type RegisterNamespace,
  type Usage,
  zeroUsage,
} from "../model/index.ts";
import type { IdLookup } from "./admission.ts";
import { RegisterTable } from "./register-table.ts";
import type { StoredDelete, StoredEntry, StoredRegister, StoredUsage, StoredWrite } from "./stored-write.ts";

/** The rows of one session and what is kept over them. */
export class Tables implements IdLookup {
  /** By seq. */
  readonly entryOrder: StoredEntry[];
  /** By seq. */
  readonly usageOrder: StoredUsage[];
  /** Entries and usage rows share one namespace of ids. */
  readonly #byId: Map<string, StoredEntry | StoredUsage>;
  readonly #registers: Map<RegisterNamespace, RegisterTable>;
  #messageCount = 0;
  #newestEntryTimestamp = 0;
  #usageSum: Usage = zeroUsage();
  #nextSeq = 1;
  #lastDelete: StoredDelete | undefined;

  constructor(source?: Tables) {
    this.entryOrder = source?.entryOrder.slice() ?? [];
    this.usageOrder = source?.usageOrder.slice() ?? [];
    this.#byId = new Map(source === undefined ? undefined : source.#byId);
    this.#registers = new Map(
      REGISTER_NAMESPACES.map((namespace) => [
        namespace,
        source?.registers(namespace).copy() ?? new RegisterTable(),
      ]),
    );
    if (source === undefined) return;
    this.#messageCount = source.#messageCount;
    this.#newestEntryTimestamp = source.#newestEntryTimestamp;
    this.#usageSum = source.#usageSum;
    this.#nextSeq = source.#nextSeq;
    this.#lastDelete = source.#lastDelete;
  }

  /** The seq that the next write takes. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** The highest time of an entry, Unix ms; 0 without entries. No entry that is committed later falls behind it. */
  get newestEntryTimestamp(): number {
    return this.#newestEntryTimestamp;
  }

  /** Message entries. */
  get messageCount(): number {
    return this.#messageCount;
  }

  /** The sum of the ledger. Never changed in place: a new row makes a new sum. */
  get usageSum(): Usage {
    return this.#usageSum;
  }

  /** The newest write, if it was a delete: it holds a seq that no row shows. */
  get lastDelete(): StoredDelete | undefined {
    return this.#lastDelete;
  }

  /** The entry that has the id. */
  entry(id: string): StoredEntry | undefined {
    const row = this.#byId.get(id);
    return row?.kind === "entry" ? row : undefined;
  }

  /** Whether an entry or a usage row has the id. */
  hasId(id: string): boolean {
    return this.#byId.has(id);
  }

  hasEntry(id: string): boolean {
    return this.#byId.get(id)?.kind === "entry";
  }

  /** The registers of a namespace. */
  registers(namespace: RegisterNamespace): RegisterTable {
    const table = this.#registers.get(namespace);
    if (table === undefined) throw new Error(`${namespace} is no namespace of registers (spec §1.3)`);
    return table;
  }

  /** All registers, in no promised order. */
  allRegisters(): StoredRegister[] {
    return REGISTER_NAMESPACES.flatMap((namespace) => this.registers(namespace).all());
  }

  /** Applies checked writes in their order. */
  apply(writes: readonly StoredWrite[]): void {
    for (const write of writes) this.applyOne(write);
  }

  /** Applies one checked write. */
  applyOne(write: StoredWrite): void {
    this.#nextSeq = write.seq + 1;
    this.#lastDelete = undefined;
    switch (write.kind) {
      case "entry":
        this.#byId.set(write.id, write);
        this.entryOrder.push(write);
        if (write.timestamp > this.#newestEntryTimestamp) this.#newestEntryTimestamp = write.timestamp;
        if (write.type === "message") this.#messageCount += 1;
        return;
      case "usage":
        this.#byId.set(write.id, write);
        this.usageOrder.push(write);
        this.#usageSum = addUsage(this.#usageSum, write.amounts);
        return;
      case "set":
        this.registers(write.namespace).set(write);
        return;
      case "delete":
        this.registers(write.namespace).delete(write.key);
        this.#lastDelete = write;
    }
  }
}
