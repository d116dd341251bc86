/**
 * Creation and recognition (spec §1.7, §2.8): the tables to the letter, a new session whole or not at all, and nothing
 * done to a file that is something else.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { Corruption } from "../../foundation/index.ts";
import { zeroUsage } from "../../model/index.ts";
import { StorageFault } from "../contract.ts";
import { SessionExists } from "../creation.ts";
import { dumpSqlite } from "./dump.ts";
import { SqliteStorage } from "./storage.ts";
import {
  entryWrite,
  factWrite,
  failingDriver,
  memorySession,
  sampleMetadata,
  sampleOptions,
  withFile,
} from "./test-support.ts";

/** The list of spec §1.7, plus `session.id` and `session.last_fence`, which `schema.ts` accounts for. */
const COLUMNS = {
  entries: "id parent_id seq type custom_type timestamp payload",
  registers: "namespace key seq value",
  usage_ledger: "id seq entry_id adjustment usage details",
  branch_entries: "branch_id entry_id entry_seq entry_type",
  branch_meta: "branch_id tip_entry_id tip_seq base_branch_id base_seq",
  session:
    "id created_at parent_session_id storage_version metadata message_count usage_payload next_seq last_fence",
  writer_lease: "owner_id fence expires_at_ms",
};
const INDEXES = {
  ix_entry_parent: "entries(parent_id)",
  ix_entry_seq: "entries(seq, type)",
  ix_usage_seq: "usage_ledger(seq)",
  ix_be_seq: "branch_entries(branch_id, entry_seq, entry_id, entry_type)",
  ix_be_type: "branch_entries(branch_id, entry_type, entry_seq, entry_id)",
  ix_be_entry: "branch_entries(entry_id)",
  ix_bm_tip: "branch_meta(tip_entry_id)",
};

describe("a new session", () => {
  it("has the tables and indexes of the specification", async () => {
    const storage = await memorySession();
    const database = new Database(storage.image());
    const named = (type: string) =>
      database
        .prepare("SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = ? AND sql IS NOT NULL")
        .all(type) as {
        name: string;
        tbl_name: string;
        sql: string;
      }[];
    const columns = named("table").map(({ name }) => {
      const info = database.pragma(`table_info(${name})`) as { name: string }[];
      return [name, info.map((column) => column.name).join(" ")];
    });
    expect(Object.fromEntries(columns)).toEqual(COLUMNS);
    const indexes = named("index").map(({ name, tbl_name }) => {
      const info = database.pragma(`index_info(${name})`) as { name: string }[];
      return [name, `${tbl_name}(${info.map((column) => column.name).join(", ")})`];
    });
    expect(Object.fromEntries(indexes)).toEqual(INDEXES);
    const withoutRowId = named("table").filter(({ sql }) => /WITHOUT ROWID/.test(sql));
    expect(withoutRowId.map(({ name }) => name)).toEqual(["entries", "usage_ledger", "branch_entries"]);
    expect(
      named("index")
        .filter(({ sql }) => /UNIQUE/.test(sql))
        .map(({ name }) => name),
    ).toEqual(["ix_bm_tip"]);
    database.close();
    await storage.close();
  });

  it("holds main at the root, running nothing, as seq 1 and 2; the first commit is seq 3", async () => {
    const storage = await memorySession();
    expect(await storage.getRegister("lane.leaf", "main")).toEqual({
      namespace: "lane.leaf",
      key: "main",
      value: null,
      seq: 1,
    });
    expect(await storage.getRegister("lane.state", "main")).toMatchObject({
      value: { currentOperationId: null, pendingNextRun: [] },
      seq: 2,
    });
    expect(storage.metadata).toEqual(sampleMetadata);
    expect(await storage.commit({ writes: [factWrite("k", 1)] })).toEqual({
      firstSeq: 3,
      seqs: [3],
      timestamp: 2_000,
    });
    await storage.close();
  });

  it("keeps every field of its metadata", async () => {
    const metadata = {
      ...sampleMetadata,
      storageVersion: 0,
      parentSessionId: "s_0",
      legacyParentSessionPath: "/old/\u2028/s.jsonl",
    };
    const storage = await SqliteStorage.create({ kind: "memory" }, metadata, sampleOptions());
    expect(storage.metadata).toEqual(metadata);
    const bytes = storage.image();
    await storage.close();
    expect(dumpSqlite({ kind: "image", bytes }).metadata).toEqual(metadata);
  });

  it("can start from what another one holds, with seqs, times and order kept", async () => {
    const source = await memorySession();
    await source.commit({
      writes: [entryWrite("a", null), factWrite("k", 1), entryWrite("b", "a"), entryWrite("c", "a")],
    });
    const dump = source.dump();
    const copy = await SqliteStorage.create(
      { kind: "memory" },
      { ...sampleMetadata, id: "s_2", parentSessionId: "s_1" },
      sampleOptions(),
      dump,
    );
    expect({ ...copy.dump(), metadata: 0 }).toEqual({ ...dump, metadata: 0 });
    expect(await copy.scanBranch({ start: "c" })).toEqual(await source.scanBranch({ start: "c" }));
    expect(await copy.commit({ writes: [entryWrite("d", "c")] })).toMatchObject({ firstSeq: 7 });
    await copy.close();
    await source.close();
  });

  it("is refused where one is, which stays as it was", async () => {
    await withFile(async (path) => {
      const source = { kind: "file" as const, path };
      const storage = await SqliteStorage.create(source, sampleMetadata, sampleOptions());
      await storage.commit({ writes: [factWrite("k", 1)] });
      const before = storage.dump();
      await expect(SqliteStorage.create(source, sampleMetadata, sampleOptions())).rejects.toBeInstanceOf(
        SessionExists,
      );
      expect(storage.dump()).toEqual(before);
      await storage.close();
    });
  });
});

describe("a crash inside the creation", () => {
  it("leaves nothing usable, and the creation can be done again", async () => {
    await withFile(async (path) => {
      const source = { kind: "file" as const, path };
      const { connect, failures } = failingDriver();
      failures.set("COMMIT", "SQLITE_IOERR_WRITE");
      await expect(
        SqliteStorage.create(source, sampleMetadata, sampleOptions({ connect })),
      ).rejects.toBeInstanceOf(StorageFault);
      await expect(SqliteStorage.open(source, sampleOptions())).rejects.toMatchObject({
        reason: "not_a_session",
      });
      const storage = await SqliteStorage.create(source, sampleMetadata, sampleOptions());
      await storage.commit({ writes: [factWrite("k", 1)] });
      await storage.close();
    });
  });

  it("at any earlier statement leaves nothing either", async () => {
    const { connect, failures, prepared } = failingDriver();
    const source = await memorySession();
    const row = { id: "u", usage: zeroUsage(), adjustment: false };
    await source.commit({
      // The last entry forks, so that rows of the branch index are copied too.
      writes: [entryWrite("a", null), { kind: "usage", row }, entryWrite("b", "a"), entryWrite("c", "a")],
    });
    const contents = source.dump();
    await source.close();
    const options = sampleOptions({ connect });
    await (await SqliteStorage.create({ kind: "memory" }, sampleMetadata, options, contents)).close();
    const writes = prepared().filter((sql) => /^(INSERT|UPDATE)/.test(sql));
    expect(writes.length).toBeGreaterThan(8);
    for (const sql of writes) {
      await withFile(async (path) => {
        const source = { kind: "file" as const, path };
        failures.set(sql, "SQLITE_FULL");
        await expect(SqliteStorage.create(source, sampleMetadata, options, contents)).rejects.toThrow();
        failures.clear();
        await expect(SqliteStorage.open(source, sampleOptions())).rejects.toMatchObject({
          reason: "not_a_session",
        });
      });
    }
  });

  it("beside a WAL of a database that was removed: the old pages do not come back", async () => {
    await withFile(async (path) => {
      const old = new Database(path);
      old.pragma("journal_mode = WAL");
      old.exec("CREATE TABLE old(x); INSERT INTO old VALUES (1)");
      const wal = readFileSync(`${path}-wal`);
      old.close();
      writeFileSync(path, "");
      writeFileSync(`${path}-wal`, wal);
      const storage = await SqliteStorage.create({ kind: "file", path }, sampleMetadata, sampleOptions());
      await storage.close();
      expect(dumpSqlite({ kind: "file", path }).metadata).toEqual(sampleMetadata);
    });
  });
});

describe("opening", () => {
  it("refuses what is no database, no session, or of a newer layout, and changes none of them", async () => {
    await withFile(async (path, folder) => {
      const source = { kind: "file" as const, path };
      const refusal = async () => {
        const error = await SqliteStorage.open(source, sampleOptions()).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(Corruption);
        expect((error as Corruption).place.file).toBe(path);
        return (error as Corruption).reason;
      };
      writeFileSync(path, '{"kind":"header"}\n'.repeat(100));
      const text = readFileSync(path);
      expect(await refusal()).toBe("not_a_database");
      expect(readFileSync(path)).toEqual(text);
      expect(readdirSync(folder)).toEqual(["session.db"]);

      writeFileSync(path, "");
      const foreign = new Database(path);
      foreign.exec("CREATE TABLE notes(x)");
      foreign.close();
      const bytes = readFileSync(path);
      expect(await refusal()).toBe("not_a_session");
      // In particular it was not turned into a WAL database.
      expect(readFileSync(path)).toEqual(bytes);

      writeFileSync(path, (await memorySession()).image());
      const newer = new Database(path);
      newer.pragma("user_version = 2");
      newer.close();
      expect(await refusal()).toBe("newer_layout");
    });
  });

  it("refuses a file that is not there, and makes none", async () => {
    await withFile(async (path, folder) => {
      await expect(SqliteStorage.open({ kind: "file", path }, sampleOptions())).rejects.toBeInstanceOf(
        StorageFault,
      );
      expect(readdirSync(folder)).toEqual([]);
    });
  });
});
