import { describe, expect, it } from "vitest";
import { Corruption, VirtualClock } from "../foundation/index.ts";
import { type Entry, type Register, type UsageRow, zeroUsage } from "../model/index.ts";
import type { SessionContents } from "./dump.ts";
import { MemoryFiles } from "./files/memory-files.ts";
import { JsonlStorage } from "./jsonl/storage.ts";
import { MemoryDisk } from "./memory/disk.ts";
import { createSession } from "./sqlite/creation.ts";
import { dumpOf } from "./sqlite/dump.ts";

const metadata = { id: "s_2", createdAt: 1_000, storageVersion: 1, parentSessionId: "s_1" };
const entry = (id: string, parentId: string | null, seq: number, timestamp = 10): Entry => ({
  type: "custom",
  id,
  parentId,
  customType: "note",
  seq,
  timestamp,
});
const usage = (id: string, seq: number, input = 0): UsageRow => ({
  id,
  seq,
  usage: { ...zeroUsage(), input },
  adjustment: false,
});
const name = (seq: number): Register => ({ namespace: "fact.name", key: "", value: "n", seq });
const contentsOf = (contents: Partial<SessionContents>): SessionContents => ({
  entries: [],
  registers: [],
  usage: [],
  ...contents,
});

const backends = {
  memory: (contents: SessionContents) => MemoryDisk.create(metadata, contents).dump(),
  jsonl: (contents: SessionContents, fileSystem = new MemoryFiles()) => {
    const options = { path: "fork.jsonl", metadata, clock: new VirtualClock(), fileSystem, contents };
    return JsonlStorage.create(options).dump();
  },
  sqlite: (contents: SessionContents) => {
    const options = { clock: new VirtualClock(), ownerId: "copier", durationMs: 0 };
    const { connection } = createSession({ kind: "memory" }, metadata, contents, options);
    try {
      return dumpOf(connection);
    } finally {
      connection.close();
    }
  },
};

describe.each(Object.entries(backends))("a session of copied rows (%s)", (backend, create) => {
  it("keeps their seqs and times, in whatever order they are given, and nothing else", () => {
    const contents = contentsOf({
      entries: [entry("e_2", "e_1", 9, 20), entry("e_1", null, 5, 10)],
      registers: [name(7)],
      usage: [usage("u_1", 6)],
    });
    const dump = create(contents);
    expect(dump.entries).toEqual([entry("e_1", null, 5, 10), entry("e_2", "e_1", 9, 20)]);
    expect([dump.registers, dump.usage, dump.metadata]).toEqual([[name(7)], [usage("u_1", 6)], metadata]);
  });

  it("keeps times that fall, as an import has them", () => {
    const dump = create(contentsOf({ entries: [entry("e_1", null, 1, 20), entry("e_2", null, 2, 10)] }));
    expect(dump.entries.map((row) => row.timestamp)).toEqual([20, 10]);
  });

  it("shares nothing mutable with the rows that were given", () => {
    const row = entry("e_1", null, 1);
    const dump = create(contentsOf({ entries: [row] }));
    row.id = "changed";
    expect(dump.entries[0]?.id).toBe("e_1");
    // What SQLite gives out are copies.
    if (backend !== "sqlite") expect(Object.isFrozen(dump.entries[0])).toBe(true);
  });

  it.each<[string, string, Partial<SessionContents>]>([
    [
      "seq_not_rising",
      "one seq for two rows",
      { entries: [entry("e_1", null, 1)], usage: [usage("u_1", 1)] },
    ],
    ["seq_not_rising", "a seq of 0", { registers: [name(0)] }],
    ["duplicate_id", "one id for two entries", { entries: [entry("e_1", null, 1), entry("e_1", null, 2)] }],
    ["duplicate_id", "one id in both tables", { entries: [entry("e_1", null, 1)], usage: [usage("e_1", 2)] }],
    ["missing_parent", "a parent that was not copied", { entries: [entry("e_1", "e_0", 1)] }],
    [
      "missing_parent",
      "a parent that comes later",
      { entries: [entry("e_1", "e_2", 1), entry("e_2", null, 2)] },
    ],
    [
      "sum_too_large",
      "a ledger whose sum no number holds",
      { usage: [usage("u_1", 1, Number.MAX_VALUE), usage("u_2", 2, Number.MAX_VALUE)] },
    ],
    ["malformed_row", "an entry without an id", { entries: [entry("", null, 1)] }],
    [
      "malformed_row",
      "an entry with a kind",
      { entries: [{ ...entry("e_1", null, 1), kind: "x" } as never] },
    ],
    ["malformed_row", "a seq with a fraction", { registers: [name(1.5)] }],
    ["malformed_row", "a negative time", { entries: [entry("e_1", null, 1, -1)] }],
    ["malformed_row", "a register of no namespace", { registers: [{ ...name(1), namespace: "x" } as never] }],
    [
      "malformed_row",
      "a usage row without a flag",
      { usage: [{ ...usage("u", 1), adjustment: 1 } as never] },
    ],
  ])("is refused as %s: %s", (reason, _what, contents) => {
    expect(() => create(contentsOf(contents))).toThrow(Corruption);
    expect(() => create(contentsOf(contents))).toThrow(`[${reason}]`);
  });
});

describe("a file of copied rows", () => {
  it("is not there when the rows are refused", () => {
    const files = new MemoryFiles();
    expect(() => backends.jsonl(contentsOf({ entries: [entry("e_1", "e_0", 1)] }), files)).toThrow(
      Corruption,
    );
    expect(files.paths()).toEqual([]);
  });
});
