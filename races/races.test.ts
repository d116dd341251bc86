/** The catalogue is whole, every race says what it must, and on one store every order leaves the history that it names. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ExploreHost, explore } from "../src/explore/index.ts";
import { nameOf } from "../src/faults/index.ts";
import { RealClock } from "../src/foundation/index.ts";
import { builtInSubjects } from "../src/subject/index.ts";
import { openScratch, type Scratch } from "../src/subprocess/index.ts";
import { RACES, raceByName } from "./index.ts";

let scratch: Scratch;
let host: ExploreHost;
beforeAll(() => {
  scratch = openScratch();
  host = { clock: new RealClock(), folder: scratch.folder };
});
afterAll(() => scratch.remove());

/** The pairs of the catalogue, and the races that are theirs. Structural commits are of three kinds, hooks of two. */
const PAIRS: readonly (readonly [pair: string, races: number])[] = [
  ["prompt × prompt", 1],
  ["abort × response settlement", 1],
  ["abort × tool result commit", 1],
  ["abort × `before_run_end` follow-up", 1],
  ["`cancelQueued` × checkpoint consumption", 1],
  ["`setModel` × generation start", 1],
  ["abort × structural commit", 3],
  ["`nextRun` × acceptance", 1],
  ["manual-compaction reservation × idle tree write", 1],
  ["deferred write × abort", 1],
  ["`close` × parked manual action", 1],
  ["`close` × settlement", 1],
  ["steer × abort", 1],
  ["steer × checkpoint consumption", 1],
  ["followUp × finish", 1],
  ["`setThinkingLevel` × generation start", 1],
  ["`setActiveTools` × generation start", 1],
  ["`setRetryPolicy` × generation start", 1],
  ["`setStreamOptions` × generation start", 1],
  ["`appendMessage` × acceptance", 1],
  ["external finalization × settlement", 1],
  ["external finalization × terminal", 1],
  ["`createLane` × `createLane`", 1],
  ["abort × abort", 1],
  ["abort × suspension", 1],
  ["abort × not-yet-started `after_response`", 1],
  ["abort × not-yet-started `after_tool`", 1],
  ["resume × resume", 1],
  ["`close` × acceptance", 1],
  ["`fork` × commit", 1],
  ["lease takeover × commit", 1],
];

describe("the races", () => {
  it("are those of the catalogue, each under a name of its own", () => {
    const counts = PAIRS.map(([pair]) => [pair, RACES.filter(({ row }) => row.pair.startsWith(pair)).length]);
    expect(counts).toEqual(PAIRS);
    expect(RACES).toHaveLength(PAIRS.reduce((total, [, races]) => total + races, 0));
    expect(new Set(RACES.map(({ name }) => name)).size).toBe(RACES.length);
    for (const race of RACES) expect(raceByName(race.name)).toBe(race);
  });

  it.each(RACES.map((race) => [race.name, race] as const))(
    "%s says how its two orders differ",
    (_name, race) => {
      const [first, second] = race.orders;
      expect(first.name).not.toBe(second.name);
      expect(first.proof).not.toEqual(second.proof);
      // The outcome of a call is no proof of an order: a wrong one would pass for an order that did not happen.
      for (const mark of [...first.proof, ...second.proof]) expect(mark).not.toMatch(/^answer \w+ [^*]/);
      const calls = (order: typeof first) => order.schedule.map(nameOf).sort();
      expect(calls(first)).toEqual(calls(second));
      for (const { name } of race.orders) expect(name).toMatch(/^[a-z-]+$/);
      const histories = [...race.orders, ...(race.elsewhere ?? [])].map(({ history }) => history.join("\n"));
      const named = new Set(histories);
      expect(named.size).toBeGreaterThanOrEqual(histories.length - 1);
    },
  );

  it("leave in both orders, on one store, the history that they name", async () => {
    const plan = { scenarios: [], subjects: builtInSubjects(), seed: 1, depth: 1, skip: [], checkersOff: [] };
    const races = { races: RACES, subjects: ["memory"], cuts: false };
    const { failures, coverage } = await explore(
      { ...plan, kill: "none", version: "", command: "", races },
      host,
    );
    expect(failures).toEqual([]);
    // Memory keeps no second process out.
    expect(coverage.orders).toEqual({ covered: 2 * (RACES.length - 1), total: 2 * (RACES.length - 1) });
  });
});
