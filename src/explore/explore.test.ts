/** An exploration looks at everything, says what is broken by the promise that it breaks, and is never green in doubt. */
import { describe, expect, it } from "vitest";
import { type CheckerRun, NotCovered } from "../checkers/index.ts";
import type { RunEnd, Subject } from "../subject/index.ts";
import { explore } from "./explore.ts";
import { exploreLadders, HOST, plan, StallClock, sights } from "./testing/explorations.ts";
import { type Flaws, ladder } from "./testing/ladder.ts";

const owned = { grade: "multi-writer" as const };
const driven: { drives: Subject["drives"] } = { drives: ["automatic", "manual"] };

describe("an exploration of a right subject", () => {
  it("cuts at every position of every boundary, and covers all of them", async () => {
    const result = await exploreLadders([ladder()]);
    // Two rungs, each a request (before, inside, after) and an atomic commit (before, after); and the uncut run.
    expect(result.totals).toEqual({ runs: 11, survived: 11, violated: 0, inconclusive: 0 });
    expect(result.coverage.boundaries).toEqual({ covered: 10, total: 10 });
    expect(result.failures).toEqual([]);
  });

  it("names the rows that were never cut before and after", async () => {
    const { coverage } = await exploreLadders([ladder(), ladder({}, { id: "other" })]);
    expect(coverage.rows).toEqual({
      covered: 2,
      total: 4,
      missing: ["ladder:never-climbed", "other:never-climbed"],
    });
  });

  it("takes a session over before each commit, compares the drives, and holds a family together, cut by cut", async () => {
    const { groups } = await exploreLadders([
      ladder({}, { id: "one", ...owned, ...driven }),
      ladder({}, { id: "two" }),
    ]);
    expect(groups.map(({ kind, subject, runs, survived }) => [kind, subject, runs, survived])).toEqual([
      ["crash", "one", 11, 11],
      ["drives", "one", 1, 1],
      ["crash", "two", 11, 11],
      ["backends", "ladders", 11, 11],
      ["takeover", "one", 2, 2],
    ]);
  });

  it("cuts a sample where that is planned, the same on each subject, and counts what it leaves", async () => {
    const both = [ladder({}, { id: "one", ...owned }), ladder({}, { id: "two" })];
    const sampled = { scenarios: ["climb"], subjects: ["one", "two"], oneIn: 3 };
    const { coverage, groups, totals } = await exploreLadders(both, { sampled });
    const { covered, total, unplanned = 0 } = coverage.boundaries;
    expect(covered).toBe(total);
    expect(total + unplanned).toBe(2 * 10 + 2);
    expect(total).toBeGreaterThan(0);
    expect(total).toBeLessThan(unplanned);
    expect(totals.survived).toBe(totals.runs);
    const [one, two] = groups.filter(({ kind }) => kind === "crash");
    expect(one?.runs).toBe(two?.runs);
    expect(groups.find(({ kind }) => kind === "backends")?.runs).toBe(one?.runs);
    // What a seed does not draw another one may.
    const other = await exploreLadders(both, { sampled, seed: 2 });
    expect(other.coverage.boundaries).not.toEqual(coverage.boundaries);
  });

  it("does not show a group in which a sample drew nothing", async () => {
    const sampled = { scenarios: ["climb"], subjects: ["one"], oneIn: 1_000_000 };
    const { coverage, groups } = await exploreLadders([ladder({}, { id: "one", ...owned })], { sampled });
    expect(coverage.boundaries).toEqual({ covered: 0, total: 0, unplanned: 12 });
    expect(groups.map(({ kind }) => kind)).toEqual(["crash"]);
  });

  it("cuts each recovery again with depth 2, and each recovery of a recovery with depth 3", async () => {
    // What each cut of the climb leaves to climb: everything until the first commit is there, nothing after the last.
    const boundaries = (rungsLeft: number) => 5 * rungsLeft;
    const recoveries = [2, 2, 2, 2, 1, 1, 1, 1, 1, 0];
    const second = recoveries.reduce((sum, rungsLeft) => sum + boundaries(rungsLeft), 0);
    expect((await exploreLadders([ladder()], { depth: 2 })).totals.survived).toBe(1 + 10 + second);
    const runsFrom = (rungsLeft: number, depth: number): number =>
      depth === 0
        ? 0
        : recoveries.slice(10 - 5 * rungsLeft).reduce((sum, left) => sum + 1 + runsFrom(left, depth - 1), 0);
    const all = await exploreLadders([ladder()], { depth: 3 });
    expect(all.totals.survived).toBe(1 + runsFrom(2, 3));
    // Of the third deaths there may be a sample, and it is said of how many.
    const third = all.totals.survived - (1 + 10 + second);
    expect(all.coverage.deeper).toEqual({ cut: third, total: third });
    const some = await exploreLadders([ladder()], { depth: 3, deeperOneIn: 4 });
    const drawn = some.totals.survived - (1 + 10 + second);
    expect(some.coverage.deeper).toEqual({ cut: drawn, total: third });
    expect(drawn).toBeGreaterThan(0);
    expect(drawn).toBeLessThan(third / 2);
    const again = await exploreLadders([ladder()], { depth: 3, deeperOneIn: 4 });
    expect([again.totals, again.coverage]).toEqual([some.totals, some.coverage]);
  });

  it("lets a walked recovery take another order of what is under way, if it does so again and may", async () => {
    // A life whose gate stops writes in its own hand, as two calls may come in another order when one of them is held up.
    let count = 0;
    const walkedAs = (mark: () => string): Parameters<typeof ladder>[0] => ({
      word: ({ incarnation, isNamed }, _rung, text) => (incarnation > 0 && isNamed ? text + mark() : text),
    });
    const anything = async () => ({ canonical: '{"rungs":{"$any":"value"}}', demands: [] });
    const found = async (flaws: Parameters<typeof ladder>[0]) => {
      const { failures } = await exploreLadders([ladder(flaws)], { depth: 2 });
      return [...new Set(failures.map(({ checker, signature }) => `${checker}: ${signature}`))];
    };
    expect(await found({ ...walkedAs(() => "!"), expect: anything })).toEqual([]);
    // Not if the specification knows no such end, nor if it ends otherwise each time.
    expect(await found(walkedAs(() => "!"))).toContain("determinism: walk-differs");
    expect(await found({ ...walkedAs(() => `${count++}`), expect: anything })).toContain(
      "determinism: walk-differs",
    );
  });

  it("tells its host of each run", async () => {
    const told: string[] = [];
    await explore(plan([ladder()]), {
      ...HOST,
      progress: ({ group, runCount }) => told.push(`${group}: ${runCount}`),
    });
    // Each run, and that it was the last one.
    expect(told).toHaveLength(11 + 1);
    expect(told.at(-1)).toBe("climb on ladder: 11");
  });

  it("carries the seed in every run id, so that a run can be repeated with it", async () => {
    const result = await exploreLadders([ladder({ beforeRung: refusesIn(1) })], { seed: 7 });
    expect(result.seed).toBe(7);
    expect(result.failures.length).toBeGreaterThan(0);
    for (const { id } of result.failures) expect(id).toMatch(/\?seed=7$/);
  });
});

describe("a boundary that is left out", () => {
  it("lowers the coverage, by label and by occurrence", async () => {
    const one = await exploreLadders([ladder()], { skip: ["rung#2"] });
    expect(one.coverage.boundaries).toEqual({ covered: 8, total: 10 });
    expect(one.coverage.rows.covered).toBe(1);
    const both = await exploreLadders([ladder()], { skip: ["rung"] });
    expect(both.coverage.boundaries).toEqual({ covered: 6, total: 10 });
    expect(both.coverage.rows.missing).toContain("ladder:rung");
  });
});

/** Each checker of the explorer, with a subject that breaks its promise, and where that must be seen. */
const broken: readonly {
  readonly says: string;
  readonly subjects: readonly Subject[];
  readonly sees: readonly string[];
}[] = [
  {
    says: "a life that refuses to go on after a crash",
    subjects: [ladder({ beforeRung: refusesIn(1) })],
    sees: [
      "crash/climb/ladder/provider.request#1:before violated recovery refused:Error",
      "crash/climb/ladder/rung#1:after violated recovery refused:Error",
    ],
  },
  {
    says: "a life that cannot be closed",
    subjects: [ladder({ close: () => Promise.reject(new TypeError("no")) })],
    sees: ["walk/climb/ladder violated recovery refused:TypeError"],
  },
  {
    says: "an end that cannot be read",
    subjects: [
      ladder({
        view: (rungs) => {
          if (rungs.length > 1) throw new RangeError("torn");
        },
      }),
    ],
    sees: ["walk/climb/ladder violated recovery unreadable:RangeError"],
  },
  {
    says: "a death that cannot be read",
    subjects: [
      ladder({
        view: (rungs) => {
          if (rungs.length === 1) throw new RangeError("torn");
        },
        expect: async ({ atCut, uninterrupted }) => {
          await atCut();
          return { canonical: uninterrupted.canonical, demands: [] };
        },
      }),
    ],
    sees: ["crash/climb/ladder/rung#1:after violated recovery unreadable:RangeError"],
  },
  {
    says: "a recovery that reaches something else",
    subjects: [ladder({ word: ({ incarnation }, _rung, word) => `${word}${incarnation || ""}` })],
    sees: [
      "crash/climb/ladder/rung#1:before violated recovery-equality differs:/rungs/*",
      "crash/climb/ladder/rung#1:after violated recovery-equality differs:/rungs/*",
    ],
  },
  {
    says: "a recovery that does not differ where it must",
    subjects: [
      ladder({ expect: async () => ({ canonical: '{"rungs":["left","down"]}', demands: ["down"] }) }),
    ],
    sees: ["crash/climb/ladder/rung#2:after violated recovery-equality differs:/rungs/*"],
  },
  {
    says: "two subjects of one family that recover to different views",
    subjects: [
      ladder({}, { id: "one" }),
      ladder(
        {
          word: ({ incarnation }, rung, word) => (incarnation === 1 && rung === 1 ? "up" : word),
          expect: async ({ cut }) => ({
            canonical: `{"rungs":["left","${cut.boundary.occurrence === 2 && cut.boundary.label === "rung" && cut.position === "after" ? "right" : "up"}"]}`,
            demands: [],
          }),
        },
        { id: "two" },
      ),
    ],
    sees: ["backends/climb/one=two/rung#1:after violated backends-agree backends-differ"],
  },
  {
    says: "a drive that leaves something else",
    subjects: [ladder({ word: ({ drive }, _rung, word) => `${word} ${drive}` }, driven)],
    sees: ["drives/climb/ladder violated drives-agree drive-differs:manual"],
  },
  {
    says: "an owner that goes on after another one took over",
    subjects: [ladder({ takesStaleOwners: true }, owned)],
    sees: [
      "takeover/climb/ladder/rung#1:before violated single-writer stale-commit-accepted",
      "takeover/climb/ladder/rung#1:before violated single-writer stale-owner-not-told",
      "takeover/climb/ladder/rung#1:before violated single-writer stale-owner-acted",
      "takeover/climb/ladder/rung#2:before violated single-writer stale-commit-accepted",
    ],
  },
  ...(["while another holds it", "once it was let go"] as const).map((takesStaleOwners) => ({
    says: `an owner that is let in ${takesStaleOwners}`,
    subjects: [ladder({ takesStaleOwners }, owned)],
    sees: ["takeover/climb/ladder/rung#1:before violated single-writer stale-commit-accepted"],
  })),
  {
    says: "a run that depends on something undeclared",
    subjects: [ladder(undeclared())],
    sees: ["walk/climb/ladder violated determinism walk-differs"],
  },
  {
    says: "what the subject's own judges find",
    subjects: [
      ladder({
        judge: () => seesDeaths(0),
      }),
    ],
    sees: ["crash/climb/ladder/rung#2:after violated own seen"],
  },
];

describe("a broken promise", () => {
  it.each(broken.map((one) => [one.says, one] as const))("is seen: %s", async (_, { subjects, sees }) => {
    const result = await exploreLadders(subjects);
    for (const sight of sees) expect(sights(result)).toContain(sight);
    expect(result.totals.violated).toBeGreaterThan(0);
  });

  it.each(broken.map((one) => [one.says, one] as const))(
    "is seen by nobody when its checker is off: %s",
    async (_, { subjects, sees }) => {
      const checker = sees[0]?.split(" ")[2] ?? "";
      const result = await exploreLadders(subjects, { checkersOff: [checker] });
      expect(result.failures.filter((failure) => failure.checker === checker)).toEqual([]);
    },
  );
});

describe("a doubt", () => {
  it("is a run that stands still: the life waits for what never comes", async () => {
    const clock = new StallClock();
    const result = await exploreLadders([ladder({ beforeRung: () => clock.hang() })], {}, clock);
    expect(sights(result)).toEqual(["walk/climb/ladder inconclusive explorer stalled"]);
    expect(result.totals).toEqual({ runs: 1, survived: 0, violated: 0, inconclusive: 1 });
  });

  it("is a recovery that stands still; the boundary stays uncovered", async () => {
    const clock = new StallClock();
    const hangs: Flaws = {
      beforeRung: ({ incarnation }, rung) => (incarnation === 1 && rung === 1 ? clock.hang() : undefined),
    };
    const result = await exploreLadders([ladder(hangs)], { skip: ["provider.request"] }, clock);
    // Both cuts of the first rung, and the second rung before it is there.
    expect(sights(result)).toEqual([
      "crash/climb/ladder/rung#1:before inconclusive explorer stalled",
      "crash/climb/ladder/rung#1:after inconclusive explorer stalled",
      "crash/climb/ladder/rung#2:before inconclusive explorer stalled",
    ]);
    expect(result.coverage.boundaries).toEqual({ covered: 1, total: 10 });
  });

  it("is a walk that stands still after a crossing, where the uncut run did not", async () => {
    const clock = new StallClock();
    const hangs = hangsFromBootOn(2, clock);
    const skip = ["provider.request", "rung"];
    const result = await exploreLadders([ladder(hangs)], { skip }, clock);
    expect(sights(result)).toEqual(["walk/climb/ladder inconclusive explorer stalled"]);
  });

  it("is an owner that stands still before it could be superseded", async () => {
    const clock = new StallClock();
    const skip = ["provider.request", "rung"];
    const { groups } = await exploreLadders([ladder(hangsFromBootOn(3, clock), owned)], { skip }, clock);
    expect(groups.map(({ kind, inconclusive }) => [kind, inconclusive])).toEqual([
      ["crash", 0],
      ["takeover", 1],
    ]);
  });

  it("is a life that never stops crossing boundaries", async () => {
    const result = await exploreLadders([ladder({ neverEnds: true })]);
    expect(sights(result)).toEqual(["walk/climb/ladder inconclusive explorer cap-reached"]);
  });

  it("is a cut of which the subject's tables say nothing", async () => {
    const expectNothing: Flaws = { expect: () => Promise.reject(new NotCovered("ladders")) };
    const result = await exploreLadders([ladder(expectNothing)]);
    expect(result.totals).toEqual({ runs: 11, survived: 1, violated: 0, inconclusive: 10 });
    expect(result.coverage.boundaries).toEqual({ covered: 0, total: 10 });
    expect(sights(result)[0]).toContain("inconclusive explorer not-covered");
  });

  it("outweighs no broken promise: a run that is both is violated", async () => {
    const both: Flaws = {
      beforeRung: refusesIn(1),
      expect: () => Promise.reject(new NotCovered("ladders")),
    };
    const { totals } = await exploreLadders([ladder(both)]);
    expect(totals).toMatchObject({ violated: 9, inconclusive: 1 });
  });

  it("is not a defect of a judge: that fails the exploration itself", async () => {
    const defect: Flaws = { expect: () => Promise.reject(new TypeError("a defect of the table")) };
    await expect(exploreLadders([ladder(defect)])).rejects.toThrow("a defect of the table");
  });
});

/** Finds fault with every run in which it was told of a death. */
function seesDeaths(count: number): CheckerRun<RunEnd> {
  let deathCount = count;
  return {
    observe: ({ kind }) => {
      if (kind === "crash") deathCount++;
    },
    fork: () => seesDeaths(deathCount),
    finish: () => (deathCount > 0 ? [{ checker: "own", signature: "seen", message: "by the subject" }] : []),
  };
}

function refusesIn(incarnation: number): NonNullable<Flaws["beforeRung"]> {
  return (boot) =>
    boot.incarnation === incarnation ? Promise.reject(new Error("the ladder is gone")) : undefined;
}

/** Hangs before the second rung, in every life from the `first` boot of the exploration on. */
function hangsFromBootOn(first: number, clock: StallClock): Flaws {
  let boots = 0;
  return {
    beforeRung: (_boot, rung) => {
      if (rung === 0) boots++;
      return rung === 1 && boots >= first ? clock.hang() : undefined;
    },
  };
}

/** The words come from outside: no two runs of the first life write the same. */
function undeclared(): Flaws {
  let count = 0;
  return {
    word: ({ incarnation }, _rung, word) => (incarnation === 0 ? `${word} ${count++}` : word),
    expect: async ({ atCut }) => {
      const { rungs } = JSON.parse((await atCut()).canonical) as { rungs: string[] };
      return { canonical: JSON.stringify({ rungs: [...rungs, "left", "right"].slice(0, 2) }), demands: [] };
    },
  };
}
