/**
 * Looking without writing: beside a live writer, after a death, on copies with and without a WAL. Each test compares
 * the folder before and after, because a look that leaves a file behind has written.
 */
import fs, { copyFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { Corruption } from "../../foundation/index.ts";
import { StorageFault } from "../contract.ts";
import { dumpSqlite } from "./dump.ts";
import { SqliteStorage } from "./storage.ts";
import {
  copyChanging,
  entryWrite,
  factWrite,
  memorySession,
  sampleMetadata,
  sampleOptions,
  withFile,
} from "./test-support.ts";

/** The files of a folder with their bytes, without the shared memory, which is no part of a session. */
function contentOf(folder: string): Record<string, string> {
  const names = readdirSync(folder).filter((name) => !name.endsWith("-shm"));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name)).toString("base64")]));
}

/** A live session in a file, its newest commit still in the WAL alone. */
async function withLive(
  test: (given: { path: string; folder: string; storage: SqliteStorage }) => Promise<void>,
): Promise<void> {
  await withFile(async (path, folder) => {
    const storage = await SqliteStorage.create({ kind: "file", path }, sampleMetadata, sampleOptions());
    await storage.commit({ writes: [entryWrite("a", null), factWrite("z", 1), factWrite("b", 2)] });
    await test({ path, folder, storage });
    await storage.close();
  });
}

describe("a dump", () => {
  it("is everything, entries and usage by seq, registers by namespace and seq", async () => {
    const storage = await memorySession();
    await storage.commit({
      writes: [factWrite("z", 1), entryWrite("b", null), factWrite("a", 2), entryWrite("a", "b")],
    });
    const dump = storage.dump();
    expect(dump.entries.map(({ id }) => id)).toEqual(["b", "a"]);
    expect(dump.registers.map(({ namespace, key }) => `${namespace}/${key}`)).toEqual([
      "fact.custom/z",
      "fact.custom/a",
      "lane.leaf/main",
      "lane.state/main",
    ]);
    expect(dumpSqlite({ kind: "image", bytes: storage.image() })).toEqual(dump);
    await storage.close();
  });

  it("beside a live writer sees its last commit, changes nothing, and does not hinder it", async () => {
    await withLive(async ({ path, folder, storage }) => {
      const before = contentOf(folder);
      expect(dumpSqlite({ kind: "file", path })).toEqual(storage.dump());
      expect(contentOf(folder)).toEqual(before);
      await storage.commit({ writes: [entryWrite("b", "a")] });
      expect(dumpSqlite({ kind: "file", path }).entries).toHaveLength(2);
    });
  });

  it("of a file that was closed reads the file alone and leaves nothing beside it", async () => {
    await withFile(async (path, folder) => {
      const storage = await SqliteStorage.create({ kind: "file", path }, sampleMetadata, sampleOptions());
      await storage.commit({ writes: [entryWrite("a", null)] });
      const left = storage.dump();
      await storage.close();
      const before = contentOf(folder);
      expect(dumpSqlite({ kind: "file", path })).toEqual(left);
      expect(contentOf(folder)).toEqual(before);
      expect(readdirSync(folder)).toEqual(["session.db"]);
    });
  });

  it("of a copy with its WAL reads both, and leaves no shared memory behind", async () => {
    await withLive(async ({ path, folder, storage }) => {
      const copy = join(folder, "copy.db");
      copyFileSync(path, copy);
      copyFileSync(`${path}-wal`, `${copy}-wal`);
      const before = contentOf(folder);
      expect(dumpSqlite({ kind: "file", path: copy })).toEqual(storage.dump());
      expect(contentOf(folder)).toEqual(before);
      expect(existsSync(`${copy}-shm`)).toBe(false);
    });
  });

  it("of a copy that lost its WAL is refused or old, never a mixture", async () => {
    await withLive(async ({ path, folder }) => {
      const copy = join(folder, "copy.db");
      copyFileSync(path, copy);
      // Nothing was checkpointed yet, so the main file alone is not a session.
      expect(() => dumpSqlite({ kind: "file", path: copy })).toThrow(Corruption);
    });
  });

  it("after a death reads what was committed and repairs nothing", async () => {
    await withLive(async ({ path, folder, storage }) => {
      const left = storage.dump();
      const dead = join(folder, "dead.db");
      for (const suffix of ["", "-wal", "-shm"]) copyFileSync(path + suffix, dead + suffix);
      const before = contentOf(folder);
      for (let look = 0; look < 2; look++) expect(dumpSqlite({ kind: "file", path: dead })).toEqual(left);
      expect(contentOf(folder)).toEqual(before);
    });
  });

  it("of a file whose change was cut off undoes it in a copy, and leaves file and journal", () =>
    withFile(async (path, folder) => {
      const storage = await SqliteStorage.create({ kind: "file", path }, sampleMetadata, sampleOptions());
      await storage.commit({ writes: [entryWrite("a", null)] });
      const left = storage.dump();
      await storage.close();
      const dead = join(folder, "dead.db");
      copyChanging(path, dead);
      expect(readFileSync(dead).equals(readFileSync(path))).toBe(false);
      const before = contentOf(folder);
      expect(dumpSqlite({ kind: "file", path: dead })).toEqual(left);
      expect(contentOf(folder)).toEqual(before);
    }));

  it("of a file that changes each time that it is read is a fault, and no mixture of its versions", () =>
    withFile(async (path) => {
      const storage = await SqliteStorage.create({ kind: "file", path }, sampleMetadata, sampleOptions());
      await storage.close();
      let readings = 0;
      const readFileSyncOfHost = fs.readFileSync;
      vi.spyOn(fs, "readFileSync").mockImplementation((...call) => {
        readings += 1;
        fs.utimesSync(path, readings, readings);
        return readFileSyncOfHost(...call);
      });
      syncBuiltinESMExports();
      try {
        expect(() => dumpSqlite({ kind: "file", path })).toThrow("was changed each of the 5 times");
        expect(readings).toBe(5);
      } finally {
        vi.restoreAllMocks();
        syncBuiltinESMExports();
      }
      expect(dumpSqlite({ kind: "file", path }).metadata).toEqual(sampleMetadata);
    }));

  it("of nothing is a fault, and of something else a corruption", async () => {
    await withFile(async (path) => {
      expect(() => dumpSqlite({ kind: "file", path })).toThrow(StorageFault);
      expect(() => dumpSqlite({ kind: "file", path: `${path}/in/no/folder` })).toThrow(StorageFault);
      expect(() =>
        dumpSqlite({ kind: "image", bytes: Buffer.from("not a database, but long enough to be read") }),
      ).toThrow(Corruption);
      expect(() => dumpSqlite({ kind: "image", bytes: new Uint8Array() })).toThrow(Corruption);
    });
  });
});
