/**
 * Admission: what stands between a caller's transaction and any store.
 *
 * Terms. *Draft*: an entry or a usage row before its commit, without what storage assigns. *Form*: the structure
 * that storage itself reads (kinds, namespaces, ids, parents, types, amounts). What an entry or a register carries
 * beyond its form is the business of the session above, which holds it against the full schemas (spec §2.8).
 *
 * Invariants.
 * 1. Admitted writes are deeply frozen copies: they share nothing mutable with what the caller holds.
 * 2. The order of refusals is that of `contract.ts`: `NotJson` first, then `InvalidTransaction`.
 * 3. A draft has no key that a store needs for itself (`kind`, `seq`, and `timestamp` on entries); otherwise the
 *    stored row could say something else than the commit.
 * 4. The cost depends on the transaction alone. Ids are looked up, never listed.
 *
 * The checks are written by hand and not as schemas, because they run in every commit and look at a dozen fields.
 */
import { admitJson, isAdmitted, isRecord } from "../foundation/index.ts";
import {
  ENTRY_TYPES,
  type EntryInsertWrite,
  type EntryType,
  isRegisterNamespace,
  type Transaction,
  type UsageInsertWrite,
  type Write,
} from "../model/index.ts";
import { InvalidTransaction } from "./contract.ts";
import { isPlainJson } from "./plain-json.ts";

/** How a store answers whether an id is taken (spec §1.4: entries and usage rows share one namespace of ids). */
export interface IdLookup {
  hasEntry(id: string): boolean;
  /** Whether an entry or a usage row has it. */
  hasId(id: string): boolean;
}

/**
 * The writes of a transaction as deeply frozen copies, their form checked (spec §1.4).
 * @throws NotJson with a path that starts with `/writes/<index>`; InvalidTransaction `empty` or `malformed`.
 */
export function admitTransaction(transaction: Transaction): readonly Write[] {
  return writesOf(admitJson(transaction));
}

/**
 * The same refusals without a copy, for a store that encodes the writes at once: what comes back may be the caller's
 * own values, good until the call of `commit` returns and not to be kept.
 * @throws as `admitTransaction`
 */
export function inspectTransaction(transaction: Transaction): readonly Write[] {
  // What was admitted above is not looked through again.
  const isSure = isAdmitted(transaction) || isPlainJson(transaction);
  return writesOf(isSure ? transaction : admitJson(transaction));
}

function writesOf(transaction: unknown): readonly Write[] {
  const writes: unknown = isRecord(transaction) ? transaction.writes : undefined;
  if (!Array.isArray(writes)) {
    throw new InvalidTransaction("malformed", "a transaction is an object with an array of writes");
  }
  if (writes.length === 0) {
    throw new InvalidTransaction(
      "empty",
      "a transaction has at least one write; commit nothing by not committing",
    );
  }
  for (let index = 0; index < writes.length; index++) {
    const issue = writeIssue(writes[index]);
    if (issue !== undefined) throw new InvalidTransaction("malformed", issue, index);
  }
  return writes as Write[];
}

/**
 * Holds the ids and parents of admitted writes against what is stored and against each other, in their order.
 * @throws InvalidTransaction `duplicate_id` or `missing_parent`.
 */
export function checkIds(writes: readonly Write[], stored: IdLookup): void {
  const earlier = writes.length > FEW ? new Map<string, Write["kind"]>() : undefined;
  for (let index = 0; index < writes.length; index++) {
    const write = writes[index];
    if (write === undefined || write.kind === "register") continue;
    const id = idOf(write);
    if (stored.hasId(id)) {
      throw new InvalidTransaction("duplicate_id", `the id ${id} exists; rows are written once`, index);
    }
    if (kindBefore(writes, index, id, earlier) !== undefined) {
      const message = `the id ${id} is written earlier in this transaction`;
      throw new InvalidTransaction("duplicate_id", message, index);
    }
    const parentId = write.kind === "entry" ? write.entry.parentId : null;
    if (
      parentId !== null &&
      kindBefore(writes, index, parentId, earlier) !== "entry" &&
      !stored.hasEntry(parentId)
    ) {
      throw new InvalidTransaction(
        "missing_parent",
        `the parent ${parentId} of entry ${id} neither exists nor precedes it in this transaction`,
        index,
      );
    }
    earlier?.set(id, write.kind);
  }
}

/** Up to so many writes, looking through the earlier ones is cheaper than keeping a map of them. */
const FEW = 16;

/** What is written under the id before the write at `index`; `earlier` knows, if it is kept. */
function kindBefore(
  writes: readonly Write[],
  index: number,
  id: string,
  earlier: ReadonlyMap<string, Write["kind"]> | undefined,
): Write["kind"] | undefined {
  if (earlier !== undefined) return earlier.get(id);
  for (let before = 0; before < index; before++) {
    const write = writes[before];
    if (write !== undefined && write.kind !== "register" && idOf(write) === id) return write.kind;
  }
  return undefined;
}

function idOf(write: EntryInsertWrite | UsageInsertWrite): string {
  return write.kind === "entry" ? write.entry.id : write.row.id;
}

/** The time of a commit, Unix ms: the clock's, held at the last committed time if the clock stepped back. */
export function commitTimestamp(nowMs: number, lastTimestamp: number): number {
  return Math.max(Math.floor(nowMs), lastTimestamp);
}

/** What is wrong with the form of a write, in words, or undefined. */
function writeIssue(write: unknown): string | undefined {
  if (!isRecord(write)) return "a write is an object with a kind";
  switch (write.kind) {
    case "entry": {
      if (keyCountOf(write) !== 2) return "an entry write has the keys kind and entry";
      const { entry } = write;
      if (!isRecord(entry)) return "entry is an object";
      if (entry.seq !== undefined || entry.timestamp !== undefined || entry.kind !== undefined) {
        return "an entry before its commit has neither seq, timestamp nor kind; storage assigns them";
      }
      return entryFormIssue(entry);
    }
    case "usage": {
      if (keyCountOf(write) !== 2) return "a usage write has the keys kind and row";
      const { row } = write;
      if (!isRecord(row)) return "row is an object";
      if (row.seq !== undefined || row.kind !== undefined) {
        return "a usage row before its commit has neither seq nor kind; storage assigns them";
      }
      return usageFormIssue(row);
    }
    case "register":
      if (write.op === "set" && keyCountOf(write) > 5) {
        return "a register set has the keys kind, op, namespace, key and value";
      }
      if (write.op === "delete" && keyCountOf(write) > 4) {
        return "a register delete has the keys kind, op, namespace and key";
      }
      return registerFormIssue(write);
    default:
      return `the kind of a write is entry, usage or register, not ${inWords(write.kind)}`;
  }
}

/** The form of an entry, drafted or stored: ids, type and custom type (spec §1.1). */
export function entryFormIssue(entry: Readonly<Record<string, unknown>>): string | undefined {
  const { id, parentId, type, customType } = entry;
  if (!isName(id)) return `the id of an entry is a non-empty string, not ${inWords(id)}`;
  if (parentId !== null && !isName(parentId)) {
    return `the parentId of an entry is a non-empty string or null, not ${inWords(parentId)}`;
  }
  if (!isEntryType(type)) return `the type of an entry is ${ENTRY_TYPES.join(", ")}, not ${inWords(type)}`;
  if (type === "custom") {
    return isName(customType) ? undefined : "a custom entry has a customType that is a non-empty string";
  }
  return customType === undefined ? undefined : `only a custom entry has a customType, not a ${type}`;
}

/** The form of a usage row, drafted or stored: id, reference, flag and amounts (spec §1.6). */
export function usageFormIssue(row: Readonly<Record<string, unknown>>): string | undefined {
  const { id, entryId, adjustment, usage, details, kind, seq } = row;
  // Stored rows carry `kind` and `seq` too; `writeIssue` refuses both in drafts before it comes here.
  if (keyCountOf(row) !== countPresent([id, entryId, adjustment, usage, details, kind, seq])) {
    return "a usage row has the keys id, usage, entryId, adjustment and details";
  }
  if (!isName(id)) return `the id of a usage row is a non-empty string, not ${inWords(id)}`;
  if (entryId !== undefined && !isName(entryId)) {
    return `the entryId of a usage row is a non-empty string or absent, not ${inWords(entryId)}`;
  }
  if (typeof adjustment !== "boolean") return "the adjustment of a usage row is true or false";
  if (!isRecord(usage)) return "usage is an object of amounts";
  if (!hasAmounts(usage) || typeof usage.totalTokens !== "number") {
    return "usage has the numbers input, output, cacheRead, cacheWrite and totalTokens";
  }
  if (!isOptionalNumber(usage.cacheWrite1h) || !isOptionalNumber(usage.reasoning)) {
    return "usage.cacheWrite1h and usage.reasoning are numbers or absent";
  }
  if (!isRecord(usage.cost) || !hasAmounts(usage.cost) || typeof usage.cost.total !== "number") {
    return "usage.cost has the numbers input, output, cacheRead, cacheWrite and total";
  }
  return undefined;
}

/** The form of a register write: operation, namespace, key and, for a set, a value (spec §1.3). */
export function registerFormIssue(write: Readonly<Record<string, unknown>>): string | undefined {
  if (write.op !== "set" && write.op !== "delete") {
    return `the op of a register write is set or delete, not ${inWords(write.op)}`;
  }
  if (!isRegisterNamespace(write.namespace)) {
    return `${inWords(write.namespace)} is no namespace of registers (spec §1.3)`;
  }
  if (typeof write.key !== "string") return "the key of a register is a string";
  if (write.op === "set" && write.value === undefined) return "a register set has a value; null is one";
  return undefined;
}

const TYPES: ReadonlySet<unknown> = new Set(ENTRY_TYPES);

function isEntryType(value: unknown): value is EntryType {
  return TYPES.has(value);
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Where every key of a form is asked for by name, more keys than those are keys too many. */
function keyCountOf(value: object): number {
  let count = 0;
  for (const _key in value) count += 1;
  return count;
}

function countPresent(values: readonly unknown[]): number {
  let count = 0;
  for (const value of values) if (value !== undefined) count += 1;
  return count;
}

/** The amounts that tokens and their cost have in common, each by its name: a loop over names costs several times it. */
function hasAmounts({ input, output, cacheRead, cacheWrite }: Readonly<Record<string, unknown>>): boolean {
  return (
    typeof input === "number" &&
    typeof output === "number" &&
    typeof cacheRead === "number" &&
    typeof cacheWrite === "number"
  );
}

function isOptionalNumber(value: unknown): boolean {
  return value === undefined || typeof value === "number";
}

function inWords(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}
