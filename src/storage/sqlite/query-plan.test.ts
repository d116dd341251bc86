/**
 * Query-plan guards (spec §9.3): the plan of a branch scan is asserted to the letter, and no read of the hot path may
 * scan a table or sort in a temporary b-tree.
 *
 * The specification abbreviates the first line of the plan of a scan; SQLite names both bounds of the range.
 */
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { BRANCH_INDEX_READS } from "./branch-index.ts";
import { branchStatement } from "./branch-scan.ts";
import { Connection } from "./connection.ts";
import { SESSION_READS } from "./reads.ts";
import { createTables } from "./schema.ts";
import { entryWrite, factWrite, memorySession, watchingDriver } from "./test-support.ts";
import { WRITER_READS } from "./writer.ts";

const connection = new Connection({ kind: "image", bytes: new Uint8Array() });
createTables(connection);

/** The lines of a plan. Parameters are unbound, as the planner sees them when a statement is prepared. */
function planOf(sql: string): string[] {
  const parameters = Array(sql.split("?").length - 1).fill(null);
  return connection
    .statement(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...parameters)
    .map((row) => String(row[3]));
}

const orders = ["newestFirst", "oldestFirst"] as const;
const columns = ["entry", "structure"] as const;

describe("the plan of a branch scan", () => {
  for (const order of orders) {
    for (const of of columns) {
      it(`drives from the branch and looks entries up by key: ${of}, ${order}`, () => {
        expect(planOf(branchStatement({ columns: of, order, filter: "none" }))).toEqual([
          "SEARCH b USING COVERING INDEX ix_be_seq (branch_id=? AND entry_seq>? AND entry_seq<?)",
          "SEARCH e USING PRIMARY KEY (id=?)",
        ]);
      });

      it.each(["type", "customType"] as const)(
        `stays on the index by type: ${of}, ${order}, %s`,
        (filter) => {
          expect(planOf(branchStatement({ columns: of, order, filter }))).toEqual([
            "SEARCH b USING COVERING INDEX ix_be_type (branch_id=? AND entry_type=? AND entry_seq>? AND entry_seq<?)",
            "SEARCH e USING PRIMARY KEY (id=?)",
          ]);
        },
      );
    }
  }

  it("would be a scan and a sort with entries on the outside, which CROSS JOIN rules out", () => {
    const right = branchStatement({ columns: "entry", order: "newestFirst", filter: "none" });
    const wrong = right.replace(
      /FROM branch_entries b\s+CROSS JOIN entries e/,
      "FROM entries e CROSS JOIN branch_entries b",
    );
    expect(slow(planOf(wrong))).toEqual([expect.stringMatching(/^SCAN e /), "USE TEMP B-TREE FOR ORDER BY"]);
  });
});

describe("reads of the hot path", () => {
  it.each([...SESSION_READS, ...WRITER_READS, ...BRANCH_INDEX_READS])("search an index: %s", (sql) => {
    expect(slow(planOf(sql))).toEqual([]);
  });

  it("are all that a session runs: no statement of commits, scans and look-ups scans or sorts", async () => {
    const { connect, ran } = watchingDriver();
    const storage = await memorySession({ connect });
    await storage.commit({
      writes: [entryWrite("a", null), entryWrite("b", "a", "compaction"), factWrite("k", 1)],
    });
    await storage.commit({
      writes: [entryWrite("c", "b"), entryWrite("d", "b", "custom"), entryWrite("e", "a")],
    });
    for (const order of orders) {
      await storage.scanBranch({ start: "d", order, stopAtType: "compaction", stopAtId: "a", limit: 2 });
      await storage.scanBranchStructure({ start: "d", order, customType: "note" });
    }
    await storage.getEntries(["a", "b"]);
    await storage.getRegister("fact.custom", "k");
    await storage.listRegisters("fact.custom", "k");
    await storage.scanEntries({ type: "message", limit: 1 });
    await storage.scanUsage({ order: "desc" });
    await storage.getStats();
    const statements = ran.filter((sql) => /^(SELECT|INSERT|UPDATE|DELETE)/.test(sql));
    expect(statements.length).toBeGreaterThan(40);
    for (const sql of statements) {
      if (sql.includes("sqlite_schema")) continue;
      expect({ sql, slow: slow(planOf(sql)) }).toEqual({ sql, slow: [] });
    }
    await storage.close();
  });

  it("would be found out: a read by payload scans, and an order by type sorts", () => {
    expect(slow(planOf("SELECT id FROM entries WHERE payload = ?"))).toHaveLength(1);
    expect(slow(planOf("SELECT id FROM entries WHERE seq > ? ORDER BY type"))).toHaveLength(1);
  });
});

function slow(plan: readonly string[]): string[] {
  return plan.filter((line) => /\bSCAN\b|TEMP B-TREE/.test(line));
}

it("runs on a driver whose EXPLAIN QUERY PLAN still says SEARCH and SCAN", () => {
  const database = new Database(":memory:");
  database.exec("CREATE TABLE t(a)");
  expect(database.prepare("EXPLAIN QUERY PLAN SELECT * FROM t").get()).toMatchObject({ detail: "SCAN t" });
  database.close();
});
