/** Look-ups and listings: getEntries, scanEntries, scanUsage (spec §1.5; contract). */
import assert from "node:assert/strict";
import type { EntryScan, UsageScan } from "../../src/storage/index.ts";
import { type Clause, type ClauseGroup, everywhere } from "./clause.ts";
import { compaction, custom, fact, id, message, usage } from "./samples.ts";
import type { Trial } from "./trial.ts";

const names = (rows: readonly { id: string }[]) => rows.map((row) => Number(row.id.slice(-12)));

/** Rows by the first ten writes, with ids that fall: listings follow seq, not id. Usage rows are the writes 2, 5, 8 and 10. */
async function withRows(trial: Trial): Promise<void> {
  await trial.commit(message(id(90), null), usage(id(80), { input: 1 }), custom(id(70), id(90), "a"));
  await trial.commit(fact("k", 1), usage(id(60), { input: 2 }), compaction(id(50), null));
  await trial.commit(
    custom(id(40), id(70), "b"),
    usage(id(30), { input: 3 }),
    message(id(20), id(40)),
    usage(id(10), {}),
  );
}

/** The query with its bounds counted in the clause's own writes. */
function ranged<Query extends UsageScan>(trial: Trial, query: Query): Query {
  const { fromSeq, toSeq } = query;
  return {
    ...query,
    ...(fromSeq === undefined ? {} : { fromSeq: trial.seq(fromSeq) }),
    ...(toSeq === undefined ? {} : { toSeq: trial.seq(toSeq) }),
  };
}

function listingEntries(name: string, ...questions: readonly [EntryScan, readonly number[]][]): Clause {
  return everywhere(name, "spec §1.5", async (trial) => {
    await withRows(trial);
    const storage = await trial.revisit();
    for (const [query, expected] of questions) {
      assert.deepEqual(
        names(await storage.scanEntries(ranged(trial, query))),
        expected,
        JSON.stringify(query),
      );
    }
  });
}

function listingUsage(name: string, ...questions: readonly [UsageScan, readonly number[]][]): Clause {
  return everywhere(name, "spec §1.5, §1.6", async (trial) => {
    await withRows(trial);
    const storage = await trial.revisit();
    for (const [query, expected] of questions) {
      assert.deepEqual(names(await storage.scanUsage(ranged(trial, query))), expected, JSON.stringify(query));
    }
  });
}

export const listings: ClauseGroup = {
  group: "listings",
  clauses: [
    everywhere(
      "finds the entries that exist by id, and leaves the others out",
      "contract: getEntries",
      async (trial) => {
        await withRows(trial);
        const storage = await trial.revisit();
        const asked = [id(20), id(99), id(90), id(80), "", "__proto__", id(20)];
        const found = await storage.getEntries(asked);
        assert.deepEqual([...found.keys()].sort(), [id(20), id(90)]);
        for (const entry of trial.reference.entries) {
          const one = await storage.getEntries([entry.id]);
          assert.deepEqual([...one], [[entry.id, entry]]);
        }
        assert.equal((await storage.getEntries([])).size, 0);
      },
    ),

    everywhere("looks up forty thousand ids in one call", "contract: getEntries", async (trial) => {
      await withRows(trial);
      const asked = Array.from({ length: 40_000 }, (_, index) => id(index + 15));
      const found = await (await trial.revisit()).getEntries(asked);
      assert.deepEqual([...found.keys()].sort(), [20, 40, 50, 70, 90].map(id));
    }),

    listingEntries(
      "lists entries by seq, ascending unless asked otherwise",
      [{}, [90, 70, 50, 40, 20]],
      [{ order: "asc" }, [90, 70, 50, 40, 20]],
      [{ order: "desc" }, [20, 40, 50, 70, 90]],
    ),
    listingEntries(
      "lists entries between two seqs, both included, whatever stands there",
      [{ fromSeq: 3 }, [70, 50, 40, 20]],
      [{ toSeq: 6 }, [90, 70, 50]],
      [{ fromSeq: 3, toSeq: 7 }, [70, 50, 40]],
      [{ fromSeq: 4, toSeq: 5 }, []],
      [{ fromSeq: 7, toSeq: 3 }, []],
      [{ fromSeq: 0, toSeq: 1000 }, [90, 70, 50, 40, 20]],
      [{ fromSeq: 3, toSeq: 7, order: "desc" }, [40, 50, 70]],
    ),
    listingEntries(
      "filters entries by type and custom type",
      [{ type: "message" }, [90, 20]],
      [{ type: "custom", order: "desc" }, [40, 70]],
      [{ customType: "b" }, [40]],
      [{ customType: "B" }, []],
      [{ customType: "" }, []],
      [{ type: "custom", customType: "a" }, [70]],
      [{ type: "message", customType: "a" }, []],
      [{ type: "branch_summary" }, []],
    ),
    listingEntries(
      "limits entries after order, range and filter",
      [{ limit: 2 }, [90, 70]],
      [{ limit: 2, order: "desc" }, [20, 40]],
      [{ limit: 1, type: "custom", order: "desc" }, [40]],
      [{ limit: 1, fromSeq: 4 }, [50]],
      [{ limit: 100 }, [90, 70, 50, 40, 20]],
      [{ limit: 0 }, []],
      [{ limit: Number.POSITIVE_INFINITY }, [90, 70, 50, 40, 20]],
      [{ limit: Number.MAX_VALUE, type: "custom" }, [70, 40]],
    ),

    listingUsage(
      "lists the ledger by seq, ascending unless asked otherwise",
      [{}, [80, 60, 30, 10]],
      [{ order: "asc" }, [80, 60, 30, 10]],
      [{ order: "desc" }, [10, 30, 60, 80]],
    ),
    listingUsage(
      "lists the ledger between two seqs, both included",
      [{ fromSeq: 5 }, [60, 30, 10]],
      [{ fromSeq: 6 }, [30, 10]],
      [{ toSeq: 5 }, [80, 60]],
      [{ fromSeq: 5, toSeq: 8, order: "desc" }, [30, 60]],
      [{ fromSeq: 6, toSeq: 7 }, []],
      [{ fromSeq: 11 }, []],
    ),
    listingUsage(
      "limits the ledger after order and range",
      [{ limit: 2 }, [80, 60]],
      [{ limit: 1, order: "desc" }, [10]],
      [{ limit: 2, fromSeq: 5 }, [60, 30]],
      [{ limit: 0 }, []],
      [{ limit: Number.POSITIVE_INFINITY, order: "desc" }, [10, 30, 60, 80]],
    ),

    everywhere(
      "finds nothing in an empty session, and says so without an error",
      "contract",
      async (trial) => {
        const storage = await trial.revisit();
        assert.deepEqual(await storage.scanEntries({}), []);
        assert.deepEqual(await storage.scanUsage({ order: "desc", limit: 5 }), []);
        assert.deepEqual(await storage.listRegisters("fact.custom"), []);
        assert.deepEqual([...(await storage.getEntries([id(1)]))], []);
        assert.equal(await storage.getRegister("fact.custom", ""), undefined);
        await trial.agrees();
      },
    ),
  ],
};
