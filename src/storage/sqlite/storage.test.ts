/**
 * The SQLite store by itself: reopening, times, values that text columns are known to lose, rows that do not decode,
 * images and abandoned lives. That it answers as Memory does is in `equivalence.test.ts`.
 */
import { readdirSync } from "node:fs";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { Corruption, NotJson, VirtualClock } from "../../foundation/index.ts";
import { type JsonValue, zeroUsage } from "../../model/index.ts";
import { StorageClosed } from "../contract.ts";
import { SqliteStorage } from "./storage.ts";
import {
  entryWrite,
  factWrite,
  memorySession,
  sampleMetadata,
  sampleOptions,
  withFile,
} from "./test-support.ts";

describe("reopening", () => {
  it("finds what was committed, and goes on where it ended", async () => {
    await withFile(async (path, folder) => {
      const source = { kind: "file" as const, path };
      const first = await SqliteStorage.create(source, sampleMetadata, sampleOptions());
      await first.commit({ writes: [entryWrite("a", null), factWrite("k", { deep: [1] })] });
      const left = first.dump();
      await first.close();
      expect(readdirSync(folder)).toEqual(["session.db"]);
      const second = await SqliteStorage.open(source, sampleOptions());
      expect(second.dump()).toEqual(left);
      expect(await second.commit({ writes: [entryWrite("b", "a")] })).toMatchObject({ firstSeq: 5 });
      await second.close();
    });
  });

  it("finds what an abandoned life committed, and nothing of what it had not", async () => {
    await withFile(async (path) => {
      const source = { kind: "file" as const, path };
      const clock = new VirtualClock(2_000);
      const dead = await SqliteStorage.create(source, sampleMetadata, sampleOptions({ clock }));
      await dead.commit({ writes: [entryWrite("a", null)] });
      const left = dead.dump();
      dead.abandon();
      await expect(dead.commit({ writes: [entryWrite("b", "a")] })).rejects.toBeInstanceOf(StorageClosed);
      const next = await SqliteStorage.open(source, sampleOptions({ clock }));
      expect(next.dump()).toEqual(left);
      await next.close();
    });
  });

  it("works over an image, which it leaves unchanged", async () => {
    const storage = await memorySession();
    await storage.commit({ writes: [entryWrite("a", null)] });
    const bytes = storage.image();
    const before = Buffer.from(bytes);
    const left = storage.dump();
    await storage.close();
    for (let life = 0; life < 2; life++) {
      const fork = await SqliteStorage.open({ kind: "image", bytes }, sampleOptions());
      expect(fork.dump()).toEqual(left);
      await fork.commit({ writes: [entryWrite("b", "a"), factWrite("k", "x".repeat(50_000))] });
      fork.abandon();
    }
    expect(bytes.equals(before)).toBe(true);
  });

  it("an image of a file holds what still stands in its WAL", async () => {
    await withFile(async (path) => {
      const storage = await SqliteStorage.create({ kind: "file", path }, sampleMetadata, sampleOptions());
      await storage.commit({ writes: [entryWrite("a", null)] });
      const left = storage.dump();
      const fork = await SqliteStorage.open({ kind: "image", bytes: storage.image() }, sampleOptions());
      expect(fork.dump()).toEqual(left);
      await fork.close();
      await storage.close();
    });
  });

  it("close is idempotent, and every call after it is refused", async () => {
    const storage = await memorySession();
    await Promise.all([storage.close(), storage.close()]);
    await storage.close();
    storage.abandon();
    for (const call of [
      () => storage.commit({ writes: [factWrite("k", 1)] }),
      () => storage.getEntries([]),
      () => storage.getRegister("fact.custom", "k"),
      () => storage.listRegisters("fact.custom"),
      () => storage.scanBranch({ start: "a" }),
      () => storage.scanBranchStructure({ start: "a" }),
      () => storage.scanEntries({}),
      () => storage.scanUsage({}),
      () => storage.getStats(),
      () => storage.rebuildBranchIndex(),
    ]) {
      await expect(call()).rejects.toBeInstanceOf(StorageClosed);
    }
    expect(() => storage.dump()).toThrow(StorageClosed);
    expect(() => storage.image()).toThrow(StorageClosed);
  });
});

describe("times", () => {
  it("never fall, neither in one life nor over a reopening", async () => {
    const clock = new VirtualClock(5_000);
    const storage = await memorySession({ clock });
    expect((await storage.commit({ writes: [entryWrite("a", null)] })).timestamp).toBe(5_000);
    clock.step(-1_000);
    expect((await storage.commit({ writes: [factWrite("k", 1)] })).timestamp).toBe(5_000);
    const bytes = storage.image();
    await storage.close();
    const next = await SqliteStorage.open(
      { kind: "image", bytes },
      sampleOptions({ clock, leaseWaitMsMax: 1e6 }),
    );
    clock.step(-10_000_000);
    expect((await next.commit({ writes: [entryWrite("b", "a")] })).timestamp).toBe(5_000);
    await next.close();
  });
});

describe("values", () => {
  const values: [string, JsonValue][] = [
    ["NUL", "a\0b"],
    ["NUL alone", "\0"],
    ["line and paragraph separators", "\u2028\u2029\r\n"],
    ["astral characters", "😀\u{10ffff}"],
    ["the largest safe integers", [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 63, 1e308, 5e-324]],
    ["a key named __proto__", JSON.parse('{"__proto__":{"x":1},"constructor":null}')],
    ["null", null],
    ["text that looks like SQL", "'); DROP TABLE entries; --"],
  ];

  it.each(values)("come back equal: %s", async (_, value) => {
    const storage = await memorySession();
    await storage.commit({
      writes: [
        factWrite("k", value),
        {
          kind: "entry",
          entry: { id: "e", parentId: null, type: "custom", customType: "note", data: value },
        },
        { kind: "usage", row: { id: "u", usage: zeroUsage(), adjustment: true, details: value } },
      ],
    });
    expect((await storage.getRegister("fact.custom", "k"))?.value).toEqual(value);
    expect((await storage.getEntries(["e"])).get("e")).toMatchObject({ data: value });
    expect((await storage.scanUsage({}))[0]?.details).toEqual(value);
    await storage.close();
  });

  it("in keys and ids: a NUL keeps two of them apart, and a lone surrogate finds nothing", async () => {
    const storage = await memorySession();
    await storage.commit({
      writes: [
        factWrite("a\0b", 1),
        factWrite("a\0c", 2),
        factWrite("\ufffd", 3),
        entryWrite("e\0b", null),
        entryWrite("e\0c", "e\0b"),
        entryWrite("\ufffd", "e\0c"),
      ],
    });
    expect((await storage.listRegisters("fact.custom", "a\0")).map(({ value }) => value)).toEqual([1, 2]);
    expect((await storage.scanBranch({ start: "e\0c" })).map(({ id }) => id)).toEqual(["e\0c", "e\0b"]);
    expect(await storage.getRegister("fact.custom", "\ud800")).toBeUndefined();
    expect((await storage.getEntries(["\ud800"])).size).toBe(0);
    await expect(storage.scanBranch({ start: "\ud800" })).rejects.toMatchObject({ code: "UNKNOWN_ENTRY" });
    await expect(storage.commit({ writes: [factWrite("\ud800", 1)] })).rejects.toBeInstanceOf(NotJson);
    await storage.close();
  });

  it("share nothing with the store", async () => {
    const storage = await memorySession();
    const value = { list: [1] };
    await storage.commit({ writes: [factWrite("k", value)] });
    value.list.push(2);
    const read = (await storage.getRegister("fact.custom", "k"))?.value as { list: number[] } | undefined;
    expect(read).toEqual({ list: [1] });
    read?.list.push(3);
    expect((await storage.getRegister("fact.custom", "k"))?.value).toEqual({ list: [1] });
    await storage.close();
  });

  it("a ledger whose sum no number can hold is refused, and stays as it was", async () => {
    const storage = await memorySession();
    const write = (id: string) => ({
      kind: "usage" as const,
      row: { id, usage: { ...zeroUsage(), input: 1e308 }, adjustment: true },
    });
    await storage.commit({ writes: [write("u_1")] });
    await expect(storage.commit({ writes: [write("u_2")] })).rejects.toMatchObject({ reason: "malformed" });
    expect((await storage.getStats()).usage.input).toBe(1e308);
    await storage.commit({ writes: [factWrite("k", 1)] });
    await storage.close();
  });
});

describe("a stored row that does not decode", () => {
  const damages: [string, string, (storage: SqliteStorage) => Promise<unknown>][] = [
    ["entries[a]", "UPDATE entries SET payload = '{' WHERE id = 'a'", (s) => s.scanBranch({ start: "a" })],
    ["entries[a]", "UPDATE entries SET payload = '[]' WHERE id = 'a'", (s) => s.getEntries(["a"])],
    [
      "entries[a]",
      "UPDATE entries SET payload = '{\"id\":\"b\"}' WHERE id = 'a'",
      (s) => s.getEntries(["a"]),
    ],
    ["entries[a]", "UPDATE entries SET type = 'note' WHERE id = 'a'", (s) => s.scanEntries({})],
    [
      "entries[a]",
      "UPDATE entries SET custom_type = 'note' WHERE id = 'a'",
      (s) => s.scanBranchStructure({ start: "a" }),
    ],
    [
      "entries[a]",
      "UPDATE entries SET timestamp = 9007199254740993 WHERE id = 'a'",
      (s) => s.scanEntries({}),
    ],
    [
      "registers[fact.custom/k]",
      "UPDATE registers SET value = NULL WHERE key = 'k'",
      (s) => s.getRegister("fact.custom", "k"),
    ],
    [
      "registers[fact.custom/k]",
      "UPDATE registers SET seq = 'x' WHERE key = 'k'",
      (s) => s.listRegisters("fact.custom"),
    ],
    ["usage_ledger[u]", "UPDATE usage_ledger SET usage = '{}'", (s) => s.scanUsage({})],
    ["usage_ledger[u]", "UPDATE usage_ledger SET adjustment = 2", (s) => s.scanUsage({})],
    ["usage_ledger[u]", "UPDATE usage_ledger SET details = x'00'", (s) => s.scanUsage({})],
    ["session[usage_payload]", "UPDATE session SET usage_payload = 'null'", (s) => s.getStats()],
  ];

  it.each(damages)("is a Corruption at %s after %s", async (subject, damage, read) => {
    const healthy = await memorySession();
    await healthy.commit({
      writes: [
        entryWrite("a", null),
        factWrite("k", 1),
        { kind: "usage", row: { id: "u", usage: zeroUsage(), adjustment: false } },
      ],
    });
    const database = new Database(healthy.image());
    await healthy.close();
    const before = await SqliteStorage.open({ kind: "image", bytes: database.serialize() }, sampleOptions());
    await read(before);
    await before.close();
    database.exec(damage);
    const bytes = database.serialize();
    database.close();
    // The session row is read at open already; every other row where it is asked for.
    const reading = SqliteStorage.open({ kind: "image", bytes }, sampleOptions()).then(read);
    await expect(reading).rejects.toBeInstanceOf(Corruption);
    await expect(reading).rejects.toMatchObject({ place: { subject } });
  });

  it("damaged pages are a Corruption too, never an absence", async () => {
    const healthy = await memorySession();
    for (let count = 0; count < 200; count++) {
      await healthy.commit({ writes: [entryWrite(`e_${count}`, count === 0 ? null : `e_${count - 1}`)] });
    }
    const bytes = healthy.image();
    await healthy.close();
    const database = new Database(bytes);
    const root = database
      .prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'entries'")
      .pluck()
      .get() as number;
    database.close();
    bytes.fill(0xff, (root - 1) * 4096, root * 4096);
    const reading = SqliteStorage.open({ kind: "image", bytes }, sampleOptions()).then((storage) =>
      storage.getEntries(["e_1"]),
    );
    await expect(reading).rejects.toMatchObject({ name: "Corruption", reason: "sqlite_corrupt" });
  });
});

it("a migration raises the version with its writes, or not at all", async () => {
  const storage = await memorySession();
  await storage.commitMigration({ writes: [factWrite("k", 1)] }, 2);
  expect(storage.metadata.storageVersion).toBe(2);
  await expect(storage.commitMigration({ writes: [entryWrite("x", "nowhere")] }, 3)).rejects.toThrow();
  expect(storage.metadata.storageVersion).toBe(2);
  const { firstSeq } = await storage.commit({ writes: [factWrite("k", 2)] });
  expect(await storage.commitMigration({ writes: [] }, 3)).toMatchObject({
    firstSeq: firstSeq + 1,
    seqs: [],
  });
  expect(storage.metadata.storageVersion).toBe(3);
  await storage.close();
});
