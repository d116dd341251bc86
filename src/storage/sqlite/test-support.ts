/**
 * What the tests of this folder share: a session, entries of each type, folders that are removed again, a driver that
 * lets a test see and break what passes through it.
 */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { VirtualClock } from "../../foundation/index.ts";
import type { EntryDraft, EntryType, Write } from "../../model/index.ts";
import type { SessionMetadata } from "../contract.ts";
import { type Connect, Connection } from "./connection.ts";
import type { SqliteOptions } from "./options.ts";
import { SqliteStorage } from "./storage.ts";

export const sampleMetadata: SessionMetadata = {
  id: "s_1",
  createdAt: 1_000,
  storageVersion: 1,
  cwd: "/work",
};

/** Options over a fresh virtual clock; tests that need the clock hand in their own. */
export function sampleOptions(options: Partial<SqliteOptions> = {}): SqliteOptions {
  return { clock: new VirtualClock(2_000), ownerId: "writer", ...options };
}

/** A new session in memory. */
export function memorySession(options: Partial<SqliteOptions> = {}): Promise<SqliteStorage> {
  return SqliteStorage.create({ kind: "memory" }, sampleMetadata, sampleOptions(options));
}

/** Runs a test over a folder of its own, with the path of a session file that does not exist yet. */
export async function withFile(test: (path: string, folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sqlite-test-"));
  try {
    await test(join(folder, "session.db"), folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** An entry of any type, with what its type demands. */
export function sampleEntry(id: string, parentId: string | null, type: EntryType = "message"): EntryDraft {
  const placed = { id, parentId };
  switch (type) {
    case "message":
      return { ...placed, type, message: { role: "user", content: id, timestamp: 1 } };
    case "compaction":
      return { ...placed, type, summary: id, retainedTail: [], tokensBefore: 1, fromHook: false };
    case "branch_summary":
      return { ...placed, type, summary: id, fromId: "e_0", fromHook: false };
    case "custom":
      return { ...placed, type, customType: "note", data: { id } };
  }
}

/** The write that inserts it. */
export function entryWrite(id: string, parentId: string | null, type?: EntryType): Write {
  return { kind: "entry", entry: sampleEntry(id, parentId, type) };
}

/** The write of a fact. */
export function factWrite(
  key: string,
  value: Extract<Write, { namespace: "fact.custom" }> extends { value: infer V } ? V : never,
): Write {
  return { kind: "register", op: "set", namespace: "fact.custom", key, value };
}

/** A driver that keeps the SQL of everything that ran, values included, and the databases that it opened. */
export function watchingDriver() {
  const ran: string[] = [];
  const databases: Database.Database[] = [];
  const connect: Connect = (filename, options) => {
    const database = new Database(filename, { ...options, verbose: (sql) => ran.push(String(sql)) });
    databases.push(database);
    return database;
  };
  return { connect, ran, databases };
}

/** A driver whose statements fail with a code while `failures` names their SQL. */
export function failingDriver() {
  const failures = new Map<string, string>();
  const seen = new Set<string>();
  const connect: Connect = (filename, options) => {
    const database = new Database(filename, options);
    const prepare = database.prepare.bind(database);
    database.prepare = ((sql: string) => {
      seen.add(sql);
      const statement = prepare(sql);
      const run = statement.run.bind(statement);
      statement.run = (...parameters: unknown[]) => {
        const code = failures.get(sql);
        if (code !== undefined) throw new Database.SqliteError(`injected into ${sql}`, code);
        return run(...parameters);
      };
      return statement;
    }) as typeof database.prepare;
    return database;
  };
  return { connect, failures, prepared: () => [...seen] };
}

/** A copy of a closed session whose writer dies inside a change of the whole file: with a journal that undoes it. */
export function copyChanging(path: string, copy: string): void {
  const writer = new Connection({ kind: "file", path });
  writer.foldIntoFile();
  writer.execute("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE");
  // More than the cache holds, so that the file is changed before the end.
  const insert = writer.statement("INSERT INTO registers VALUES ('fact.custom', ?, 9, ?)");
  for (let at = 0; at < 200; at++) insert.run(`k${at}`, JSON.stringify("y".repeat(3_000)));
  for (const suffix of ["", "-journal"]) copyFileSync(path + suffix, copy + suffix);
  writer.execute("ROLLBACK");
  writer.close();
}
