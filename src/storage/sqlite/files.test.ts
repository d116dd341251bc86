import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { Corruption, VirtualClock } from "../../foundation/index.ts";
import { StorageFault } from "../contract.ts";
import { SessionExists } from "../creation.ts";
import type { SessionContents } from "../dump.ts";
import { type FileSystem, hostFileSystem } from "../files/file-system.ts";
import { STOP_FORMS, StoppingFiles } from "../files/stopping-files.ts";
import { dumpSqlite } from "./dump.ts";
import { createSqliteFile, removeSqliteSession, replaceSqliteSession } from "./files.ts";
import { SqliteStorage } from "./storage.ts";
import {
  entryWrite,
  factWrite,
  sampleEntry,
  sampleMetadata,
  sampleOptions,
  withFile,
} from "./test-support.ts";

const clock = () => new VirtualClock(2_000);
const contents: SessionContents = {
  entries: [{ ...sampleEntry("kept", null), seq: 7, timestamp: 5 }],
  registers: [
    { namespace: "lane.leaf", key: "main", value: "kept", seq: 8 },
    { namespace: "lane.state", key: "main", value: { currentOperationId: null, pendingNextRun: [] }, seq: 9 },
  ],
  usage: [],
};
const newMetadata = { ...sampleMetadata, storeGeneration: 1 };

/** A closed session with two entries, the newer one still in its WAL until the close. */
async function grown(path: string): Promise<void> {
  createSqliteFile(path, sampleMetadata, { clock: clock() });
  const storage = await open(path);
  await storage.commit({ writes: [entryWrite("one", null), factWrite("k", 1)] });
  await storage.commit({ writes: [entryWrite("two", "one")] });
  await storage.close();
}

function open(path: string, ownerId = "writer"): Promise<SqliteStorage> {
  const options = sampleOptions({ clock: clock(), ownerId, leaseWaitMsMax: 0, busyTimeoutMs: 50 });
  return SqliteStorage.open({ kind: "file", path }, options);
}

const idsIn = (path: string) => dumpSqlite({ kind: "file", path }).entries.map(({ id }) => id);
const besides = (path: string) => readdirSync(dirname(path)).sort();

describe("a session file that is created", () => {
  it("is whole, for its owner alone, and held by nobody", () =>
    withFile(async (path) => {
      createSqliteFile(path, sampleMetadata, { clock: clock() }, contents);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(dumpSqlite({ kind: "file", path })).toMatchObject({ metadata: sampleMetadata, ...contents });
      const storage = await open(path);
      expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600);
      expect((await storage.commit({ writes: [factWrite("k", 1)] })).firstSeq).toBe(10);
      await storage.close();
      expect(besides(path)).toEqual(["session.db"]);
    }));

  it("takes the place of no other, and of nothing that SQLite would read with it", () =>
    withFile(async (path) => {
      await grown(path);
      const bytes = readFileSync(path);
      expect(() => createSqliteFile(path, sampleMetadata, { clock: clock() })).toThrow(SessionExists);
      expect(readFileSync(path).equals(bytes)).toBe(true);
      rmSync(path);
      writeFileSync(`${path}-wal`, "of a session that is gone");
      expect(() => createSqliteFile(path, sampleMetadata, { clock: clock() })).toThrow("-wal beside it");
      expect(besides(path)).toEqual(["session.db-wal"]);
    }));

  it("is there or is not, whatever step fails or kills", () =>
    withFile(async (path) => {
      for (const form of STOP_FORMS) {
        for (let call = 1; ; call++) {
          const files = new StoppingFiles(hostFileSystem);
          files.arm({ call, ...form });
          const make = () =>
            createSqliteFile(path, sampleMetadata, { clock: clock(), fileSystem: files }, contents);
          const failure = outcomeOf(make);
          if (existsSync(path)) expect(idsIn(path)).toEqual(["kept"]);
          else expect(failure).toBeInstanceOf(StorageFault);
          const leftovers = besides(path).filter((name) => name !== "session.db");
          expect(leftovers.every((name) => /^session\.db\.new-\d+$/.test(name))).toBe(true);
          for (const name of besides(path)) rmSync(join(dirname(path), name));
          if (!files.hasFired) break;
        }
      }
    }));
});

describe("a session file that is replaced", () => {
  it("is the new session for everyone, and its fences go on", () =>
    withFile(async (path) => {
      await grown(path);
      const storage = await open(path);
      const { fence } = storage.lease;
      expect(await replaceSqliteSession(storage, newMetadata, options(), contents)).toBe(true);
      expect(besides(path)).toEqual(["session.db"]);
      expect(dumpSqlite({ kind: "file", path })).toMatchObject({ metadata: newMetadata, ...contents });
      await expect(storage.getStats()).rejects.toMatchObject({ code: "STORAGE_CLOSED" });
      const again = await open(path);
      expect(again.lease.fence).toBeGreaterThan(fence);
      await again.close();
    }));

  it("is the session itself where it was opened through a link, which stays a link", () =>
    withFile(async (path, folder) => {
      await grown(path);
      const link = join(folder, "link.db");
      symlinkSync(path, link);
      await replaceSqliteSession(await open(link), newMetadata, options(), contents);
      expect(lstatSync(link).isSymbolicLink()).toBe(true);
      expect([idsIn(path), idsIn(link)]).toEqual([["kept"], ["kept"]]);
    }));

  it("stays the old one while somebody reads it, and is free for the next writer", () =>
    withFile(async (path) => {
      await grown(path);
      const storage = await open(path);
      await storage.commit({ writes: [entryWrite("three", "two")] });
      const reader = new Database(path, { readonly: true });
      reader.prepare("SELECT count(*) FROM entries").get();
      const replacing = replaceSqliteSession(storage, newMetadata, options(), contents);
      await expect(replacing).rejects.toMatchObject({ code: "STORAGE_FAULT", recovered: true });
      await expect(replacing).rejects.toThrow("open elsewhere");
      reader.close();
      const next = await open(path, "next");
      await next.commit({ writes: [entryWrite("four", "three")] });
      await next.close();
      expect(idsIn(path)).toEqual(["one", "two", "three", "four"]);
      expect(besides(path)).toEqual(["session.db"]);
    }));

  it("stays the old one when the lease was lost, also to a writer that committed and has closed", () =>
    withFile(async (path) => {
      await grown(path);
      const stale = await open(path, "stale");
      await stale.commit({ writes: [entryWrite("three", "two")] });
      const thief = new Database(path);
      thief.exec("UPDATE writer_lease SET owner_id = 'thief', fence = fence + 1");
      thief.close();
      const lost = replaceSqliteSession(stale, newMetadata, options(), contents);
      await expect(lost).rejects.toMatchObject({ code: "LEASE_LOST" });
      expect(idsIn(path)).toEqual(["one", "two", "three"]);
      await expect(open(path)).rejects.toMatchObject({ code: "LEASE_HELD", holder: { ownerId: "thief" } });
    }));

  it("stays the old one for contents that no session can hold, and its store goes on", () =>
    withFile(async (path) => {
      await grown(path);
      const storage = await open(path);
      const orphan = { ...contents, entries: [{ ...sampleEntry("o", "nowhere"), seq: 7, timestamp: 5 }] };
      const impossible = replaceSqliteSession(storage, newMetadata, options(), orphan);
      await expect(impossible).rejects.toBeInstanceOf(Corruption);
      await storage.commit({ writes: [entryWrite("three", "two")] });
      await storage.close();
      expect(idsIn(path)).toEqual(["one", "two", "three"]);
    }));

  it("keeps out who opened the old file in that moment and wants to write to it", () =>
    withFile(async (path) => {
      await grown(path);
      const storage = await open(path);
      let late: Database.Database | undefined;
      const files = {
        ...hostFileSystem,
        rename: (from: string, to: string) => {
          late = new Database(path, { timeout: 50 });
          expect(() => late?.pragma("journal_mode = WAL")).toThrow("locked");
          hostFileSystem.rename(from, to);
        },
      };
      await replaceSqliteSession(storage, newMetadata, options(files), contents);
      expect(() => late?.exec("DELETE FROM writer_lease")).toThrow(/moved|readonly/);
      expect(() => late?.pragma("journal_mode = WAL")).toThrow(/moved|readonly/);
      late?.close();
      expect(besides(path)).toEqual(["session.db"]);
      expect(idsIn(path)).toEqual(["kept"]);
    }));

  it("is the old or the new one, whatever step fails or kills, with nothing beside that SQLite reads", () =>
    withFile(async (path) => {
      const seen = new Set<string>();
      for (const form of STOP_FORMS) {
        for (let call = 1; ; call++) {
          for (const name of besides(path)) rmSync(join(dirname(path), name));
          await grown(path);
          const storage = await open(path);
          const files = new StoppingFiles(hostFileSystem);
          files.arm({ call, ...form });
          const replacing = replaceSqliteSession(storage, newMetadata, options(files), contents);
          const failure = await replacing.then(ignore, (error: unknown) => error);
          if (failure !== undefined)
            expect(failure).toMatchObject({ code: "STORAGE_FAULT", recovered: true });
          const ids = idsIn(path).join();
          // A rename that happened and was reported as failed is the one way to fail and be replaced.
          const isReplaced = failure === undefined || form.when === "after";
          expect(isReplaced ? ["one,two", "kept"] : ["one,two"]).toContain(ids);
          seen.add(ids);
          expect(besides(path).some((name) => /^session\.db-/.test(name))).toBe(false);
          const next = await open(path);
          await next.commit({ writes: [factWrite("goes", "on")] });
          await next.close();
          if (!files.hasFired) break;
        }
      }
      expect([...seen].sort()).toEqual(["kept", "one,two"]);
    }));
});

describe("a session file that is removed", () => {
  it("is gone with all that SQLite kept beside it", () =>
    withFile(async (path) => {
      await grown(path);
      await removeSqliteSession(await open(path), options());
      expect(besides(path)).toEqual([]);
    }));

  it("is gone also where it was opened through a link", () =>
    withFile(async (path, folder) => {
      await grown(path);
      const link = join(folder, "link.db");
      symlinkSync(path, link);
      await removeSqliteSession(await open(link), options());
      expect(besides(path)).toEqual(["link.db"]);
    }));

  it("stays while somebody else has it open, and when the deletion fails", () =>
    withFile(async (path) => {
      await grown(path);
      const storage = await open(path);
      const reader = new Database(path, { readonly: true });
      reader.prepare("SELECT count(*) FROM entries").get();
      await expect(removeSqliteSession(storage, options())).rejects.toMatchObject({ recovered: true });
      reader.close();
      for (const call of [1, 2]) {
        const failing = new StoppingFiles(hostFileSystem);
        failing.arm({ call, kind: "fails", when: "before" });
        const removing = removeSqliteSession(await open(path), options(failing));
        await expect(removing).rejects.toMatchObject({ recovered: true });
      }
      const next = await open(path);
      await next.commit({ writes: [entryWrite("three", "two")] });
      await next.close();
      expect(idsIn(path)).toEqual(["one", "two", "three"]);
    }));
});

function options(fileSystem: FileSystem = hostFileSystem) {
  return { clock: clock(), busyTimeoutMs: 20, fileSystem };
}

function ignore(): void {}

function outcomeOf(call: () => void): unknown {
  try {
    call();
    return undefined;
  } catch (error) {
    return error;
  }
}
