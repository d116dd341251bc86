/**
 * Backends agree: the same transactions, refused ones included, leave the same dump on each of them, with the stores
 * closed, abandoned and opened again in between.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, VirtualClock } from "../foundation/index.ts";
import {
  ENTRY_TYPES,
  type EntryType,
  REGISTER_NAMESPACES,
  type Transaction,
  type Usage,
  zeroUsage,
} from "../model/index.ts";
import type { SessionMetadata, Storage } from "./contract.ts";
import type { SessionDump } from "./dump.ts";
import { MemoryFiles } from "./files/memory-files.ts";
import { readJsonlSession } from "./jsonl/read.ts";
import { JsonlStorage } from "./jsonl/storage.ts";
import { MemoryDisk } from "./memory/disk.ts";
import { MemoryStorage } from "./memory/storage.ts";

const metadata: SessionMetadata = { id: "s_1", createdAt: 1_000, storageVersion: 1, cwd: "/tmp/\u2028" };

/** One backend under the test: a disk that outlives its stores. */
interface Backend {
  open(clock: VirtualClock): Store;
  durable(): SessionDump;
  /** The same session, made anew from a dump of it. */
  copied(): Backend;
}

type Store = Storage & {
  dump(): SessionDump;
  abandon(): void;
  compact?(): Promise<unknown>;
};

function memoryBackend(disk = MemoryDisk.create(metadata)): Backend {
  return {
    open(clock) {
      disk = disk.fork();
      return new MemoryStorage({ disk, clock });
    },
    durable: () => disk.dump(),
    copied: () => memoryBackend(MemoryDisk.create(disk.metadata, disk.dump())),
  };
}

function jsonlBackend(from?: SessionDump): Backend {
  const fileSystem = new MemoryFiles();
  const path = "session.jsonl";
  const clock = new VirtualClock(0);
  const start = from === undefined ? { metadata } : { metadata: from.metadata, contents: from };
  JsonlStorage.create({ path, clock, fileSystem, ...start }).abandon();
  const durable = () => readJsonlSession(fileSystem.contentOf(path)).dump;
  return {
    open: (openClock) => JsonlStorage.open({ path, clock: openClock, fileSystem }),
    durable,
    copied: () => jsonlBackend(durable()),
  };
}

type Step =
  | { kind: "commit"; writes: unknown[] }
  | { kind: "compact" | "copy" }
  | { kind: "reopen"; isClean: boolean }
  | { kind: "clock"; deltaMs: number };

const id = fc.integer({ min: 0, max: 15 }).map((index) => `id_${index}`);
const text = fc.string({ unit: "binary", maxLength: 12 });
const json = fc.jsonValue({ maxDepth: 3, stringUnit: "binary" });
const key = fc.oneof(fc.constantFrom("", "main", "op_1:a", "op_1:b", "op_2:a"), text);
const amount = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
const usage: fc.Arbitrary<Usage> = fc
  .tuple(amount, amount, fc.option(amount, { nil: undefined }))
  .map(([input, total, reasoning]) => ({
    ...zeroUsage(),
    input,
    cost: { ...zeroUsage().cost, total },
    ...(reasoning === undefined ? {} : { reasoning }),
  }));
const parentId = fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 3, arbitrary: id });
const entry = fc
  .tuple(id, parentId, fc.constantFrom<EntryType>(...ENTRY_TYPES), json)
  .map(([own, parent, type, data]) => ({
    kind: "entry",
    entry: { id: own, parentId: parent, type, ...(type === "custom" ? { customType: "note" } : {}), data },
  }));
const usageRow = fc
  .tuple(id, usage, fc.option(json, { nil: undefined }), fc.boolean())
  .map(([own, amounts, details, adjustment]) => ({
    kind: "usage",
    row: { id: own, usage: amounts, adjustment, ...(details === undefined ? {} : { details }) },
  }));
const namespace = fc.constantFrom(...REGISTER_NAMESPACES);
const set = fc.record({ kind: fc.constant("register"), op: fc.constant("set"), namespace, key, value: json });
const removal = fc.record({ kind: fc.constant("register"), op: fc.constant("delete"), namespace, key });
const broken = fc.constantFrom<unknown>(
  undefined,
  { kind: "note" },
  { kind: "entry", entry: { id: "" } },
  Number.NaN,
);
const write = fc.oneof(
  { weight: 8, arbitrary: entry },
  { weight: 4, arbitrary: usageRow },
  { weight: 8, arbitrary: set },
  { weight: 4, arbitrary: removal },
  { weight: 1, arbitrary: broken },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ kind: fc.constant("commit" as const), writes: fc.array(write, { maxLength: 4 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("compact" as const, "copy" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("reopen" as const), isClean: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("clock" as const), deltaMs: fc.integer({ min: -50, max: 80 }) }),
  },
);

async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    return canonicalJson(await work);
  } catch (error) {
    const { name, reason, path, writeIndex } = error as Record<string, unknown>;
    return canonicalJson({
      name,
      reason: reason ?? null,
      path: path ?? null,
      writeIndex: writeIndex ?? null,
    });
  }
}

async function run(first: Backend, steps: readonly Step[]): Promise<string[]> {
  const clock = new VirtualClock(2_000);
  let backend = first;
  let store = backend.open(clock);
  const told: string[] = [];
  for (const each of steps) {
    switch (each.kind) {
      case "commit":
        told.push(await outcomeOf(store.commit({ writes: each.writes } as Transaction)));
        break;
      case "compact":
        await store.compact?.();
        expect(canonicalJson(backend.durable())).toBe(canonicalJson(store.dump()));
        break;
      case "copy":
        await store.close();
        backend = backend.copied();
        store = backend.open(clock);
        break;
      case "clock":
        clock.step(each.deltaMs);
        break;
      case "reopen": {
        const live = canonicalJson(store.dump());
        if (each.isClean) await store.close();
        else store.abandon();
        store = backend.open(clock);
        expect(canonicalJson(store.dump())).toBe(live);
      }
    }
    told.push(canonicalJson(store.dump()));
  }
  expect(canonicalJson(backend.durable())).toBe(canonicalJson(store.dump()));
  await store.close();
  return told;
}

describe("Memory and JSONL", () => {
  it("give the same answers and hold the same session after any history", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        expect(await run(jsonlBackend(), steps)).toEqual(await run(memoryBackend(), steps));
      }),
      { numRuns: 150 },
    );
  });

  it("start with the same two writes: main at the root, running nothing", () => {
    const registers = [
      { namespace: "lane.leaf", key: "main", value: null, seq: 1 },
      {
        namespace: "lane.state",
        key: "main",
        value: { currentOperationId: null, pendingNextRun: [] },
        seq: 2,
      },
    ];
    for (const backend of [memoryBackend(), jsonlBackend()]) {
      expect(backend.durable()).toEqual({
        metadata,
        entries: [],
        registers,
        usage: [],
        stats: { messageCount: 0, usage: zeroUsage() },
      });
    }
  });
});
