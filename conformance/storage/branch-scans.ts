/** Branch scans: path, order, stop, filter, cursor, limit, in this order (spec §2.5, §2.6; contract: scanBranch). */
import assert from "node:assert/strict";
import { seededRandom } from "../../src/foundation/index.ts";
import type { Entry, Write } from "../../src/model/index.ts";
import type { BranchScan, Storage } from "../../src/storage/index.ts";
import { type Clause, type ClauseGroup, everywhere } from "./clause.ts";
import { structureOf } from "./reference.ts";
import { refuses } from "./refusal.ts";
import { branchSummary, compaction, custom, fact, id, message, usage } from "./samples.ts";
import type { Trial } from "./trial.ts";

const names = (entries: readonly { id: string }[]) => entries.map((entry) => Number(entry.id.slice(-12)));

/**
 * A path from 1 to 9 with a side branch, ids rising with depth but seqs running over everything:
 *
 *     1 message - 2 custom a - 3 compaction - 4 message - 5 custom b - 6 compaction - 7 message - 8 custom a - 9 message
 *                                             4 - 10 message (side)
 */
async function withPath(trial: Trial): Promise<Storage> {
  await trial.commit(
    message(id(1), null),
    fact("seq", 2),
    custom(id(2), id(1), "a"),
    compaction(id(3), id(2)),
  );
  await trial.commit(message(id(4), id(3)), usage(id(50), {}));
  await trial.commit(custom(id(5), id(4), "b"));
  await trial.commit(message(id(10), id(4)), compaction(id(6), id(5)));
  await trial.commit(message(id(7), id(6)), custom(id(8), id(7), "a"), message(id(9), id(8)));
  return trial.revisit();
}

/** A clause over the path above: each query, its cursor counted in the clause's own writes, and the numbers of the entries that it must give. */
function onPath(name: string, ...questions: readonly [Partial<BranchScan>, readonly number[]][]): Clause {
  return everywhere(name, "spec §2.5", async (trial) => {
    const storage = await withPath(trial);
    for (const [options, expected] of questions) {
      const { cursor } = options;
      const counted = cursor === undefined ? {} : { cursor: { seq: trial.seq(cursor.seq) } };
      const query = { start: id(9), ...options, ...counted };
      assert.deepEqual(names(await storage.scanBranch(query)), expected, JSON.stringify(options));
      assert.deepEqual(
        names(await storage.scanBranchStructure(query)),
        expected,
        `structure ${JSON.stringify(options)}`,
      );
    }
  });
}

/** The entry 5 is the seventh write. */
const WRITE_OF_5 = 7;

export const branchScans: ClauseGroup = {
  group: "branch scans",
  clauses: [
    onPath(
      "walks from the start to the root, newest first unless asked otherwise",
      [{}, [9, 8, 7, 6, 5, 4, 3, 2, 1]],
      [{ order: "newestFirst" }, [9, 8, 7, 6, 5, 4, 3, 2, 1]],
      [{ order: "oldestFirst" }, [1, 2, 3, 4, 5, 6, 7, 8, 9]],
      [{ start: id(1) }, [1]],
    ),
    onPath(
      "leaves out what is not on the path: siblings and descendants",
      [{ start: id(10) }, [10, 4, 3, 2, 1]],
      [{ start: id(5), order: "oldestFirst" }, [1, 2, 3, 4, 5]],
    ),
    onPath(
      "stops at the first entry of a type in the order of the scan, and includes it",
      [{ stopAtType: "compaction" }, [9, 8, 7, 6]],
      [{ stopAtType: "compaction", order: "oldestFirst" }, [1, 2, 3]],
      [{ stopAtType: "message" }, [9]],
      [{ stopAtType: "branch_summary" }, [9, 8, 7, 6, 5, 4, 3, 2, 1]],
    ),
    onPath(
      "stops at an entry by id, and includes it; an id that is not on the path stops nothing",
      [{ stopAtId: id(4) }, [9, 8, 7, 6, 5, 4]],
      [{ stopAtId: id(4), order: "oldestFirst" }, [1, 2, 3, 4]],
      [{ stopAtId: id(9) }, [9]],
      [{ stopAtId: id(10) }, [9, 8, 7, 6, 5, 4, 3, 2, 1]],
      [{ stopAtId: id(99) }, [9, 8, 7, 6, 5, 4, 3, 2, 1]],
      [{ stopAtId: id(50) }, [9, 8, 7, 6, 5, 4, 3, 2, 1]],
    ),
    onPath(
      "stops at whichever of two stops comes first",
      [{ stopAtId: id(4), stopAtType: "compaction" }, [9, 8, 7, 6]],
      [{ stopAtId: id(8), stopAtType: "compaction" }, [9, 8]],
    ),
    onPath(
      "filters by type and by custom type",
      [{ type: "message" }, [9, 7, 4, 1]],
      [{ type: "custom" }, [8, 5, 2]],
      [{ customType: "a" }, [8, 2]],
      [{ customType: "A" }, []],
      [{ customType: "" }, []],
      [{ type: "custom", customType: "b" }, [5]],
      [{ type: "message", customType: "a" }, []],
      [{ type: "branch_summary" }, []],
    ),
    onPath(
      "stops before it filters: the stop need not pass the filter, and is given only if it does",
      [{ stopAtType: "compaction", type: "message" }, [9, 7]],
      [{ stopAtType: "compaction", type: "compaction" }, [6]],
      [{ stopAtId: id(5), customType: "a" }, [8]],
    ),
    onPath(
      "takes the cursor as exclusive, in the direction of the scan",
      [{ cursor: { seq: WRITE_OF_5 } }, [4, 3, 2, 1]],
      [{ cursor: { seq: WRITE_OF_5 }, order: "oldestFirst" }, [6, 7, 8, 9]],
      [{ cursor: { seq: WRITE_OF_5 + 1 } }, [5, 4, 3, 2, 1]],
      [{ cursor: { seq: 1 } }, []],
      [{ cursor: { seq: 1000 }, order: "oldestFirst" }, []],
      [{ cursor: { seq: 0 }, order: "oldestFirst" }, [1, 2, 3, 4, 5, 6, 7, 8, 9]],
    ),
    onPath(
      "finds the stop on the whole path, also where the cursor has cut it off",
      [{ cursor: { seq: WRITE_OF_5 }, stopAtType: "compaction" }, []],
      [{ cursor: { seq: WRITE_OF_5 }, stopAtId: id(3) }, [4, 3]],
      [{ cursor: { seq: WRITE_OF_5 }, stopAtType: "compaction", order: "oldestFirst" }, []],
    ),
    onPath(
      "limits last: what is counted has passed filter and cursor",
      [{ limit: 2 }, [9, 8]],
      [{ limit: 2, order: "oldestFirst" }, [1, 2]],
      [{ limit: 2, type: "message" }, [9, 7]],
      [{ limit: 1, type: "message", cursor: { seq: WRITE_OF_5 } }, [4]],
      [{ limit: 2, customType: "a", order: "oldestFirst" }, [2, 8]],
      [{ limit: 100 }, [9, 8, 7, 6, 5, 4, 3, 2, 1]],
      [{ limit: 0 }, []],
      [{ limit: Number.POSITIVE_INFINITY }, [9, 8, 7, 6, 5, 4, 3, 2, 1]],
      [{ limit: Number.MAX_VALUE, order: "oldestFirst" }, [1, 2, 3, 4, 5, 6, 7, 8, 9]],
    ),

    everywhere(
      "pages through a path with cursor and limit, without a gap or a repeat",
      "spec §2.5",
      async (trial) => {
        const storage = await withPath(trial);
        for (const order of ["newestFirst", "oldestFirst"] as const) {
          const paged: Entry[] = [];
          for (let page: Entry[] = []; ; ) {
            const last = page.at(-1);
            const from = last === undefined ? {} : { cursor: { seq: last.seq } };
            page = await storage.scanBranch({ start: id(9), order, limit: 2, ...from });
            if (page.length === 0) break;
            paged.push(...page);
          }
          assert.deepEqual(paged, trial.reference.scanBranch({ start: id(9), order }), order);
        }
      },
    ),

    everywhere(
      "refuses a start that does not exist, in both scans",
      "contract: scanBranch",
      async (trial) => {
        const storage = await withPath(trial);
        for (const start of [id(99), id(50), "", "seq", "\ud83d"]) {
          const refusal = { code: "UNKNOWN_ENTRY", entryId: start } as const;
          await refuses(() => storage.scanBranch({ start }), refusal);
          await refuses(() => storage.scanBranchStructure({ start }), refusal);
        }
      },
    ),

    everywhere(
      "gives structure without payload: custom type on custom entries alone",
      "spec §1.5",
      async (trial) => {
        await trial.commit(
          message(id(1), null),
          compaction(id(2), id(1)),
          branchSummary(id(3), id(2), id(1)),
        );
        const { timestamp } = await trial.commit(custom(id(4), id(3), "a", { large: "payload" }));
        const structures = await (await trial.revisit()).scanBranchStructure({ start: id(4) });
        assert.deepEqual(structures[0], {
          id: id(4),
          parentId: id(3),
          seq: trial.seq(4),
          timestamp,
          type: "custom",
          customType: "a",
        });
        assert.deepEqual(structures, trial.reference.scanBranch({ start: id(4) }).map(structureOf));
      },
    ),

    everywhere(
      "finds the exact path of every entry of a tree that forks and is compacted again and again",
      "spec §2.6",
      async (trial) => {
        const random = seededRandom("conformance", "tree");
        const writes = forkingTree(random.nextInt, 160);
        while (writes.length > 0) await trial.commit(...writes.splice(0, 1 + random.nextInt(4)));
        const storage = await trial.revisit();
        for (const { id: start } of trial.reference.entries) {
          for (const query of queriesFrom(start, random.nextInt)) {
            const expected = trial.reference.scanBranch(query);
            assert.deepEqual(await storage.scanBranch(query), expected, JSON.stringify(query));
            assert.deepEqual(
              await storage.scanBranchStructure(query),
              expected.map(structureOf),
              JSON.stringify(query),
            );
          }
        }
      },
    ),

    everywhere("keeps finding exact paths while branches grow in turns", "spec §2.6", async (trial) => {
      // Three tips that grow in turns, each compacted at another time; each turn is looked at as it is made.
      await trial.commit(message(id(1), null), compaction(id(2), id(1)), message(id(3), id(2)));
      const tips = [id(3), id(3), id(2)];
      for (let turn = 0; turn < 24; turn++) {
        const lane = turn % 3;
        const next = id(100 + turn);
        const parent = tips[lane] ?? id(1);
        await trial.commit(turn % 7 === 3 ? compaction(next, parent) : message(next, parent));
        tips[lane] = next;
        if (turn === 12) await trial.revisit();
        for (const start of tips) {
          for (const order of ["newestFirst", "oldestFirst"] as const) {
            const whole = { start, order };
            assert.deepEqual(await trial.storage.scanBranch(whole), trial.reference.scanBranch(whole));
          }
          const context = { start, stopAtType: "compaction" } as const;
          assert.deepEqual(await trial.storage.scanBranch(context), trial.reference.scanBranch(context));
        }
      }
    }),

    everywhere("walks a path of five thousand entries", "spec §2.6", async (trial) => {
      const chain: Write[] = [];
      for (let number = 1; number <= 5000; number++)
        chain.push(message(id(number), number === 1 ? null : id(number - 1), ""));
      await trial.commit(...chain.slice(0, 2500));
      await trial.commit(...chain.slice(2500));
      const storage = await trial.revisit();
      const walked = names(await storage.scanBranchStructure({ start: id(5000), order: "oldestFirst" }));
      assert.deepEqual([walked.length, walked[0], walked.at(-1)], [5000, 1, 5000]);
      assert.deepEqual(names(await storage.scanBranch({ start: id(5000), limit: 2 })), [5000, 4999]);
    }),
  ],
};

/** Entries whose parents are drawn from all before them, the newest more often; ids do not rise with seq. */
function forkingTree(draw: (limit: number) => number, count: number): Write[] {
  const placed: string[] = [];
  return Array.from({ length: count }, (_, index) => {
    // 7919 is prime to the count of ids, so that the ids are a permutation.
    const entryId = id(((index * 7919) % 10_007) + 1);
    const back = draw(3) > 0 ? 1 + draw(2) : 1 + draw(placed.length + 1);
    const parentId = placed[placed.length - back] ?? null;
    placed.push(entryId);
    const kind = draw(8);
    if (kind === 0) return compaction(entryId, parentId);
    if (kind === 1 && parentId !== null) return branchSummary(entryId, parentId, parentId);
    return kind < 4 ? custom(entryId, parentId, kind === 2 ? "a" : "b") : message(entryId, parentId);
  });
}

/** The two whole paths, the context scan, and one scan with options drawn at random. */
function queriesFrom(start: string, draw: (limit: number) => number): BranchScan[] {
  const query: BranchScan = { start, order: draw(2) === 0 ? "newestFirst" : "oldestFirst" };
  if (draw(2) === 0) query.limit = draw(6);
  if (draw(2) === 0) query.cursor = { seq: draw(170) };
  if (draw(3) === 0) query.type = (["message", "compaction", "custom"] as const)[draw(3)] ?? "message";
  if (draw(4) === 0) query.customType = draw(2) === 0 ? "a" : "b";
  if (draw(3) === 0) query.stopAtType = draw(2) === 0 ? "compaction" : "branch_summary";
  return [{ start }, { start, order: "oldestFirst" }, { start, stopAtType: "compaction" }, query];
}
