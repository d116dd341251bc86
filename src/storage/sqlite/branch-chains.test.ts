/**
 * Chains of segments over thousands of steps: branches, appends and compactions of many lanes, each path held against a
 * flat walk over parents that knows nothing of segments (spec §2.6). A failure prints its seed and path.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EntryType } from "../../model/index.ts";
import { BranchIndex } from "./branch-index.ts";
import { branchIndexFaults } from "./branch-index-check.ts";
import { scanBranchStructure } from "./branch-scan.ts";
import { Connection } from "./connection.ts";
import { createTables } from "./schema.ts";

/** What a lane does: goes on, compacts, or goes back to an entry of any lane, this far from the newest one. */
type Step = "append" | "compact" | { readonly back: number };

const LANES = 5;
const steps = fc.array(
  fc.tuple(
    fc.nat(LANES - 1),
    fc.oneof(
      { weight: 12, arbitrary: fc.constant<Step>("append") },
      { weight: 1, arbitrary: fc.constant<Step>("compact") },
      // Mostly a little, sometimes the whole way.
      { weight: 3, arbitrary: fc.nat(40).map((back): Step => ({ back })) },
      { weight: 1, arbitrary: fc.noBias(fc.nat(4_000)).map((back): Step => ({ back })) },
    ),
  ),
  { minLength: 3_000, maxLength: 4_000, size: "max" },
);

interface Grown {
  readonly connection: Connection;
  readonly parents: readonly number[];
  readonly types: readonly EntryType[];
}

function grow(plan: readonly (readonly [number, Step])[], rowsCopiedMax: number): Grown {
  const connection = new Connection({ kind: "image", bytes: new Uint8Array() });
  createTables(connection);
  const index = new BranchIndex(connection, rowsCopiedMax);
  const leaves = Array<number>(LANES).fill(-1);
  const parents: number[] = [];
  const types: EntryType[] = [];
  connection.immediate(() => {
    for (const [lane, step] of plan) {
      if (typeof step === "object") {
        leaves[lane] = Math.max(-1, parents.length - 1 - step.back);
        continue;
      }
      const parent = leaves[lane] ?? -1;
      const at = parents.push(parent) - 1;
      const type = step === "compact" ? "compaction" : "message";
      types.push(type);
      const parentId = parent < 0 ? null : idOf(parent);
      connection
        .statement("INSERT INTO entries VALUES (?, ?, ?, ?, NULL, 0, '{}')")
        .run(idOf(at), parentId, at + 1, type);
      index.append(idOf(at), parentId, at + 1, type);
      leaves[lane] = at;
    }
  });
  return { connection, parents, types };
}

function idOf(at: number): string {
  return `e_${at}`;
}

/** The flat walk, up to and with the newest compaction if asked. */
function walk({ parents, types }: Grown, from: number, stopsAtCompaction: boolean): string[] {
  const path: string[] = [];
  for (let at = from; at >= 0; at = parents[at] ?? -1) {
    path.push(idOf(at));
    if (stopsAtCompaction && types[at] === "compaction") break;
  }
  return path;
}

describe("a chain of forks of forks", () => {
  it.each([3, 16])(
    "copies at most %i rows a fork, and stays that many times shorter than its forks are",
    (most) => {
      const forks = 240;
      // On, back to where that began, and on from there: every other entry opens a segment over the one before.
      const turn: [number, Step][] = [
        [0, "append"],
        [0, { back: 1 }],
        [0, "append"],
      ];
      const { connection } = grow([[0, "append"], ...Array(forks).fill(turn).flat()], most);
      const index = new BranchIndex(connection);
      const rows = connection.statement("SELECT count(*) FROM branch_entries GROUP BY branch_id").all();
      expect(rows).toHaveLength(forks + 1);
      // Of its own a segment has the entry that opened it, and the one that was left.
      for (const [count] of rows) expect(count).toBeLessThanOrEqual(most + 2);
      const newest = index.home(idOf(2 * forks));
      expect(newest).toBeDefined();
      const chain = newest === undefined ? [] : [...index.chain(newest)];
      expect(chain.length).toBeLessThanOrEqual(forks / most + 2);
      expect(branchIndexFaults(connection)).toEqual([]);
      connection.close();
    },
  );
});

describe("chains of thousands of steps", () => {
  it.each([3, 256])(
    "give the path of the flat walk for every entry, with at most %i rows copied a fork",
    (rowsCopiedMax) => {
      fc.assert(
        fc.property(steps, (plan) => {
          const grown = grow(plan, rowsCopiedMax);
          const { connection, parents } = grown;
          const index = new BranchIndex(connection);
          const scan = (at: number, stop: object) =>
            scanBranchStructure(connection, index, { start: idOf(at), ...stop }).map(({ id }) => id);
          expect(parents.length).toBeGreaterThan(1_500);
          // What a request is built from, for every entry; the whole way to the root for one in twenty and the newest.
          for (let at = 0; at < parents.length; at++) {
            const context = scan(at, { stopAtType: "compaction" });
            if (String(context) !== String(walk(grown, at, true)))
              expect(context).toEqual(walk(grown, at, true));
            if (at % 20 !== 0 && at < parents.length - LANES) continue;
            const path = scan(at, {});
            if (String(path) !== String(walk(grown, at, false))) expect(path).toEqual(walk(grown, at, false));
          }
          // And row by row, every way there is.
          expect(branchIndexFaults(connection)).toEqual([]);
          connection.close();
        }),
        // Making thousands of steps fewer takes minutes; the path alone repeats the failure.
        { numRuns: 3, endOnFailure: true },
      );
    },
    60_000,
  );
});
