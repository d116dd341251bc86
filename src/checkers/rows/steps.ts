/**
 * The vocabulary of write patterns: what a row's transaction is made of, in order.
 *
 * A step that names a key checks the key. A step that stands for a set of deletes takes them in any order, each once,
 * and wants every register of the set that exists; deleting one that does not exist is legal (spec §1.4).
 */
import { jsonEquals } from "../../foundation/index.ts";
import type { EntryDraft, RegisterNamespace, UsageRowDraft } from "../../model/index.ts";
import type { WriteForm } from "../write-form.ts";
import { type Cursor, describeWrite, type Step, writeAt } from "./row.ts";
import { ownedPendingIds, type Site, toolResultIn } from "./site.ts";

type Naming = (site: Site) => string | undefined;

/** Inserts one entry below the lane's tip. `id` is the reserved one; without it the entry is born with a fresh id. */
export function entry(what: {
  readonly is: string;
  readonly id?: Naming;
  readonly accepts: (entry: EntryDraft, site: Site) => boolean;
}): Step {
  return step(`insert ${what.is}`, "entry", (cursor) => {
    const write = writeAt(cursor);
    if (write?.kind !== "entry") return describeWrite(write);
    if (what.id !== undefined && write.entry.id !== what.id(cursor.site)) {
      return "an entry under another id than the reserved one";
    }
    if (write.entry.parentId !== cursor.tip) return "an entry whose parent is not the lane's leaf";
    if (!what.accepts(write.entry, cursor.site)) return `an entry that is not ${what.is}`;
    place(cursor, write.entry);
    return undefined;
  });
}

/** Inserts `ids` in order, each from its `pending.entry` register. */
export function entriesFromRegisters(ids: (site: Site) => readonly string[]): Step {
  return mayStep("insert the queued entries, in order, from their registers", "entry", (cursor) => {
    for (const id of ids(cursor.site)) {
      const write = writeAt(cursor);
      if (write?.kind !== "entry") return describeWrite(write);
      if (write.entry.id !== id) return "an entry under another id than the queued one";
      if (write.entry.parentId !== cursor.tip) return "an entry whose parent is not the lane's leaf";
      const pending = cursor.site.model.value("pending.entry", id);
      if (pending === undefined) return "an entry without its pending.entry register";
      const payload = payloadOf(write.entry);
      const isSame =
        write.entry.type === pending.type &&
        payload.customType === (pending.type === "custom" ? pending.customType : undefined) &&
        jsonEquals(payload.payload, pending.payload);
      if (!isSame) return "an entry that differs from its pending.entry register";
      place(cursor, write.entry);
    }
    return undefined;
  });
}

/** Inserts one or more message entries, chained. */
export function newMessages(least: number): Step {
  const make = least === 0 ? mayStep : step;
  return make(`insert ${least} or more new message entries`, "entry", (cursor) => {
    let count = 0;
    for (;;) {
      const write = writeAt(cursor);
      if (write?.kind !== "entry") break;
      if (write.entry.type !== "message") return describeWrite(write);
      if (write.entry.parentId !== cursor.tip) return "an entry whose parent is not the newest entry";
      place(cursor, write.entry);
      count++;
    }
    return count >= least ? undefined : describeWrite(writeAt(cursor));
  });
}

/** Inserts one row of the ledger. */
export function usage(what: {
  readonly is: string;
  readonly accepts: (row: UsageRowDraft, cursor: Cursor) => boolean;
}): Step {
  return step(`insert usage (${what.is})`, "usage", (cursor) => {
    const write = writeAt(cursor);
    if (write?.kind !== "usage") return describeWrite(write);
    if (!what.accepts(write.row, cursor)) return `a usage row that is not ${what.is}`;
    cursor.at++;
    return undefined;
  });
}

/** Inserts the usage that a tool reported in its result, and nothing if it reported none. */
export const usageIfReported: Step = mayStep("insert usage if the tool reported one", "usage", (cursor) => {
  const reported = toolResultIn(cursor.newest)?.usage;
  const write = writeAt(cursor);
  if (reported === undefined) return undefined;
  if (write?.kind !== "usage") return describeWrite(write);
  const { row } = write;
  if (row.entryId !== cursor.newest?.id || row.adjustment || !jsonEquals(row.usage, reported)) {
    return "a usage row that is not the tool's report";
  }
  cursor.at++;
  return undefined;
});

/** Takes a row of the ledger if one stands here. */
export const usageOfHookIfAny: Step = mayStep("insert the hook's usage if any", "usage", (cursor) => {
  const write = writeAt(cursor);
  if (write?.kind !== "usage") return undefined;
  if (write.row.adjustment) return "an adjustment";
  cursor.at++;
  return undefined;
});

/** `upsert lane.leaf` = the newest entry. */
export const leafToNewest: Step = step("set lane.leaf to the newest entry", "set lane.leaf", (cursor) => {
  const write = writeAt(cursor);
  if (write?.kind !== "register" || write.op !== "set" || write.namespace !== "lane.leaf") {
    return describeWrite(write);
  }
  if (write.key !== cursor.site.lane) return "lane.leaf of another lane";
  if (cursor.newest === undefined || write.value !== cursor.newest.id) return "lane.leaf at another entry";
  cursor.at++;
  return undefined;
});

/** Sets one register; `key` names it, `accepts` judges its value. */
export function set(
  namespace: RegisterNamespace,
  key: Naming,
  accepts: (value: unknown, cursor: Cursor) => boolean = () => true,
): Step {
  return step(`set ${namespace}`, `set ${namespace}`, (cursor) => {
    const write = writeAt(cursor);
    if (write?.kind !== "register" || write.op !== "set" || write.namespace !== namespace) {
      return describeWrite(write);
    }
    if (write.key !== key(cursor.site)) return `set ${namespace} under another key`;
    if (!accepts(write.value, cursor)) return `set ${namespace} to another value`;
    cursor.at++;
    return undefined;
  });
}

/** Deletes one register. */
export function drop(namespace: RegisterNamespace, key: Naming): Step {
  return step(`delete ${namespace}`, `delete ${namespace}`, (cursor) => {
    const write = writeAt(cursor);
    if (write?.kind !== "register" || write.op !== "delete" || write.namespace !== namespace) {
      return describeWrite(write);
    }
    if (write.key !== key(cursor.site)) return `delete ${namespace} under another key`;
    cursor.at++;
    return undefined;
  });
}

/** Deletes every register of a namespace whose key starts with a prefix. */
export function dropPrefix(namespace: RegisterNamespace, prefix: Naming): Step {
  return mayStep(`delete the ${namespace} registers`, `delete ${namespace}`, (cursor) => {
    const { site, at: first } = cursor;
    const start = prefix(site);
    if (start === undefined) return "no operation";
    takeDrops(cursor, namespace, (key) => key.startsWith(start));
    for (const { key } of site.model.registers(namespace)) {
      if (key.startsWith(start) && !isDropped(key, first, cursor)) return leftOf(namespace, cursor);
    }
    return undefined;
  });
}

/** Deletes exactly these registers, in any order. */
export function dropEach(namespace: RegisterNamespace, keys: (site: Site) => readonly string[]): Step {
  return mayStep(`delete the ${namespace} registers`, `delete ${namespace}`, (cursor) => {
    const { site, at: first } = cursor;
    const wanted = keys(site);
    takeDrops(cursor, namespace, (key) => wanted.includes(key));
    for (const key of wanted) if (!isDropped(key, first, cursor)) return leftOf(namespace, cursor);
    return undefined;
  });
}

/** `S(…)`: the operation's state; what it must be is among the row's facts. */
export const state: Step = set("op.state", (site) => site.operationId);
/** `L(…)`. */
export const laneState: Step = set("lane.state", (site) => site.lane);

/** The deletes that every terminal transaction makes, then the result and the idle lane (spec §3.13). */
export const terminalWrites: readonly Step[] = [
  drop("op.meta", (site) => site.operationId),
  drop("op.state", (site) => site.operationId),
  dropPrefix("op.tool_args", (site) => `${site.operationId}:`),
  dropPrefix("op.preparation", (site) => `${site.operationId}:`),
  dropEach("pending.entry", (site) => ownedPendingIds(site.before)),
  set("lane.lastResult", (site) => site.lane),
  laneState,
];

function step(says: string, form: WriteForm, take: Step["take"]): Step {
  return { says, forms: [form], mayTakeNone: false, take };
}

function mayStep(says: string, form: WriteForm, take: Step["take"]): Step {
  return { says, forms: [form], mayTakeNone: true, take };
}

function place(cursor: Cursor, placed: EntryDraft): void {
  cursor.newest = placed;
  cursor.tip = placed.id;
  cursor.at++;
}

/** Takes the deletes in a namespace that stand here, each key once, as long as they are wanted. */
function takeDrops(cursor: Cursor, namespace: RegisterNamespace, isWanted: (key: string) => boolean): void {
  const first = cursor.at;
  for (let key = droppedAt(cursor, namespace); key !== undefined; key = droppedAt(cursor, namespace)) {
    if (!isWanted(key) || isDropped(key, first, cursor)) return;
    cursor.at++;
  }
}

/** The key that the write at the cursor deletes in a namespace; undefined if it does something else. */
function droppedAt(cursor: Cursor, namespace: RegisterNamespace): string | undefined {
  const write = writeAt(cursor);
  const isDrop = write?.kind === "register" && write.op === "delete" && write.namespace === namespace;
  return isDrop ? write.key : undefined;
}

/** Whether one of the deletes from `first` to the cursor, which are all of one namespace, is that of a key. */
function isDropped(key: string, first: number, { site, at }: Cursor): boolean {
  for (let index = first; index < at; index++) {
    const write = site.writes[index];
    if (write?.kind === "register" && write.key === key) return true;
  }
  return false;
}

function leftOf(namespace: RegisterNamespace, cursor: Cursor): string {
  return `${namespace} register(s) left, then ${describeWrite(writeAt(cursor))}`;
}

function payloadOf(placed: EntryDraft): { customType: string | undefined; payload: unknown } {
  if (placed.type === "message") return { customType: undefined, payload: placed.message };
  if (placed.type === "custom") return { customType: placed.customType, payload: placed.data };
  return { customType: undefined, payload: undefined };
}
