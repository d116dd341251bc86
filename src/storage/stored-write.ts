/**
 * Writes as they are stored: a row with the seq and, for an entry, the time that its commit assigned. They are what
 * the tables hold, what a line of a JSONL file says, and what a dump is taken apart into.
 *
 * Rows are given out deeply frozen, but they need not be frozen, nor even decoded, before someone asks for them:
 * most rows of a long session are never read again by the process that wrote or opened them. A row is held as
 *
 * - *frozen*: an admitted row, ready to be given out;
 * - *loose*: decoded from a file and known to the store alone, perhaps with the `kind` of its line still on it; made
 *   bare and frozen when first read;
 * - *text*: the JSON of its draft, as it went into a file; decoded and frozen when first read.
 *
 * What queries filter and walk by (ids, parents, types, seq, time, amounts) stands beside the row in every case.
 */
import {
  addUsage,
  type Entry,
  type EntryDraft,
  type EntryType,
  type Register,
  type RegisterNamespace,
  type RegisterSetWrite,
  type Usage,
  type UsageRow,
  type UsageRowDraft,
  type Write,
  zeroUsage,
} from "../model/index.ts";
import type { SessionContents } from "./dump.ts";

/** One stored write. */
export type StoredWrite = StoredEntry | StoredUsage | StoredRegister | StoredDelete;

/** The removal of a register. It leaves no row, but takes a seq like every write. */
export interface StoredDelete {
  readonly kind: "delete";
  readonly namespace: RegisterNamespace;
  readonly key: string;
  readonly seq: number;
}

/** How a row is held; see the header. */
type Held<Row> = { readonly frozen: Row } | { readonly loose: Row } | { readonly text: string };

abstract class Stored<Row extends object> {
  #row: Row | undefined;
  #text: string | undefined;
  #isFrozen: boolean;

  protected constructor(held: Held<Row>) {
    this.#text = "text" in held ? held.text : undefined;
    this.#row = "frozen" in held ? held.frozen : "loose" in held ? held.loose : undefined;
    this.#isFrozen = "frozen" in held;
  }

  /** The row, deeply frozen. */
  get row(): Row {
    if (this.#isFrozen && this.#row !== undefined) return this.#row;
    const row = withoutKind(this.#row ?? this.complete(JSON.parse(this.#text ?? "null")));
    deepFreeze(row);
    this.#row = row;
    this.#text = undefined;
    this.#isFrozen = true;
    return row;
  }

  /** The JSON of the row's draft, as it goes into a file. It neither decodes nor freezes the row. */
  get draftText(): string {
    return this.#text ?? JSON.stringify(this.draftOf(withoutKind(this.#row as Row)));
  }

  /** Makes a decoded draft the row, by adding what the commit assigned. */
  protected abstract complete(draft: unknown): Row;

  /** The row without what its commit assigned. */
  protected abstract draftOf(row: Row): unknown;
}

/** A stored entry, with its structure at hand. */
export class StoredEntry extends Stored<Entry> {
  readonly kind = "entry";
  readonly id: string;
  readonly parentId: string | null;
  readonly type: EntryType;
  readonly customType: string | undefined;
  readonly seq: number;
  /** Unix ms. */
  readonly timestamp: number;

  constructor(structure: EntryDraft, seq: number, timestamp: number, held: Held<Entry>) {
    super(held);
    this.id = structure.id;
    this.parentId = structure.parentId;
    this.type = structure.type;
    this.customType = structure.type === "custom" ? structure.customType : undefined;
    this.seq = seq;
    this.timestamp = timestamp;
  }

  protected override complete(draft: unknown): Entry {
    return Object.assign(draft as EntryDraft, { seq: this.seq, timestamp: this.timestamp }) as Entry;
  }

  protected override draftOf({ seq: _seq, timestamp: _timestamp, ...draft }: Entry): unknown {
    return draft;
  }
}

/** A stored row of the ledger, with its amounts at hand. */
export class StoredUsage extends Stored<UsageRow> {
  readonly kind = "usage";
  readonly id: string;
  readonly seq: number;
  /** For adding up; of the row itself or a copy of its numbers. */
  readonly amounts: Readonly<Usage>;

  constructor(draft: UsageRowDraft, seq: number, held: Held<UsageRow>) {
    super(held);
    this.id = draft.id;
    this.seq = seq;
    this.amounts = "text" in held ? addUsage(draft.usage, zeroUsage()) : draft.usage;
  }

  protected override complete(draft: unknown): UsageRow {
    return Object.assign(draft as UsageRowDraft, { seq: this.seq });
  }

  protected override draftOf({ seq: _seq, ...draft }: UsageRow): unknown {
    return draft;
  }
}

/** A stored register. */
export class StoredRegister extends Stored<Register> {
  readonly kind = "set";
  readonly namespace: RegisterNamespace;
  readonly key: string;
  readonly seq: number;

  constructor(set: { namespace: RegisterNamespace; key: string }, seq: number, held: Held<Register>) {
    super(held);
    this.namespace = set.namespace;
    this.key = set.key;
    this.seq = seq;
  }

  /** The draft of a register is its value. */
  protected override complete(value: unknown): Register {
    const { namespace, key, seq } = this;
    return { namespace, key, value: value as Register["value"], seq };
  }

  protected override draftOf(row: Register): unknown {
    return row.value;
  }
}

/** The rows of a dump as the writes that store them, by seq. They are frozen when they are first read. */
export function storedRows(rows: SessionContents): StoredWrite[] {
  const writes: StoredWrite[] = [
    ...rows.entries.map((loose) => new StoredEntry(loose, loose.seq, loose.timestamp, { loose })),
    ...rows.registers.map((loose) => new StoredRegister(loose, loose.seq, { loose })),
    ...rows.usage.map((loose) => new StoredUsage(loose, loose.seq, { loose })),
  ];
  return writes.sort((left, right) => left.seq - right.seq);
}

/**
 * Stores admitted writes, which are deeply frozen, as they are: seq from `firstSeq` on, one time (Unix ms) for all.
 */
export function storeAdmitted(writes: readonly Write[], firstSeq: number, timestamp: number): StoredWrite[] {
  let seq = firstSeq;
  return writes.map((write) => storeOne(write, seq++, timestamp));
}

function storeOne(write: Write, seq: number, timestamp: number): StoredWrite {
  switch (write.kind) {
    case "entry": {
      // What the commit assigned comes first: adding members to a spread object costs many times the spread.
      const frozen = Object.freeze({ seq, timestamp, ...write.entry }) as Entry;
      return new StoredEntry(frozen, seq, timestamp, { frozen });
    }
    case "usage": {
      const frozen = Object.freeze({ seq, ...write.row });
      return new StoredUsage(frozen, seq, { frozen });
    }
    case "register":
      return write.op === "delete" ? storedDelete(write, seq) : storeSet(write, seq);
  }
}

function storeSet({ namespace, key, value }: RegisterSetWrite, seq: number): StoredRegister {
  const frozen: Register = Object.freeze({ namespace, key, value, seq });
  return new StoredRegister(frozen, seq, { frozen });
}

/** The stored form of a register delete. */
export function storedDelete(
  { namespace, key }: { namespace: RegisterNamespace; key: string },
  seq: number,
): StoredDelete {
  return { kind: "delete", namespace, key, seq };
}

function withoutKind<Row extends object>(row: Row): Row {
  if (!("kind" in row)) return row;
  const { kind: _kind, ...bare } = row as Row & { kind: unknown };
  return bare as unknown as Row;
}

function deepFreeze(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  Object.freeze(value);
  if (Array.isArray(value)) {
    for (const item of value) deepFreeze(item);
    return;
  }
  for (const key in value) deepFreeze((value as Record<string, unknown>)[key]);
}
