/**
 * The branch index against a flat walk over parents: random histories of branches, appends and compactions; both
 * rules of spec §2.6, each shown necessary by an index that breaks it; and the bound on what a fork copies.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Corruption } from "../../foundation/index.ts";
import type { EntryType } from "../../model/index.ts";
import { BranchIndex, type BranchPosition, type Stretch } from "./branch-index.ts";
import { scanBranchStructure } from "./branch-scan.ts";
import { Connection } from "./connection.ts";
import { createTables } from "./schema.ts";
import { entryWrite, memorySession } from "./test-support.ts";

/** One appended entry: its parent's place in the history (-1 for a root), and whether it is a compaction. */
interface Append {
  readonly parent: number;
  readonly type: EntryType;
}

const idOf = (at: number) => `e_${String(at).padStart(4, "0")}`;
const seqOf = (at: number) => at + 1;

/** A history in the tables, appended through `index`. */
class History {
  readonly connection: Connection;
  readonly index: BranchIndex;
  readonly appends: Append[] = [];
  /** How many rows each append copied. */
  readonly copied: number[] = [];

  constructor(make: (connection: Connection) => BranchIndex = (connection) => new BranchIndex(connection)) {
    this.connection = new Connection({ kind: "image", bytes: new Uint8Array() });
    createTables(this.connection);
    this.index = make(this.connection);
  }

  append(parent: number, type: EntryType = "message"): number {
    const at = this.appends.push({ parent, type }) - 1;
    const parentId = parent < 0 ? null : idOf(parent);
    this.connection
      .statement("INSERT INTO entries VALUES (?, ?, ?, ?, NULL, 0, '{}')")
      .run(idOf(at), parentId, seqOf(at), type);
    const before = this.#rowCount();
    this.index.append(idOf(at), parentId, seqOf(at), type);
    this.copied.push(this.#rowCount() - before - 1);
    return at;
  }

  /** The ids from an entry to the root, by walking parents. */
  walk(at: number): string[] {
    const path: string[] = [];
    for (let step = at; step >= 0; step = this.appends[step]?.parent ?? -1) path.push(idOf(step));
    return path;
  }

  /** How many entries lie above the newest compaction at or before an entry, on its path. */
  interval(at: number): number {
    let length = 0;
    for (let step = at; step >= 0; step = this.appends[step]?.parent ?? -1) {
      if (this.appends[step]?.type === "compaction") return length;
      length += 1;
    }
    return length;
  }

  /** The ids from an entry to the root, by the index; read with the right rules whatever wrote it. */
  scan(at: number): string[] {
    const reader = new BranchIndex(this.connection);
    return scanBranchStructure(this.connection, reader, { start: idOf(at) }).map((entry) => entry.id);
  }

  #rowCount(): number {
    return this.connection.statement("SELECT count(*) FROM branch_entries").get()?.[0] as number;
  }
}

/** How finely a step names a place of the history. */
const PLACES = 9999;

/** Where a step appends: at its own last entry, or at any earlier one, as a fraction of the history. */
const steps = fc.array(
  fc.record({
    from: fc.oneof(
      { weight: 4, arbitrary: fc.constant(undefined) },
      { weight: 2, arbitrary: fc.noBias(fc.nat(PLACES)) },
    ),
    isCompaction: fc.oneof(
      { weight: 6, arbitrary: fc.constant(false) },
      { weight: 1, arbitrary: fc.constant(true) },
    ),
  }),
  { minLength: 100, maxLength: 250, size: "max" },
);

function play(history: History, plan: readonly { from: number | undefined; isCompaction: boolean }[]): void {
  for (const { from, isCompaction } of plan) {
    const count = history.appends.length;
    const parent = from === undefined ? count - 1 : Math.floor((from * (count + 1)) / (PLACES + 1)) - 1;
    history.append(parent, isCompaction ? "compaction" : "message");
  }
}

/** Breaks rule 1: takes for a base any segment that reaches the entry through some ancestor, the newest of them. */
class AncestorIndex extends BranchIndex {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    super(connection);
    this.#connection = connection;
  }

  override home(entryId: string): BranchPosition | undefined {
    const home = super.home(entryId);
    if (home === undefined) return undefined;
    const row = this.#connection
      .statement(
        `WITH RECURSIVE above(branch_id) AS (
           SELECT ? UNION SELECT m.branch_id FROM branch_meta m JOIN above a ON m.base_branch_id = a.branch_id)
         SELECT max(branch_id) FROM above`,
      )
      .get(home.branchId) as [string];
    return { branchId: row[0], seq: home.seq };
  }
}

/** Breaks rule 2: looks for the newest compaction in the newest segment alone. */
class NewestSegmentIndex extends BranchIndex {
  override *chain(from: BranchPosition): Generator<Stretch, void, undefined> {
    for (const stretch of super.chain(from)) {
      yield stretch;
      return;
    }
  }
}

describe("the branch index", () => {
  it.each([1, 2, 5, 256])(
    "gives the path that parents give, with at most %i rows copied",
    (rowsCopiedMax) => {
      fc.assert(
        fc.property(steps, (plan) => {
          const history = new History((connection) => new BranchIndex(connection, rowsCopiedMax));
          play(history, plan);
          for (let at = 0; at < plan.length; at++) expect(history.scan(at)).toEqual(history.walk(at));
        }),
        { numRuns: 4 },
      );
    },
  );

  it("copies no more than the newest compaction interval, and never more than its bound", () => {
    fc.assert(
      fc.property(steps, fc.constantFrom(4, 256), (plan, rowsCopiedMax) => {
        const history = new History((connection) => new BranchIndex(connection, rowsCopiedMax));
        play(history, plan);
        history.copied.forEach((count, at) => {
          const parent = history.appends[at]?.parent ?? -1;
          expect(count).toBeLessThanOrEqual(Math.min(history.interval(parent), rowsCopiedMax));
        });
      }),
      { numRuns: 6 },
    );
  });

  it("copies a short way behind a compaction, however long the branch before it", () => {
    const history = new History();
    let tip = -1;
    for (let count = 0; count < 1000; count++) tip = history.append(tip);
    const compaction = history.append(tip, "compaction");
    const kept = history.append(compaction);
    history.append(history.append(kept));
    const fork = history.append(kept);
    expect(history.copied[fork]).toBe(1);
    expect(history.scan(fork)).toEqual(history.walk(fork));
  });

  it("rule 1: a base that only has the entry somewhere among its ancestors gives a wrong path", () => {
    const build = (history: History) => {
      const root = history.append(-1);
      const early = history.append(root, "compaction");
      const late = history.append(early);
      const tip = history.append(late);
      // A segment that stands on the first one below `late`, and so does not cover it …
      const other = history.append(early);
      history.append(other);
      // … and a fork at `late`, for which that segment must not be the base.
      const fork = history.append(late);
      return { history, tip, fork };
    };
    const right = build(new History());
    expect(right.history.scan(right.fork)).toEqual(right.history.walk(right.fork));
    const wrong = build(new History((connection) => new AncestorIndex(connection)));
    expect(pathOrCorruption(wrong.history, wrong.fork)).not.toEqual(wrong.history.walk(wrong.fork));
  });

  it("rule 2: a search for the compaction that ends with the newest segment loses the way to the root", () => {
    const build = (history: History) => {
      const root = history.append(-1);
      const compaction = history.append(root, "compaction");
      const a = history.append(compaction);
      history.append(a);
      // The first fork stands on the compaction; its own rows have none. The second fork must find it below.
      const fork = history.append(a);
      history.append(fork);
      const second = history.append(fork);
      return { history, second };
    };
    const right = build(new History());
    expect(right.history.scan(right.second)).toEqual(right.history.walk(right.second));
    const wrong = build(new History((connection) => new NewestSegmentIndex(connection)));
    expect(pathOrCorruption(wrong.history, wrong.second)).not.toEqual(wrong.history.walk(wrong.second));
  });

  it("either broken rule is caught by the random histories", () => {
    for (const make of [
      (connection: Connection) => new AncestorIndex(connection),
      (connection: Connection) => new NewestSegmentIndex(connection),
    ]) {
      const details = fc.check(
        fc.property(steps, (plan) => {
          const history = new History(make);
          play(history, plan);
          return plan.every((_, at) => String(pathOrCorruption(history, at)) === String(history.walk(at)));
        }),
        { numRuns: 30, endOnFailure: true },
      );
      expect(details.failed).toBe(true);
    }
  });

  it("answers nothing, and loses nothing, when a row of the index is missing: it says so", () => {
    const history = new History();
    const tip = history.append(history.append(history.append(-1)));
    history.connection.execute(`DELETE FROM branch_entries WHERE entry_id = '${idOf(1)}'`);
    expect(() => history.scan(tip)).toThrow(Corruption);
    history.connection.execute(`DELETE FROM branch_entries WHERE entry_id = '${idOf(tip)}'`);
    expect(() => history.scan(tip)).toThrow(/rebuild the branch index/);
  });

  it("is rebuilt from the entries, and only when asked", async () => {
    const storage = await memorySession();
    await storage.commit({ writes: [entryWrite("a", null), entryWrite("b", "a"), entryWrite("c", "a")] });
    const before = await storage.scanBranch({ start: "c" });
    await storage.rebuildBranchIndex();
    expect(await storage.scanBranch({ start: "c" })).toEqual(before);
    await storage.commit({ writes: [entryWrite("d", "c"), entryWrite("e", "b")] });
    expect((await storage.scanBranchStructure({ start: "e" })).map(({ id }) => id)).toEqual(["e", "b", "a"]);
    await storage.close();
  });
});

function pathOrCorruption(history: History, at: number): string[] | Error {
  try {
    return history.scan(at);
  } catch (error) {
    return error as Error;
  }
}
