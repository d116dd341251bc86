/** Shards put together are the whole, byte for byte; what is not all of one whole is refused by name. */
import { describe, expect, it } from "vitest";
import { explore } from "../explore.ts";
import type { ExplorePlan } from "../plan.ts";
import type { ExploreResult } from "../result.ts";
import { HOST, plan } from "../testing/explorations.ts";
import { CLIMB, ladder } from "../testing/ladder.ts";
import type { Unit } from "../units/unit.ts";
import { MergeRefused, mergeShards } from "./merge.ts";
import { fingerprintOf, unitsOfShard } from "./shard.ts";

const OWN = { version: "0.0.0", code: "code" };
const SUBJECTS = [
  ladder({}, { id: "one", grade: "multi-writer", drives: ["automatic", "manual"] }),
  ladder({ takesStaleOwners: true }, { id: "two", grade: "multi-writer" }),
  ladder({ word: (_boot, rung, word) => `${word} ${rung}` }, { id: "three" }),
];
const known = (id: string) => SUBJECTS.find((subject) => subject.id === id);
const SCENARIOS = ["climb", "again", "once more"].map((name) => ({ ...CLIMB, name }));
const PLAN = plan(SUBJECTS, { scenarios: SCENARIOS, skip: ["rung#2", "never"] });

const shardOf = (of: ExplorePlan, index: number, count: number, code = "code") =>
  explore(of, { ...HOST, shard: { index, count, code } });
const named = (results: readonly ExploreResult[]) =>
  results.map((result, place) => ({ name: `${place + 1}.json`, result }));
const written = (result: ExploreResult) => JSON.parse(JSON.stringify(result)) as ExploreResult;
/** Without host times, which are those of one run. */
const bytes = (result: ExploreResult) =>
  JSON.stringify(result, (key, value) => (key === "elapsedMs" || key === "perSecond" ? 0 : value));

function refusalOf(merge: () => unknown): string {
  try {
    merge();
    return "nothing was refused";
  } catch (error) {
    if (error instanceof MergeRefused) return `${error.code}: ${error.message}`;
    throw error;
  }
}

describe("shards", () => {
  const units = Array.from({ length: 101 }, (_, place) => ({ id: `crash/s${place}/m` }) as Unit);

  it.each([1, 2, 7, 101, 150])("hold every unit once, and as many each but for one: %i", (count) => {
    const shards = Array.from({ length: count }, (_, place) =>
      unitsOfShard(units, { index: place + 1, count }),
    );
    expect(shards.flat().toSorted((a, b) => units.indexOf(a) - units.indexOf(b))).toEqual(units);
    const sizes = shards.map(({ length }) => length);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
  });

  it("do not depend on the order of the units", () => {
    const shard = { index: 2, count: 5 };
    expect(new Set(unitsOfShard([...units].reverse(), shard))).toEqual(new Set(unitsOfShard(units, shard)));
  });

  it("have the fingerprint of their plan and program, however the command was worded", () => {
    const own = fingerprintOf(PLAN, "code");
    expect(fingerprintOf({ ...PLAN, command: "other words" }, "code")).toBe(own);
    expect(fingerprintOf(PLAN, "other code")).not.toBe(own);
    for (const changed of [
      { seed: 2 },
      { depth: 2 },
      { version: "1" },
      { skip: [] },
      { scenarios: [CLIMB] },
    ]) {
      expect(fingerprintOf({ ...PLAN, ...changed }, "code")).not.toBe(own);
    }
  });
});

describe("merged shards", () => {
  it.each([1, 3, 20])("are equal to the result of one exploration, in whichever order: %i", async (count) => {
    const whole = await explore(PLAN, HOST);
    expect(whole.totals.violated).toBeGreaterThan(0);
    expect(whole.notReached).toEqual(["never"]);
    const shards = await Promise.all(
      Array.from({ length: count }, (_, place) => shardOf(PLAN, place + 1, count)),
    );
    const merged = mergeShards(named(shards.map(written)).reverse(), known, OWN);
    expect(bytes(merged)).toBe(bytes(whole));
    expect(merged.elapsedMs).toBe(shards.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0));
  });

  it("are refused where one is missing, or there twice, and it is named", async () => {
    const [one, two, three] = await Promise.all([1, 2, 3].map((index) => shardOf(PLAN, index, 4)));
    const merge = (...shards: (ExploreResult | undefined)[]) =>
      refusalOf(() => mergeShards(named(shards.filter((shard) => shard !== undefined)), known, OWN));
    expect(merge(one, three)).toMatch(/^SHARD_MISSING: shards 2\/4, 4\/4 missing/);
    expect(merge(one, two, three)).toMatch(/^SHARD_MISSING: shard 4\/4 missing/);
    expect(merge(one, two, one)).toBe("SHARD_TWICE: 1.json and 3.json are both shard 1 of 4");
    expect(merge()).toMatch(/^SHARD_MISSING: /);
  });

  it("are refused where they are not of one exploration, and it is said in what", async () => {
    const one = await shardOf(PLAN, 1, 2);
    const other = async (of: Partial<ExplorePlan>, count = 2, code = "code") => {
      const two = await shardOf({ ...PLAN, ...of }, 2, count, code);
      return refusalOf(() => mergeShards(named([one, two]), known, OWN));
    };
    expect(await other({ seed: 2 })).toMatch(/^SHARDS_DIFFER: .* seeds 1 and 2$/);
    expect(await other({ version: "9" })).toMatch(/^SHARDS_DIFFER: .* versions 0\.0\.0 and 9$/);
    expect(await other({}, 3)).toMatch(/^SHARDS_DIFFER: .* numbers of shards 2 and 3$/);
    expect(await other({ depth: 2 })).toMatch(/^SHARDS_DIFFER: .* plans, or programs, /);
    expect(await other({}, 2, "changed code")).toMatch(/^SHARDS_DIFFER: .* plans, or programs, /);
    const two = await shardOf(PLAN, 2, 2);
    const mergedBy = (own: typeof OWN) => refusalOf(() => mergeShards(named([one, two]), known, own));
    expect(mergedBy({ ...OWN, version: "9" })).toMatch(/^SHARDS_DIFFER: .* version 0\.0\.0, and this is 9/);
    expect(mergedBy({ ...OWN, code: "changed" })).toMatch(/^SHARDS_DIFFER: .* another state of this program/);
  });

  it("are refused where one is no shard, lacks a record, or is of subjects that nobody knows here", async () => {
    const [one, two] = (await Promise.all([1, 2].map((index) => shardOf(PLAN, index, 2)))) as [
      ExploreResult,
      ExploreResult,
    ];
    const merge = (changed: ExploreResult, subjects = known) =>
      refusalOf(() => mergeShards(named([changed, two]), subjects, OWN));
    const { shard, ...whole } = one;
    if (shard === undefined) throw new Error("a shard says so");
    expect(merge(whole)).toMatch(/^UNREADABLE_SHARD: 1\.json is the result of a whole exploration/);
    const lacking = { ...one, shard: { ...shard, records: shard.records.slice(1) } };
    expect(merge(lacking)).toBe(
      `UNREADABLE_SHARD: 1.json has no record of ${shard.records[0]?.id}; it was changed after it was written`,
    );
    const twice = { ...one, shard: { ...shard, records: [...shard.records, ...shard.records] } };
    expect(merge(twice)).toMatch(/^UNREADABLE_SHARD: 1\.json holds more than the units of its shard/);
    expect(merge(one, () => undefined)).toMatch(/^UNREADABLE_SHARD: .*no subject is called "one" here/);
  });
});
