import { describe, expect, it } from "vitest";
import { NotJson } from "../foundation/index.ts";
import { type EntryDraft, type Transaction, type UsageRowDraft, zeroUsage } from "../model/index.ts";
import { admitTransaction, checkIds, commitTimestamp, type IdLookup } from "./admission.ts";
import { InvalidTransaction } from "./contract.ts";

const entry = (id: string, parentId: string | null = null): EntryDraft => ({
  type: "custom",
  id,
  parentId,
  customType: "note",
});
const row = (id: string): UsageRowDraft => ({ id, usage: zeroUsage(), adjustment: false });
const transactionOf = (...writes: unknown[]) => ({ writes }) as Transaction;
const stored: IdLookup = {
  hasEntry: (id) => id === "e_old",
  hasId: (id) => id === "e_old" || id === "u_old",
};

function refusalOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("admission", () => {
  it("gives deeply frozen copies that share nothing with the caller's values", () => {
    const value = { list: [{ deep: 1 }] };
    const transaction = transactionOf({
      kind: "register",
      op: "set",
      namespace: "fact.custom",
      key: "k",
      value,
    });
    const [write] = admitTransaction(transaction);
    value.list.push({ deep: 2 });
    expect(write).toEqual({
      kind: "register",
      op: "set",
      namespace: "fact.custom",
      key: "k",
      value: { list: [{ deep: 1 }] },
    });
    const admitted = (write as unknown as { value: typeof value }).value;
    expect([write, admitted, admitted.list, admitted.list[0]].every(Object.isFrozen)).toBe(true);
  });

  it.each([
    ["undefined", undefined],
    ["NaN", Number.NaN],
    ["-0", -0],
    ["a lone surrogate", "\ud800"],
    ["a function", () => 0],
    ["a date", new (class Moment {})()],
  ])("refuses %s by its JSON pointer from the transaction", (_name, bad) => {
    const good = { kind: "entry", entry: entry("e_1") };
    const set = { kind: "register", op: "set", namespace: "fact.custom", key: "k", value: { a: [0, bad] } };
    const refusal = refusalOf(() => admitTransaction(transactionOf(good, set)));
    expect(refusal).toBeInstanceOf(NotJson);
    expect((refusal as NotJson).path).toBe("/writes/1/value/a/1");
  });

  it("tests the JSON domain before the form", () => {
    const bad = transactionOf({ kind: "nonsense" }, { kind: "entry", entry: Number.NaN });
    expect(refusalOf(() => admitTransaction(bad))).toBeInstanceOf(NotJson);
  });

  it("refuses a transaction without writes as empty", () => {
    expect(refusalOf(() => admitTransaction(transactionOf()))).toMatchObject({
      reason: "empty",
      writeIndex: undefined,
    });
  });

  const usage = zeroUsage();
  const set = { kind: "register", op: "set", namespace: "fact.name", key: "", value: "n" };
  it.each<[string, unknown]>([
    ["no object", 7],
    ["no kind", {}],
    ["an unknown kind", { kind: "message" }],
    ["an entry write with a key of its own", { kind: "entry", entry: entry("e_1"), extra: 1 }],
    ["an entry that is no object", { kind: "entry", entry: [] }],
    ["an entry with a seq", { kind: "entry", entry: { ...entry("e_1"), seq: 4 } }],
    ["an entry with a timestamp", { kind: "entry", entry: { ...entry("e_1"), timestamp: 4 } }],
    ["an entry with a kind", { kind: "entry", entry: { ...entry("e_1"), kind: "entry" } }],
    ["an entry without an id", { kind: "entry", entry: { ...entry(""), id: "" } }],
    ["an entry with a numeric parent", { kind: "entry", entry: { ...entry("e_1"), parentId: 4 } }],
    ["an entry with an empty parent", { kind: "entry", entry: { ...entry("e_1"), parentId: "" } }],
    ["an entry without a parent", { kind: "entry", entry: { type: "message", id: "e_1", message: {} } }],
    ["an entry of an unknown type", { kind: "entry", entry: { ...entry("e_1"), type: "note" } }],
    [
      "a custom entry without customType",
      { kind: "entry", entry: { type: "custom", id: "e", parentId: null } },
    ],
    ["a message with customType", { kind: "entry", entry: { ...entry("e_1"), type: "message" } }],
    ["a usage row that is no object", { kind: "usage", row: null }],
    ["a usage write with a key of its own", { kind: "usage", row: row("u_1"), extra: 1 }],
    ["a usage row with a seq", { kind: "usage", row: { ...row("u_1"), seq: 4 } }],
    ["a usage row with a key of its own", { kind: "usage", row: { ...row("u_1"), extra: 1 } }],
    ["a usage row with a kind", { kind: "usage", row: { ...row("u_1"), kind: "usage" } }],
    ["a usage row without an id", { kind: "usage", row: { usage, adjustment: true } }],
    ["a usage row with an empty entryId", { kind: "usage", row: { ...row("u_1"), entryId: "" } }],
    ["a usage row without a flag", { kind: "usage", row: { id: "u_1", usage } }],
    ["a usage row without usage", { kind: "usage", row: { id: "u_1", adjustment: false } }],
    ["usage with a text", { kind: "usage", row: { ...row("u_1"), usage: { ...usage, input: "1" } } }],
    [
      "usage with a wrong reasoning",
      { kind: "usage", row: { ...row("u_1"), usage: { ...usage, reasoning: "1" } } },
    ],
    ["usage without cost", { kind: "usage", row: { ...row("u_1"), usage: { ...usage, cost: {} } } }],
    ["a register write without op", { kind: "register", namespace: "fact.name", key: "" }],
    ["an unknown op", { ...set, op: "patch" }],
    ["an unknown namespace", { ...set, namespace: "fact.unknown" }],
    ["an inherited namespace", { ...set, namespace: "toString" }],
    ["a key that is no text", { ...set, key: 1 }],
    ["a set without value", { kind: "register", op: "set", namespace: "fact.name", key: "" }],
    ["a set with a key of its own", { ...set, seq: 9 }],
    ["a delete with a value", { ...set, op: "delete" }],
  ])("refuses %s as malformed, by its index", (_name, write) => {
    const refusal = refusalOf(() => admitTransaction(transactionOf(set, write)));
    expect(refusal).toBeInstanceOf(InvalidTransaction);
    expect(refusal).toMatchObject({ reason: "malformed", writeIndex: 1 });
  });

  it("refuses an id that exists, in either table or earlier in the transaction", () => {
    const entryWrite = (id: string) => ({ kind: "entry" as const, entry: entry(id) });
    const usageWrite = (id: string) => ({ kind: "usage" as const, row: row(id) });
    for (const taken of [
      [entryWrite("e_old")],
      [entryWrite("u_old")],
      [usageWrite("e_old")],
      [usageWrite("u_old")],
      [entryWrite("x"), usageWrite("x")],
      [usageWrite("x"), entryWrite("x")],
      [entryWrite("x"), entryWrite("x")],
    ]) {
      expect(refusalOf(() => checkIds(taken, stored))).toMatchObject({
        reason: "duplicate_id",
        writeIndex: taken.length - 1,
      });
    }
    checkIds([entryWrite("a"), usageWrite("b")], stored);
  });

  it("refuses an entry whose parent neither exists nor precedes it", () => {
    const child = (id: string, parentId: string) => ({ kind: "entry" as const, entry: entry(id, parentId) });
    for (const orphan of [child("a", "a"), child("a", "gone"), child("a", "u_old")]) {
      expect(refusalOf(() => checkIds([orphan], stored))).toMatchObject({
        reason: "missing_parent",
        writeIndex: 0,
      });
    }
    const backward = [child("b", "a"), { kind: "entry" as const, entry: entry("a") }];
    expect(refusalOf(() => checkIds(backward, stored))).toMatchObject({
      reason: "missing_parent",
      writeIndex: 0,
    });
    checkIds([{ kind: "entry" as const, entry: entry("a", "e_old") }, child("b", "a")], stored);
  });

  it("finds both in transactions of any length", () => {
    const root = (id: string) => ({ kind: "entry" as const, entry: entry(id) });
    for (const length of [2, 15, 16, 17, 40]) {
      const writes = Array.from({ length }, (_, index) => root(`e_${index}`));
      checkIds(writes, stored);
      const child = { kind: "entry" as const, entry: entry("child", "e_0") };
      checkIds([...writes, child], stored);
      expect(refusalOf(() => checkIds([...writes, root("e_0")], stored))).toMatchObject({
        reason: "duplicate_id",
        writeIndex: length,
      });
      expect(refusalOf(() => checkIds([child, ...writes], stored))).toMatchObject({
        reason: "missing_parent",
        writeIndex: 0,
      });
    }
  });

  it("holds the time of a commit at the last one when the clock steps back", () => {
    expect([commitTimestamp(5, 3), commitTimestamp(3, 5), commitTimestamp(5.7, 5)]).toEqual([5, 5, 5]);
  });
});
