/**
 * Writes to commit: short to read, and right under every schema of the model, so that a backend may validate as
 * strictly as it likes. Ids are UUIDv7 (spec §1.2) that end in the number they were made from.
 */
import {
  type EntryInsertWrite,
  type JsonValue,
  type RegisterDeleteWrite,
  type RegisterNamespace,
  type RegisterSetWrite,
  type RegisterValues,
  type Usage,
  type UsageInsertWrite,
  type UsageRowDraft,
  zeroUsage,
} from "../../src/model/index.ts";

/** The id that ends in `number`; ids sort like their numbers. */
export function id(number: number): string {
  return `018bcfe5-6800-7000-8000-${number.toString().padStart(12, "0")}`;
}

/** A user message under `parentId`; `null` makes a root. */
export function message(entryId: string, parentId: string | null, text = "hello"): EntryInsertWrite {
  return {
    kind: "entry",
    entry: { type: "message", id: entryId, parentId, message: { role: "user", content: text, timestamp: 1 } },
  };
}

/** A custom entry; without `data` it has none, which is another entry than one with JSON null. */
export function custom(
  entryId: string,
  parentId: string | null,
  customType = "note",
  ...data: [] | [JsonValue]
): EntryInsertWrite {
  const placed = { type: "custom" as const, id: entryId, parentId, customType };
  return { kind: "entry", entry: data.length === 0 ? placed : { ...placed, data: data[0] } };
}

export function compaction(entryId: string, parentId: string | null): EntryInsertWrite {
  return {
    kind: "entry",
    entry: {
      type: "compaction",
      id: entryId,
      parentId,
      summary: "what was said",
      retainedTail: [{ role: "user", content: "kept", timestamp: 1 }],
      tokensBefore: 1200,
      details: { files: ["a.ts"] },
      fromHook: false,
    },
  };
}

export function branchSummary(entryId: string, parentId: string | null, fromId: string): EntryInsertWrite {
  return {
    kind: "entry",
    entry: {
      type: "branch_summary",
      id: entryId,
      parentId,
      fromId,
      summary: "the other way",
      usage: tokens({ input: 3 }),
      fromHook: true,
    },
  };
}

/** An amount of usage. The suite uses binary fractions for costs, so that no order of summing rounds. */
export function tokens(amounts: Partial<Usage>): Usage {
  return { ...zeroUsage(), ...amounts };
}

/** A row of the ledger. */
export function usage(
  rowId: string,
  amounts: Partial<Usage>,
  more: Partial<Omit<UsageRowDraft, "id" | "usage">> = {},
): UsageInsertWrite {
  return { kind: "usage", row: { id: rowId, usage: tokens(amounts), adjustment: false, ...more } };
}

export function set<N extends RegisterNamespace>(
  namespace: N,
  key: string,
  value: RegisterValues[N],
): RegisterSetWrite {
  return { kind: "register", op: "set", namespace, key, value } as RegisterSetWrite;
}

/** Sets a register that may hold any JSON value. */
export function fact(key: string, value: JsonValue): RegisterSetWrite {
  return set("fact.custom", key, value);
}

export function erase(namespace: RegisterNamespace, key: string): RegisterDeleteWrite {
  return { kind: "register", op: "delete", namespace, key };
}
