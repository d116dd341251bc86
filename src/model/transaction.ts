/**
 * Transactions: the only write primitive, all or nothing, writes in their given order (spec §1.4).
 */
import { Type } from "typebox";
import type { EntryDraft } from "./entry.ts";
import { REGISTER_NAMESPACES, type RegisterNamespace, type RegisterValues } from "./register.ts";
import { closed } from "./schema.ts";
import type { UsageRowDraft } from "./usage.ts";

/** Sets one register; the namespace forces the type of the value. */
export type RegisterSetWrite = {
  [Namespace in RegisterNamespace]: {
    kind: "register";
    op: "set";
    namespace: Namespace;
    key: string;
    value: RegisterValues[Namespace];
  };
}[RegisterNamespace];

/** Removes one register; removing an absent one is no error. */
export interface RegisterDeleteWrite {
  kind: "register";
  op: "delete";
  namespace: RegisterNamespace;
  key: string;
}
/** Inserts one entry under an id that never existed before. */
export interface EntryInsertWrite {
  kind: "entry";
  entry: EntryDraft;
}
/** Inserts one row of the ledger; entries and usage rows share one id space. */
export interface UsageInsertWrite {
  kind: "usage";
  row: UsageRowDraft;
}
export type Write = EntryInsertWrite | UsageInsertWrite | RegisterSetWrite | RegisterDeleteWrite;

export interface Transaction {
  writes: Write[];
}

/** What a commit assigned: one seq per write, in order, and one timestamp (Unix ms) for all. */
export interface CommitResult {
  firstSeq: number;
  seqs: number[];
  timestamp: number;
}

const registerProperties = {
  kind: Type.Literal("register"),
  namespace: Type.Enum([...REGISTER_NAMESPACES]),
  key: Type.String(),
};

/**
 * The outer form of a write. What it carries (`entry`, `row`, `value`) is checked by its own validator, which
 * `validate.ts` picks by kind and namespace.
 */
const WriteFormSchema = Type.Union([
  closed({ kind: Type.Literal("entry"), entry: Type.Unknown() }),
  closed({ kind: Type.Literal("usage"), row: Type.Unknown() }),
  closed({ ...registerProperties, op: Type.Literal("set"), value: Type.Unknown() }),
  closed({ ...registerProperties, op: Type.Literal("delete") }),
]);

/** The outer form of a transaction. */
export const TransactionFormSchema = closed({ writes: Type.Array(WriteFormSchema) });
