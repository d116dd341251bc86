import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { admitJson, Corruption } from "../foundation/index.ts";
import {
  ENTRY_TYPES,
  type Entry,
  type EntryDraft,
  type EntryType,
  type Write,
  zeroUsage,
} from "../model/index.ts";
import { type BranchScan, type EntryScan, UnknownEntry, type UsageScan } from "./contract.ts";
import * as queries from "./queries.ts";
import { StoredEntry, storeAdmitted } from "./stored-write.ts";
import { Tables } from "./tables.ts";

/** Tables of a tree with usage rows between its entries, so that seqs have gaps in both tables. */
function tablesOf(tree: readonly { parent: number; type: EntryType }[]): Tables {
  const tables = new Tables();
  tree.forEach(({ parent, type }, index) => {
    const parentId = index === 0 || parent < 0 ? null : `e_${Math.max(0, index - 1 - parent)}`;
    const entry = {
      id: `e_${index}`,
      parentId,
      type,
      ...(type === "custom" ? { customType: index % 2 === 0 ? "even" : "odd" } : {}),
    } as EntryDraft;
    const usage = { ...zeroUsage(), input: index };
    const writes = admitJson<Write[]>([
      { kind: "entry", entry },
      { kind: "usage", row: { id: `u_${index}`, usage, adjustment: false } },
    ]);
    tables.apply(storeAdmitted(writes, tables.nextSeq, 1_000 + index));
  });
  return tables;
}

/** How far before its predecessor an entry's parent is: mostly not at all, so that branches grow long; -1 is a root. */
const stepsBack = fc.oneof(
  { weight: 8, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.integer({ min: -1, max: 8 }) },
);
const tree = fc.array(fc.record({ parent: stepsBack, type: fc.constantFrom(...ENTRY_TYPES) }), {
  minLength: 1,
  maxLength: 30,
  size: "max",
});
const seq = fc.integer({ min: -1, max: 70 });
/** Of an entry, as `tablesOf` numbers them, or just beside. */
const entrySeq = fc
  .noBias(fc.nat(29))
  .chain((index) => fc.constantFrom(2 * index + 1, 2 * index + 1, 2 * index));
/** Mostly absent: with every filter and stop at once, hardly anything would be left to compare. */
const maybe = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const limit = maybe(fc.integer({ min: 0, max: 6 }));
const filter = {
  type: maybe(fc.constantFrom(...ENTRY_TYPES)),
  customType: maybe(fc.constantFrom("even", "odd", "none")),
};
const present = <T extends object>(record: T) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as never;
const branchScan: fc.Arbitrary<BranchScan> = fc
  .record({
    start: fc.noBias(fc.nat(29)).map((index) => `e_${index}`),
    stopAtType: maybe(fc.constantFrom(...ENTRY_TYPES)),
    stopAtId: maybe(fc.noBias(fc.nat(29)).map((index) => `e_${index}`)),
    order: fc.constantFrom(undefined, "newestFirst", "oldestFirst"),
    cursor: maybe(fc.record({ seq: entrySeq })),
    limit,
    ...filter,
  })
  .map(present);
const range = { fromSeq: maybe(seq), toSeq: maybe(seq), order: maybe(fc.constantFrom("asc", "desc")), limit };
const entryScan: fc.Arbitrary<EntryScan> = fc.record({ ...range, ...filter }).map(present);
const usageScan: fc.Arbitrary<UsageScan> = fc.record(range).map(present);

const isWanted = (entry: Entry, { type, customType }: { type?: EntryType; customType?: string }) =>
  (type === undefined || entry.type === type) &&
  (customType === undefined || (entry.type === "custom" && entry.customType === customType));

/** Spec §2.5, sentence by sentence, over all entries. */
function branchByTheBook(entries: readonly Entry[], query: BranchScan): Entry[] {
  const path: Entry[] = [];
  let id: string | null = query.start;
  while (id !== null) {
    const entry = entries.find((each) => each.id === id);
    if (entry === undefined) throw new UnknownEntry(id);
    path.push(entry);
    id = entry.parentId;
  }
  const ordered = query.order === "oldestFirst" ? path.reverse() : path;
  const stop = ordered.findIndex((entry) => entry.type === query.stopAtType || entry.id === query.stopAtId);
  const { cursor, limit: max } = query;
  return (stop < 0 ? ordered : ordered.slice(0, stop + 1))
    .filter((entry) => isWanted(entry, query))
    .filter((entry) => {
      if (cursor === undefined) return true;
      return query.order === "oldestFirst" ? entry.seq > cursor.seq : entry.seq < cursor.seq;
    })
    .slice(0, max);
}

function rangeByTheBook<Row extends { seq: number }>(rows: readonly Row[], query: UsageScan): Row[] {
  const within = rows.filter(
    ({ seq: own }) => own >= (query.fromSeq ?? -Infinity) && own <= (query.toSeq ?? Infinity),
  );
  if (query.order === "desc") within.reverse();
  return within.slice(0, query.limit);
}

const allEntries = (tables: Tables) => queries.scanEntries(tables, {});

describe("branch scans", () => {
  it("order, stop, filter, count from the cursor and limit, in this order", () => {
    fc.assert(
      fc.property(tree, branchScan, (nodes, query) => {
        const tables = tablesOf(nodes);
        const isKnown = tables.hasEntry(query.start);
        if (!isKnown) {
          expect(() => queries.scanBranch(tables, query)).toThrow(UnknownEntry);
          expect(() => queries.scanBranchStructure(tables, query)).toThrow(UnknownEntry);
          return;
        }
        const expected = branchByTheBook(allEntries(tables), query);
        expect(queries.scanBranch(tables, query)).toEqual(expected);
        expect(queries.scanBranchStructure(tables, query)).toEqual(
          expected.map(({ id, parentId, seq: own, timestamp, type, ...rest }) => ({
            id,
            parentId,
            seq: own,
            timestamp,
            type,
            ...("customType" in rest ? { customType: rest.customType } : {}),
          })),
        );
      }),
      { numRuns: 500 },
    );
  });

  it("take the cursor as exclusive, and the stop as part of the walk if it passes the filter", () => {
    const tables = tablesOf(
      ["message", "compaction", "custom", "message"].map((type) => ({ parent: 0, type: type as EntryType })),
    );
    const idsOf = (query: Omit<BranchScan, "start">) =>
      queries.scanBranch(tables, { start: "e_3", ...query }).map(({ id }) => id);
    const middle = { seq: 5 };
    expect(idsOf({})).toEqual(["e_3", "e_2", "e_1", "e_0"]);
    expect(idsOf({ cursor: middle })).toEqual(["e_1", "e_0"]);
    expect(idsOf({ cursor: middle, order: "oldestFirst" })).toEqual(["e_3"]);
    expect(idsOf({ stopAtType: "compaction" })).toEqual(["e_3", "e_2", "e_1"]);
    expect(idsOf({ stopAtId: "e_1", type: "message" })).toEqual(["e_3"]);
    expect(idsOf({ stopAtType: "compaction", order: "oldestFirst" })).toEqual(["e_0", "e_1"]);
    expect(idsOf({ stopAtId: "e_2", stopAtType: "compaction" })).toEqual(["e_3", "e_2"]);
    expect(idsOf({ customType: "even", limit: 1 })).toEqual(["e_2"]);
    expect(idsOf({ limit: 0 })).toEqual([]);
  });

  it("report a parent that is missing, and do not end there as if at the root", () => {
    const tables = new Tables();
    const orphan = { id: "e_1", parentId: "e_0", type: "custom", customType: "c" } as EntryDraft;
    tables.applyOne(new StoredEntry(orphan, 1, 1, { loose: { ...orphan, seq: 1, timestamp: 1 } as Entry }));
    expect(() => queries.scanBranch(tables, { start: "e_1" })).toThrow(Corruption);
  });
});

describe("scans by seq", () => {
  it("take inclusive bounds, an order, filters and a limit", () => {
    fc.assert(
      fc.property(tree, entryScan, usageScan, (nodes, entryQuery, usageQuery) => {
        const tables = tablesOf(nodes);
        const wanted = allEntries(tables).filter((entry) => isWanted(entry, entryQuery));
        expect(queries.scanEntries(tables, entryQuery)).toEqual(rangeByTheBook(wanted, entryQuery));
        const rows = queries.scanUsage(tables, {});
        expect(queries.scanUsage(tables, usageQuery)).toEqual(rangeByTheBook(rows, usageQuery));
      }),
      { numRuns: 300 },
    );
  });
});

describe("totals", () => {
  it("equal the messages and the sum of the ledger, and cannot be changed by a reader", () => {
    const tables = tablesOf([
      { parent: -1, type: "message" },
      { parent: 0, type: "compaction" },
      { parent: 1, type: "message" },
      { parent: 1, type: "custom" },
    ]);
    const stats = queries.statsOf(tables);
    expect(stats).toEqual({ messageCount: 2, usage: { ...zeroUsage(), input: 0 + 1 + 2 + 3 } });
    expect([Object.isFrozen(stats.usage), Object.isFrozen(stats.usage.cost)]).toEqual([true, true]);
    stats.messageCount = 99;
    expect(queries.statsOf(tables).messageCount).toBe(2);
  });
});

describe("look-ups", () => {
  it("find what exists and leave out what does not", () => {
    const tables = tablesOf([{ parent: -1, type: "message" }]);
    expect([...queries.findEntries(tables, ["e_0", "e_1", "e_0", "u_0"]).keys()]).toEqual(["e_0"]);
    expect(queries.findRegister(tables, "fact.name", "")).toBeUndefined();
    expect(queries.findRegister(tables, "toString" as "fact.name", "")).toBeUndefined();
    expect(queries.listRegisters(tables, "toString" as "fact.name")).toEqual([]);
  });
});
