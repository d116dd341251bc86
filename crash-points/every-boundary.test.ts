/**
 * Every boundary of every scenario is cut on every store, survives, and is counted: the main job, as a promise.
 *
 * SQLite costs more than the others together, so here it goes through one scenario of each kind; through all of them with
 * `CRASHPROOF_BUDGET=all`, and whenever `crashproof run` is called.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EVERY_ROW } from "../scenarios/every-row.ts";
import { SCENARIOS, scenarioByName } from "../scenarios/index.ts";
import { type ExploreHost, type ExploreResult, explore, type GroupKind } from "../src/explore/index.ts";
import type { Scenario } from "../src/faults/index.ts";
import { RealClock } from "../src/foundation/index.ts";
import { builtInSubjects, type Subject, subjectById } from "../src/subject/index.ts";
import { openScratch, type Scratch } from "../src/subprocess/index.ts";

const STORES = ["memory", "jsonl", "sqlite"];

let scratch: Scratch;
let host: ExploreHost;
beforeAll(() => {
  scratch = openScratch();
  host = { clock: new RealClock(), folder: scratch.folder };
});
afterAll(() => scratch.remove());

/** One scenario of each kind, for SQLite. */
const ON_SQLITE: ReadonlySet<string> = new Set([
  ...["one-turn", "two-tools", "parallel-tools", "tool-error", "redeployed-tools", "notes-beside"],
  ...["deferred-tools", "steer-while-tool-runs", "goes-on-at-the-end", "next-run", "abort-while-tool-runs"],
  ...["compact", "threshold", "overflow-error", "navigate-summary"],
]);

/** The stores that a scenario goes through here. */
function storesOf({ name }: Scenario): readonly string[] {
  const isWhole = ON_SQLITE.has(name) || process.env.CRASHPROOF_BUDGET === "all";
  return STORES.filter((id) => id !== "sqlite" || isWhole);
}

function look(scenario: Scenario, changed: { depth?: number; skip?: readonly string[] } = {}) {
  return explore(
    {
      scenarios: [scenario],
      subjects: storesOf(scenario).map((id) => subjectById(id) as Subject),
      seed: 1,
      depth: 1,
      skip: [],
      checkersOff: [],
      kill: "none",
      version: "",
      command: "",
      ...changed,
    },
    host,
  );
}

/** What was found on a scenario, looked at once for all tests. */
const looks = new Map<string, Promise<ExploreResult>>();
function lookOnce(scenario: Scenario): Promise<ExploreResult> {
  const known = looks.get(scenario.name) ?? look(scenario);
  looks.set(scenario.name, known);
  return known;
}

const named = (name: string) => scenarioByName(name) as Scenario;
const runsOf = ({ groups }: ExploreResult, kind: GroupKind) =>
  Object.fromEntries(
    groups.filter((group) => group.kind === kind).map(({ subject, runs }) => [subject, runs]),
  );

describe("every scenario", () => {
  it("runs on the three stores that come with the package", () => {
    const harness = builtInSubjects().filter(({ family }) => family === "harness");
    expect(harness.map(({ id }) => id)).toEqual(STORES);
  });

  it.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
    "survives every death, on its stores and by every drive: %s",
    async (_, scenario) => {
      const result = await lookOnce(scenario);
      expect(result.failures).toEqual([]);
      expect(result.totals).toMatchObject({ violated: 0, inconclusive: 0 });
      expect(result.totals.survived).toBe(result.totals.runs);
      const { covered, total } = result.coverage.boundaries;
      expect(covered).toBe(total);
      // Each store was cut, each was driven by hand too, SQLite was taken over, and all agree cut by cut.
      const ids = storesOf(scenario);
      const crashes = runsOf(result, "crash");
      expect(Object.keys(crashes)).toEqual(ids);
      expect(runsOf(result, "drives")).toEqual(Object.fromEntries(ids.map((id) => [id, 1])));
      expect(Object.keys(runsOf(result, "takeover"))).toEqual(ids.filter((id) => id === "sqlite"));
      const { memory: seconds = 0 } = runsOf(result, "second");
      expect(runsOf(result, "backends")).toEqual({ harness: (crashes.memory ?? 0) + seconds });
    },
    180_000,
  );

  it("makes every row of the specification, already those that stand for all", async () => {
    const results = await Promise.all(EVERY_ROW.map((name) => lookOnce(named(name))));
    for (const store of ["memory", "jsonl"]) {
      const missing = results.map(({ coverage }) =>
        coverage.rows.missing.filter((row) => row.startsWith(store)),
      );
      const everywhere = missing[0]?.filter((row) => missing.every((rows) => rows.includes(row)));
      expect(everywhere).toEqual([]);
    }
  }, 180_000);
});

describe("two-tools", () => {
  it("has as many boundaries as a count by hand", async () => {
    // lane.seed, acceptance, two generations (ready, intent, settlement), two calls (intent, settlement), terminal.
    const commitCount = 1 + 1 + 2 * 3 + 2 * 2 + 1;
    expect(commitCount).toBe(13);
    // Two requests and two tool executions: before, inside (it happened, nobody knows), after.
    const effectPositions = (2 + 2) * 3;
    // A commit to memory is there or not; a line of a file, and a transaction in a log, can also be torn.
    const atomic = commitCount * 2 + effectPositions;
    const torn = commitCount * 3 + effectPositions;
    const takeovers = commitCount;
    expect([atomic, torn, takeovers]).toEqual([38, 51, 13]);
    // Each is torn in two places: a line in its middle or at a page of the file, and before its line feed; a transaction
    // before its last frame, and in the middle of that.
    const deathsOnFiles = torn + commitCount;

    const result = await lookOnce(named("two-tools"));
    const uncut = 1;
    expect(runsOf(result, "crash")).toEqual({
      memory: atomic + uncut,
      jsonl: deathsOnFiles + uncut,
      sqlite: deathsOnFiles + uncut,
    });
    expect(runsOf(result, "takeover")).toEqual({ sqlite: takeovers });
    expect(result.coverage.boundaries).toEqual({ covered: 165, total: 165 });
    // Two rows that only recoveries make, before and after, on three stores.
    const seconds = 2 * 2 * 3;
    expect(runsOf(result, "second")).toEqual({ memory: 4, jsonl: 4, sqlite: 4 });
    expect(atomic + torn + torn + takeovers + seconds).toBe(165);
  });

  it("is cut a second time where only its recoveries make a commit, unless that is left out", async () => {
    const missing = ({ coverage }: ExploreResult) => coverage.rows.missing;
    const result = await lookOnce(named("two-tools"));
    const rows = ["generation.retry-unknown", "tool.interrupted"];
    const one = await look(named("two-tools"), { skip: ["tool.interrupted"] });
    for (const store of STORES) {
      for (const row of rows) expect(missing(result)).not.toContain(`${store}:${row}`);
      expect(missing(one)).toContain(`${store}:tool.interrupted`);
    }
    const { covered, total } = result.coverage.boundaries;
    expect(one.coverage.boundaries).toEqual({ covered: covered - 2 * STORES.length, total });
    expect(one.notReached).toEqual([]);
  });

  it("is covered less when one boundary is left out, in every position and on every store", async () => {
    const result = await look(named("two-tools"), { skip: ["tool.intent#2"] });
    // before and after on Memory, torn too on JSONL and SQLite, and one takeover.
    expect(result.coverage.boundaries).toEqual({ covered: 165 - (2 + 3 + 3 + 1), total: 165 });
    expect(result.totals).toMatchObject({ violated: 0, inconclusive: 0 });
  });
});

describe("one-turn, with a second death in each recovery", () => {
  it("has as many deaths as the recoveries have boundaries, by hand", async () => {
    /** What is left to do after each commit: commits, with that many deaths at each, and requests, with three. */
    const deathsAfter = (positions: number) => ({
      nothing: 0,
      terminal: positions,
      // The outcome of the request is unknown and may not be asked for again: a synthetic settlement, a terminal.
      unknown: 2 * positions,
      intent: 3 * positions + 3,
      ready: 4 * positions + 3,
      acceptance: 5 * positions + 3,
      everything: 6 * positions + 3,
    });
    /** `positions` is the number of deaths at one commit of a first life, tears included; `later` at one of a second. */
    const count = (positions: number, later: number) => {
      const left = deathsAfter(later);
      // Every cut of a commit but the last leaves what was there before it: its `before`, and a torn line.
      const without = positions - 1;
      const second =
        without * left.everything +
        (1 + without) * (left.acceptance + left.ready + left.intent) +
        // After the intent, around the request (three), and before the settlement.
        (1 + 3 + without) * left.unknown +
        (1 + without) * left.terminal +
        left.nothing;
      return 1 + deathsAfter(positions).everything + second;
    };
    // Before and after; on JSONL also torn in two places; on SQLite so in first lives only.
    expect([count(2, 2), count(4, 4), count(4, 2)]).toEqual([121, 409, 241]);

    const result = await look(named("one-turn"), { depth: 2 });
    expect(runsOf(result, "crash")).toEqual({
      memory: count(2, 2),
      jsonl: count(4, 4),
      sqlite: count(4, 2),
    });
    expect(runsOf(result, "backends")).toEqual({ harness: count(2, 2) });
    expect(result.failures).toEqual([]);
    // A boundary is counted once, however often its recovery was cut.
    expect(result.coverage.boundaries).toEqual({ covered: 15 + 21 + 21 + 6, total: 63 });
  });
});
