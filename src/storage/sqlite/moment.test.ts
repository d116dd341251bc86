/** Copies of one moment: what they hold, what they say of the WAL, and when they are made again. */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Corruption } from "../../foundation/index.ts";
import { branchIndexFaults } from "./branch-index-check.ts";
import { Connection } from "./connection.ts";
import { dumpSqlite } from "./dump.ts";
import { sqliteMoment } from "./moment.ts";
import { SqliteStorage } from "./storage.ts";
import { surveySqlite } from "./survey.ts";
import {
  copyChanging,
  entryWrite,
  factWrite,
  sampleMetadata,
  sampleOptions,
  withFile,
} from "./test-support.ts";
import { walExtent } from "./wal.ts";

/** A session whose writer was killed after some commits: copies of its files. */
async function killed(path: string, to: string): Promise<void> {
  const storage = await SqliteStorage.create({ kind: "file", path }, sampleMetadata, sampleOptions());
  for (let at = 0; at < 5; at++) {
    await storage.commit({ writes: [entryWrite(`e_${at}`, at === 0 ? null : `e_${at - 1}`)] });
  }
  for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, to + suffix);
  await storage.close();
}

describe("a moment of a session database", () => {
  it("holds what the file and its WAL hold together, and changes neither", () =>
    withFile(async (path, folder) => {
      const copy = `${folder}/copy.db`;
      await killed(path, copy);
      const before = [readFileSync(copy), readFileSync(`${copy}-wal`)];
      const { image, wal, hasJournal } = sqliteMoment(copy);
      const { dump, integrityFaults, branchIndexFaults: faults } = surveySqlite(image);
      expect(dump.ok && dump.value.entries.map(({ id }) => id)).toEqual(["e_0", "e_1", "e_2", "e_3", "e_4"]);
      expect([integrityFaults, faults, hasJournal]).toEqual([[], { ok: true, value: [] }, false]);
      expect(wal?.committedBytes).toBe(wal?.byteLength);
      expect([readFileSync(copy), readFileSync(`${copy}-wal`)]).toEqual(before);
    }));

  it("is what SQLite makes of a WAL that was checkpointed and begun again, and of one whose pages were given back", () =>
    withFile(async (path, folder) => {
      const copy = `${folder}/copy.db`;
      const storage = await SqliteStorage.create({ kind: "file", path }, sampleMetadata, sampleOptions());
      const other = new Connection({ kind: "file", path });
      for (let round = 0; round < 6; round++) {
        for (let at = 0; at < 8; at++) {
          await storage.commit({ writes: [factWrite(`f${at}`, "x".repeat(9_000 * (at % 3)))] });
        }
        if (round === 2) other.pragma("wal_checkpoint(RESTART)");
        if (round === 4) other.pragma("wal_checkpoint(PASSIVE)");
        if (round === 3) other.execute("VACUUM");
        for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, copy + suffix);
        const { dump, integrityFaults } = surveySqlite(sqliteMoment(copy).image);
        expect(integrityFaults).toEqual([]);
        expect(dump).toEqual({ ok: true, value: dumpSqlite({ kind: "file", path: copy }) });
      }
      other.close();
      await storage.close();
    }));

  it("undoes what a rollback journal stands for", () =>
    withFile(async (path, folder) => {
      const storage = await SqliteStorage.create({ kind: "file", path }, sampleMetadata, sampleOptions());
      await storage.commit({ writes: [entryWrite("kept", null)] });
      await storage.close();
      const copy = `${folder}/copy.db`;
      copyChanging(path, copy);
      expect(readFileSync(copy).length).toBeGreaterThan(readFileSync(path).length);
      const moment = sqliteMoment(copy);
      expect(moment.hasJournal).toBe(true);
      const { dump, integrityFaults } = surveySqlite(moment.image);
      expect(integrityFaults).toEqual([]);
      expect(dump.ok && dump.value.registers.map(({ namespace }) => namespace)).toEqual([
        "lane.leaf",
        "lane.state",
      ]);
    }));

  it("ends at the last whole transaction of a WAL that is cut off anywhere", () =>
    withFile(async (path, folder) => {
      const copy = `${folder}/copy.db`;
      await killed(path, copy);
      const wal = readFileSync(`${copy}-wal`);
      const counts = new Set<number>();
      for (let length = wal.length; length >= 0; length -= 1_500) {
        const cut = wal.subarray(0, length);
        writeFileSync(`${copy}-wal`, cut);
        const moment = sqliteMoment(copy);
        const { committedBytes, damagedAt } = walExtent(cut);
        expect(committedBytes).toBeLessThanOrEqual(length);
        expect(damagedAt).toBeUndefined();
        // It is what SQLite makes of the same files.
        const { dump, applicationId } = surveySqlite(moment.image);
        if (applicationId === 0) expect(() => dumpSqlite({ kind: "file", path: copy })).toThrow(Corruption);
        else expect(dump).toEqual({ ok: true, value: dumpSqlite({ kind: "file", path: copy }) });
        counts.add(entryCountOf(moment.image));
      }
      expect(counts.size).toBeGreaterThan(3);
    }));

  it("says where a WAL is damaged in front of commits, which SQLite drops without a word", () =>
    withFile(async (path, folder) => {
      const copy = `${folder}/copy.db`;
      await killed(path, copy);
      const wal = readFileSync(`${copy}-wal`);
      const frameBytes = 24 + wal.readUInt32BE(8);
      const at = 32 + 2 * frameBytes;
      wal[at + 50] = (wal[at + 50] ?? 0) ^ 1;
      expect(walExtent(wal).damagedAt).toBe(at);
      writeFileSync(`${copy}-wal`, wal);
      const whole = sqliteMoment(copy);
      expect(whole.wal?.damagedAt).toBe(at);
      expect(entryCountOf(whole.image)).toBeLessThan(5);
    }));
});

describe("a check of the branch index", () => {
  // "a" to "d" are one segment, "e" stands on it at "c", and "f" has one of its own with a copy of "a".
  const [first, onFirst, copied] = ["00000000003", "00000000007", "00000000008"];
  const damages: readonly (readonly [name: string, sql: string, expected: readonly string[]])[] = [
    [
      "a row is missing",
      "DELETE FROM branch_entries WHERE entry_id = 'b'",
      [`in segment ${first} entry c follows a, and its parent is b`, "entry b is in no segment"],
    ],
    [
      "a row has another seq",
      "UPDATE branch_entries SET entry_seq = 90 WHERE entry_id = 'b'",
      [
        `in segment ${first} entry c follows a, and its parent is b`,
        `segment ${first} holds b as a message with seq 90, and it is a message with 4`,
        `segment ${first} has the tip d (6), and its newest row is b`,
      ],
    ],
    [
      "a row has another type",
      "UPDATE branch_entries SET entry_type = 'custom' WHERE entry_id = 'b'",
      [`segment ${first} holds b as a custom with seq 4, and it is a message with 4`],
    ],
    [
      "a row names no entry",
      "UPDATE branch_entries SET entry_id = 'x' WHERE entry_id = 'b'",
      [
        `segment ${first} holds x, which is no entry`,
        `in segment ${first} entry c follows x, and its parent is b`,
        "entry b is in no segment",
      ],
    ],
    [
      "a segment is missing",
      "DELETE FROM branch_meta WHERE base_branch_id IS NULL",
      [`segment ${first} has rows and is no segment`, `segment ${copied} has rows and is no segment`],
    ],
    [
      "a base is another entry",
      "UPDATE branch_meta SET base_seq = base_seq - 1 WHERE base_branch_id IS NOT NULL",
      [`in segment ${onFirst} entry e follows b, and its parent is c`],
    ],
    [
      "a base is no row",
      "UPDATE branch_meta SET base_seq = 90 WHERE base_branch_id IS NOT NULL",
      [`segment ${onFirst} stands on ${first} at 90, where there is no row`],
    ],
    [
      "a base is half there",
      "UPDATE branch_meta SET base_seq = NULL WHERE base_branch_id IS NOT NULL",
      [`segment ${onFirst} has half a base`],
    ],
    [
      "a segment stands on itself",
      "UPDATE branch_meta SET base_branch_id = branch_id WHERE base_branch_id IS NOT NULL",
      [`segment ${onFirst} stands on ${onFirst}, which is not older`],
    ],
    [
      "a tip is another entry",
      "UPDATE branch_meta SET tip_seq = 90",
      [
        `segment ${first} has the tip d (90), and its newest row is d`,
        `segment ${onFirst} has the tip e (90), and its newest row is e`,
        `segment ${copied} has the tip f (90), and its newest row is f`,
      ],
    ],
    [
      "everything is gone",
      "DELETE FROM branch_entries; DELETE FROM branch_meta",
      ["a", "b", "c", "d", "e", "f"].map((id) => `entry ${id} is in no segment`),
    ],
  ];

  it.each(damages)("finds that %s, and a rebuild heals it", (_name, sql, expected) =>
    withFile(async (path) => {
      const options = sampleOptions();
      const made = await SqliteStorage.create({ kind: "file", path }, sampleMetadata, options);
      // A second branch below a compaction, which stands on the first segment.
      await made.commit({
        writes: [entryWrite("a", null), entryWrite("b", "a"), entryWrite("c", "b", "compaction")],
      });
      await made.commit({ writes: [entryWrite("d", "c"), entryWrite("e", "c"), entryWrite("f", "a")] });
      await made.close();
      const edit = new Connection({ kind: "file", path });
      expect(branchIndexFaults(edit)).toEqual([]);
      edit.execute(sql);
      expect(branchIndexFaults(edit)).toEqual(expected);
      expect(branchIndexFaults(edit, 1)).toEqual(expected.slice(0, 1));
      edit.close();
      const storage = await SqliteStorage.open({ kind: "file", path }, options);
      await storage.rebuildBranchIndex();
      const paths = async () => {
        const found: string[] = [];
        for (const start of ["d", "e", "f"]) {
          found.push((await storage.scanBranchStructure({ start })).map(({ id }) => id).join(""));
        }
        return found;
      };
      expect(await paths()).toEqual(["dcba", "ecba", "fa"]);
      // Appends go on over the rebuilt index as over one that was never damaged.
      await storage.commit({ writes: [entryWrite("g", "e"), entryWrite("h", "b"), factWrite("x", 1)] });
      await storage.close();
      const look = new Connection({ kind: "file", path }, { readonly: true });
      expect(branchIndexFaults(look)).toEqual([]);
      look.close();
    }),
  );
});

function entryCountOf(image: Uint8Array): number {
  const { dump } = surveySqlite(image);
  return dump.ok ? dump.value.entries.length : -1;
}
