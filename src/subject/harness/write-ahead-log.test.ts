import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { beginningOf, endOfLog, type LogEnd, tearsOfLog } from "./write-ahead-log.ts";

let folder: string;
let path: string;
let database: Database.Database;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "write-ahead-log-"));
  path = join(folder, "a.sqlite");
  database = new Database(path);
  database.pragma("journal_mode = WAL");
  database.exec("CREATE TABLE t(x)");
});
afterAll(() => {
  database.close();
  rmSync(folder, { recursive: true });
});

const end = () => endOfLog(path) as LogEnd;

describe("the write-ahead log", () => {
  it("ends where its file does, while it was begun once", () => {
    expect(end().offset).toBe(statSync(`${path}-wal`).size);
    const before = end();
    database.exec("INSERT INTO t VALUES (1)");
    expect(beginningOf(before, end())).toBe(before.offset);
    expect(end().offset).toBe(before.offset + end().frameBytes);
  });

  it("is torn before its last frame and in the middle of it", () => {
    const before = end();
    const rows = Array.from({ length: 40 }, () => `('${"x".repeat(2000)}')`).join();
    database.exec(`INSERT INTO t VALUES ${rows}`);
    const after = end();
    expect(after.offset - before.offset).toBeGreaterThan(3 * after.frameBytes);
    const lastFrame = after.offset - after.frameBytes;
    expect(tearsOfLog(before.offset, after)).toEqual([lastFrame, lastFrame + after.frameBytes / 2]);
    expect(tearsOfLog(after.offset, after)).toEqual([]);
  });

  it("begins anew after a checkpoint, and what stood behind its end does not count", () => {
    const before = end();
    database.pragma("wal_checkpoint(RESTART)");
    database.exec("INSERT INTO t VALUES (2)");
    expect(end().salts).not.toBe(before.salts);
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(end().offset);
    expect(beginningOf(before, end())).toBe(32);
    expect(tearsOfLog(32, end())).toEqual([32, 32 + end().frameBytes / 2]);
  });

  it("is none where a database has none, or one that is not begun", () => {
    expect(endOfLog(join(folder, "none.sqlite"))).toBeUndefined();
    writeFileSync(join(folder, "empty.sqlite-wal"), "");
    expect(endOfLog(join(folder, "empty.sqlite"))).toBeUndefined();
  });
});
