/** Views that look the same have the same canonical text; and the walk sees every difference that the text shows. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { VIRTUAL_EPOCH_MS } from "../foundation/index.ts";
import type { SessionDump } from "../storage/index.ts";
import { viewOf } from "./canonical-view.ts";
import type { ViewReading } from "./contract.ts";
import { holdsSameRows, Known, looksSame } from "./same-view.ts";
import { twoTools } from "./testing/history.ts";

const reading: ViewReading = { downtimes: [] };
const IDS = [
  "018bcfe5-6800-797f-9714-95dba4edef0c",
  "018bcfe5-6800-797f-9714-95dceadfa84a",
  "018bcfe5-6800-7e56-9317-93c79e19b046",
];

/** Texts with and without ids in them, with what quoting changes around them. */
const text = fc.oneof(
  fc.constantFrom(...IDS),
  fc.constantFrom("", "a", "b", "<id1>", "timestamp", '"quoted"'),
  fc
    .tuple(fc.constantFrom("", "x", "\u0001", '"'), fc.constantFrom(...IDS), fc.constantFrom("", ":0", "\n"))
    .map((parts) => parts.join("")),
  fc.tuple(fc.constantFrom(...IDS), fc.constantFrom(...IDS)).map((ids) => ids.join(":")),
);
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    text,
    fc.constantFrom(null, true, 0, 1, VIRTUAL_EPOCH_MS + 5),
    fc.array(tie("value"), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom("a", "b", "seq", "timestamp", IDS[0] as string), tie("value"), {
      maxKeys: 2,
    }),
  ),
})).value;
const row = fc.record({
  id: fc.constantFrom(...IDS),
  seq: fc.integer({ min: 1, max: 2 }),
  timestamp: fc.constantFrom(VIRTUAL_EPOCH_MS, VIRTUAL_EPOCH_MS + 5, VIRTUAL_EPOCH_MS + 105),
  value,
});
const dump = fc
  .record({
    entries: fc.array(row, { maxLength: 2 }),
    registers: fc.array(row, { maxLength: 1 }),
    usage: fc.array(row, { maxLength: 1 }),
  })
  .map(
    (rows): SessionDump =>
      ({
        ...rows,
        metadata: { id: "session", createdAt: VIRTUAL_EPOCH_MS, storageVersion: 1 },
        stats: { messageCount: 0, usage: {} },
      }) as never,
  );
const readings = fc.constantFrom<ViewReading>(reading, {
  downtimes: [{ atMs: VIRTUAL_EPOCH_MS + 5, durationMs: 100 }],
});

/** The same dump under other ids and seqs: what a recovery leaves beside what the uninterrupted run left. */
function renamed(original: SessionDump): SessionDump {
  const other = (id: string) => IDS[(IDS.indexOf(id) + 1) % IDS.length] as string;
  return JSON.parse(JSON.stringify(original).replaceAll(new RegExp(IDS.join("|"), "g"), other));
}

describe("views side by side", () => {
  it("look the same only if their canonical texts are equal", () => {
    fc.assert(
      fc.property(dump, dump, readings, readings, (one, other, first, second) => {
        const [left, right] = [viewOf(one, first), viewOf(other, second)];
        if (looksSame(left, right)) expect(right.canonical).toBe(left.canonical);
      }),
    );
  });

  it("look the same under other ids, other seqs and another order of keys", () => {
    fc.assert(
      fc.property(dump, (one) => {
        const entries = one.entries.map((entry) => ({ ...entry, seq: entry.seq + 7 }));
        const other = renamed({ ...one, entries });
        expect(viewOf(other, reading).canonical).toBe(viewOf(one, reading).canonical);
        // Ids among the keys are left to the texts.
        const hasIdAsKey = new RegExp(`"${IDS[0]}":`).test(JSON.stringify(one));
        expect(looksSame(viewOf(one, reading), viewOf(other, reading))).toBe(!hasIdAsKey);
      }),
    );
  });

  it("do not look the same where one id stands for two, or two for one", () => {
    const withIds = (first: string, second: string) =>
      viewOf({ ...twoTools().dump(), usage: [{ id: first, parent: second, seq: 1 }] as never }, reading);
    const [a, b] = IDS as [string, string];
    expect(looksSame(withIds(a, a), withIds(b, b))).toBe(true);
    expect(looksSame(withIds(a, b), withIds(b, a))).toBe(true);
    expect(looksSame(withIds(a, a), withIds(a, b))).toBe(false);
    expect(looksSame(withIds(a, b), withIds(a, a))).toBe(false);
  });

  it("are known again by look and by text, and stay apart where they differ", () => {
    const known = new Known();
    const first = viewOf(twoTools().dump(), reading);
    expect(known.firstLike(first)).toBe(first);
    expect(known.firstLike(viewOf(twoTools().dump(), reading))).toBe(first);
    const { exact, canonical } = first;
    expect(known.firstLike({ exact, canonical })).toBe(first);
    const other = viewOf({ ...twoTools().dump(), usage: [] }, reading);
    expect(known.firstLike(other)).toBe(other);
  });
});

describe("rows of a view", () => {
  it("are the same only with every seq, time and value", () => {
    const rows = twoTools().dump();
    const view = viewOf(twoTools().dump(), reading);
    expect(holdsSameRows(view, rows)).toBe(true);
    for (const part of ["entries", "registers", "usage"] as const) {
      const [first, ...rest] = rows[part];
      const changed = [{ ...first, seq: 999 }, ...rest];
      expect(holdsSameRows(view, { ...rows, [part]: changed })).toBe(false);
      expect(holdsSameRows(view, { ...rows, [part]: rest })).toBe(false);
    }
    expect(holdsSameRows(view, { ...rows, stats: { ...rows.stats, messageCount: 99 } })).toBe(false);
    expect(holdsSameRows({ exact: view.exact, canonical: view.canonical }, rows)).toBe(false);
  });
});
