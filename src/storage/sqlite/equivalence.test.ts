/**
 * SQLite answers every query as Memory does: random trees with compactions, every kind of scan, registers under
 * awkward keys, refusals, a clock that steps back, and reopenings in between.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, VirtualClock } from "../../foundation/index.ts";
import { ENTRY_TYPES, type EntryType, type Transaction, zeroUsage } from "../../model/index.ts";
import type { BranchScan, EntryScan, Storage, UsageScan } from "../contract.ts";
import type { SessionDump } from "../dump.ts";
import { MemoryDisk } from "../memory/disk.ts";
import { MemoryStorage } from "../memory/storage.ts";
import { SqliteStorage } from "./storage.ts";
import { entryWrite, sampleMetadata } from "./test-support.ts";

type Step =
  | { kind: "entries"; entries: { parent: number; type: EntryType }[] }
  | { kind: "usage"; index: number; input: number }
  | { kind: "set"; key: string; value: fc.JsonValue }
  | { kind: "delete"; key: string }
  | { kind: "invalid"; id: string }
  | { kind: "reopen"; isClean: boolean }
  | { kind: "clock"; deltaMs: number }
  | { kind: "branch"; query: BranchScan }
  | { kind: "scan"; query: EntryScan }
  | { kind: "ledger"; query: UsageScan }
  | { kind: "list"; prefix: string }
  | { kind: "get"; ids: string[] };

/** Keys at the edges of the two orders of text, and prefixes that split a surrogate pair. */
const EDGES = [
  "",
  "a",
  "a\0",
  "a\0b",
  "ab",
  "\ud7ff",
  "\ue000",
  "\uffff",
  "😀",
  "😀a",
  "\u{10ffff}",
  "\u{10ffff}a",
];
const key = fc.oneof(fc.constantFrom(...EDGES), fc.string({ unit: "binary", maxLength: 3 }));
const prefix = fc.oneof(key, fc.constantFrom("\ud83d", "\ud800", "a\udc00", "\u{10ffff}\udbff"));
/** `-1` is the newest entry, so that histories grow long branches; others fork. */
const parent = fc.oneof(
  { weight: 5, arbitrary: fc.constant(-1) },
  { weight: 2, arbitrary: fc.noBias(fc.nat(60)) },
);
const type = fc.constantFrom<EntryType>(...ENTRY_TYPES);
const entryId = fc.noBias(fc.nat(60)).map((index) => `e_${index}`);
const seq = fc.integer({ min: -1, max: 120 });
const limit = fc.option(fc.integer({ min: 0, max: 8 }), { nil: undefined });

/** A record without the members that are undefined, as exact optional properties want it. */
function defined<T extends object>(record: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as never;
}
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const branchScan = fc
  .record({
    start: entryId,
    stopAtType: optional(type),
    stopAtId: optional(fc.oneof(entryId, fc.constant("e_\ud800"))),
    type: optional(type),
    customType: optional(fc.constantFrom("note", "other", "\ud800")),
    order: optional(fc.constantFrom("newestFirst" as const, "oldestFirst" as const)),
    limit,
    cursor: optional(fc.record({ seq })),
  })
  .map(defined);
const range = {
  fromSeq: optional(seq),
  toSeq: optional(seq),
  order: optional(fc.constantFrom("asc", "desc")),
  limit,
};
const entryScan = fc
  .record({ type: optional(type), customType: optional(fc.constantFrom("note", "other")), ...range })
  .map(defined);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("entries" as const),
      entries: fc.array(fc.record({ parent, type }), { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("usage" as const),
      index: fc.nat(20),
      input: fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("set" as const),
      key,
      value: fc.jsonValue({ maxDepth: 2, stringUnit: "binary" }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("delete" as const), key }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("invalid" as const), id: entryId }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reopen" as const), isClean: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("clock" as const), deltaMs: fc.integer({ min: -50, max: 80 }) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("branch" as const),
      query: branchScan as fc.Arbitrary<BranchScan>,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("scan" as const), query: entryScan as fc.Arbitrary<EntryScan> }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("ledger" as const),
      query: fc.record(range).map(defined) as fc.Arbitrary<UsageScan>,
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("list" as const), prefix }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("get" as const), ids: fc.array(entryId, { maxLength: 40 }) }),
  },
);

/** A store that can be left and taken up again. */
interface Backend {
  store: Storage & { dump(): SessionDump };
  reopen(isClean: boolean): Promise<void>;
}

function memoryBackend(clock: VirtualClock): Backend {
  const disk = MemoryDisk.create(sampleMetadata);
  const backend: Backend = {
    store: new MemoryStorage({ disk, clock }),
    async reopen() {
      await backend.store.close();
      backend.store = new MemoryStorage({ disk, clock });
    },
  };
  return backend;
}

async function sqliteBackend(clock: VirtualClock): Promise<Backend> {
  // A lease without duration: waiting for the last life's would move the clock, and the times with it.
  const options = { clock, ownerId: "writer", leaseDurationMs: 0 };
  let store = await SqliteStorage.create({ kind: "memory" }, sampleMetadata, options);
  const backend: Backend = {
    store,
    async reopen(isClean) {
      const bytes = store.image();
      if (isClean) await store.close();
      else store.abandon();
      store = await SqliteStorage.open({ kind: "image", bytes }, options);
      backend.store = store;
    },
  };
  return backend;
}

async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    const value = await work;
    return canonicalJson(value instanceof Map ? [...value] : value);
  } catch (error) {
    const { name, reason = null, writeIndex = null } = error as Record<string, unknown>;
    return canonicalJson({ name, reason, writeIndex });
  }
}

/** Takes a step on one backend; `count` is how many entries there are. */
async function take(step: Step, backend: Backend, clock: VirtualClock, count: number): Promise<string> {
  const { store } = backend;
  switch (step.kind) {
    case "entries": {
      const writes = step.entries.map(({ parent, type }, index) => {
        const at = count + index;
        const parentIndex = parent === -1 ? at - 1 : Math.min(parent, at) - 1;
        return entryWrite(`e_${at}`, parentIndex < 0 ? null : `e_${parentIndex}`, type);
      });
      return outcomeOf(store.commit({ writes }));
    }
    case "usage": {
      const usage = { ...zeroUsage(), input: step.input };
      const write = { kind: "usage" as const, row: { id: `u_${step.index}`, usage, adjustment: true } };
      return outcomeOf(store.commit({ writes: [write] }));
    }
    case "set":
    case "delete": {
      const value = step.kind === "set" ? { value: step.value } : {};
      const write = { kind: "register", op: step.kind, namespace: "fact.custom", key: step.key, ...value };
      return outcomeOf(store.commit({ writes: [write] } as Transaction));
    }
    case "invalid":
      // Refused at the second write at the latest: nothing of the first may be left.
      return outcomeOf(store.commit({ writes: [entryWrite("e_x", null), entryWrite(step.id, "e_nowhere")] }));
    case "reopen":
      return outcomeOf(backend.reopen(step.isClean));
    case "clock":
      return outcomeOf(clock.sleep(0).then(() => clock.step(step.deltaMs)));
    case "branch": {
      const structure = await outcomeOf(store.scanBranchStructure(step.query));
      return (await outcomeOf(store.scanBranch(step.query))) + structure;
    }
    case "scan":
      return outcomeOf(store.scanEntries(step.query));
    case "ledger":
      return (await outcomeOf(store.scanUsage(step.query))) + (await outcomeOf(store.getStats()));
    case "list": {
      const one = await outcomeOf(store.getRegister("fact.custom", step.prefix));
      return one + (await outcomeOf(store.listRegisters("fact.custom", step.prefix)));
    }
    case "get":
      return outcomeOf(store.getEntries(step.ids));
  }
}

async function run(backend: Backend, clock: VirtualClock, steps: readonly Step[]): Promise<string[]> {
  const told: string[] = [];
  let count = 0;
  for (const each of steps) {
    told.push(await take(each, backend, clock, count));
    if (each.kind === "entries") count += each.entries.length;
  }
  told.push(canonicalJson(backend.store.dump()));
  await backend.store.close();
  return told;
}

describe("SQLite", () => {
  it("answers every query as Memory does, over any history", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60, size: "max" }), async (steps) => {
        const sqliteClock = new VirtualClock(2_000);
        const memoryClock = new VirtualClock(2_000);
        const sqlite = await run(await sqliteBackend(sqliteClock), sqliteClock, steps);
        expect(sqlite).toEqual(await run(memoryBackend(memoryClock), memoryClock, steps));
      }),
      { numRuns: 80 },
    );
  });
});
