/**
 * A write as it is stored: its draft with the seq and, for an entry, the time that the commit assigned. It is what
 * the tables apply, what a line of a JSONL file says, and what a dump is taken apart into.
 */
import type { Entry, Register, RegisterNamespace, UsageRow, Write } from "../model/index.ts";
import type { SessionDump } from "./dump.ts";

/** One stored write. */
export type StoredWrite =
  | { readonly kind: "entry"; readonly row: Entry }
  | { readonly kind: "usage"; readonly row: UsageRow }
  | { readonly kind: "set"; readonly row: Register }
  | StoredDelete;

/** The removal of a register. It leaves no row, but takes a seq like every write. */
export interface StoredDelete {
  readonly kind: "delete";
  readonly namespace: RegisterNamespace;
  readonly key: string;
  readonly seq: number;
}

/**
 * Gives admitted writes their seq, from `firstSeq` on, and their time (Unix ms). The rows are frozen, as their parts
 * already are.
 */
export function assignSeqs(writes: readonly Write[], firstSeq: number, timestamp: number): StoredWrite[] {
  const stored: StoredWrite[] = new Array(writes.length);
  let seq = firstSeq;
  for (let index = 0; index < writes.length; index++) {
    stored[index] = storedWriteOf(writes[index] as Write, seq++, timestamp);
  }
  return stored;
}

/** The seq of a stored write. */
export function seqOf(write: StoredWrite): number {
  return write.kind === "delete" ? write.seq : write.row.seq;
}

/** The rows of a dump as the writes that would store them, by seq. */
export function storedWritesOf(dump: SessionDump): StoredWrite[] {
  const writes: StoredWrite[] = [
    ...dump.entries.map((row) => ({ kind: "entry" as const, row })),
    ...dump.registers.map((row) => ({ kind: "set" as const, row })),
    ...dump.usage.map((row) => ({ kind: "usage" as const, row })),
  ];
  return writes.sort((left, right) => seqOf(left) - seqOf(right));
}

function storedWriteOf(write: Write, seq: number, timestamp: number): StoredWrite {
  switch (write.kind) {
    case "entry":
      return { kind: "entry", row: Object.freeze({ ...write.entry, seq, timestamp }) as Entry };
    case "usage":
      return { kind: "usage", row: Object.freeze({ ...write.row, seq }) };
    case "register": {
      const { namespace, key } = write;
      if (write.op === "delete") return { kind: "delete", namespace, key, seq };
      return { kind: "set", row: Object.freeze({ namespace, key, value: write.value, seq }) };
    }
  }
}
