/**
 * Merging: the results of all shards of a plan become the result of the plan.
 *
 * Refused, by name: a result that is no shard or whose records are not those of its shard; shards of different plans,
 * seeds, versions or programs; one that is missing or there twice. What is refused is never half merged.
 */
import { resultOf } from "../explore.ts";
import type { ExplorePlan } from "../plan.ts";
import type { ExploreResult } from "../result.ts";
import { unitsOf } from "../units/families.ts";
import { planOf, type Subjects } from "../workers/plan-data.ts";
import { fingerprintOf, type ShardPart, unitsOfShard } from "./shard.ts";

export type MergeRefusalCode = "UNREADABLE_SHARD" | "SHARDS_DIFFER" | "SHARD_MISSING" | "SHARD_TWICE";

/** Why shards cannot be merged. */
export class MergeRefused extends Error {
  override readonly name = "MergeRefused";
  readonly code: MergeRefusalCode;

  constructor(code: MergeRefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** A result, and what a reader knows it by. */
export interface NamedResult {
  readonly name: string;
  readonly result: ExploreResult;
}

interface NamedShard {
  readonly name: string;
  readonly part: ShardPart;
  readonly elapsedMs: number;
}

/** @param own the program that merges; see `fingerprintOf`. What it knows of units holds for those of its own only. */
export function mergeShards(
  results: readonly NamedResult[],
  subjects: Subjects,
  own: { readonly version: string; readonly code: string },
): ExploreResult {
  const shards = results.map(shardOf);
  const [first] = shards;
  if (first === undefined) throw new MergeRefused("SHARD_MISSING", "there is nothing to merge");
  for (const other of shards) assertSame(first, other);
  if (first.part.plan.version !== own.version) {
    const message = `${first.name} was made by version ${first.part.plan.version}, and this is ${own.version}; merge it with the version that made it`;
    throw new MergeRefused("SHARDS_DIFFER", message);
  }
  assertComplete(first.part.count, shards);
  const plan = planWith(first, subjects);
  if (first.part.fingerprint !== fingerprintOf(plan, own.code)) {
    const message = `${first.name} was made by another state of this program; merge it with the one that made it`;
    throw new MergeRefused("SHARDS_DIFFER", message);
  }
  for (const shard of shards) assertOwnUnits(plan, shard);
  const records = shards.flatMap(({ part }) => part.records);
  const elapsedMs = shards.reduce((total, shard) => total + shard.elapsedMs, 0);
  return resultOf(plan, records, elapsedMs);
}

function shardOf({ name, result }: NamedResult): NamedShard {
  const { shard, elapsedMs } = result;
  if (shard === undefined) {
    const message = `${name} is the result of a whole exploration; expected one that was made with --shard`;
    throw new MergeRefused("UNREADABLE_SHARD", message);
  }
  return { name, part: shard, elapsedMs };
}

function assertSame(first: NamedShard, other: NamedShard): void {
  const differs = (what: string, one: unknown, two: unknown) => {
    const message = `${first.name} and ${other.name} are not of one exploration: ${what} ${one} and ${two}`;
    throw new MergeRefused("SHARDS_DIFFER", message);
  };
  const [one, two] = [first.part, other.part];
  if (one.plan.version !== two.plan.version) differs("versions", one.plan.version, two.plan.version);
  if (one.plan.seed !== two.plan.seed) differs("seeds", one.plan.seed, two.plan.seed);
  if (one.count !== two.count) differs("numbers of shards", one.count, two.count);
  if (one.fingerprint !== two.fingerprint) {
    differs("plans, or programs,", `"${one.plan.command}"`, `"${two.plan.command}"`);
  }
}

function assertComplete(count: number, shards: readonly NamedShard[]): void {
  const byIndex = new Map<number, string>();
  for (const { name, part } of shards) {
    const known = byIndex.get(part.index);
    if (known !== undefined) {
      const message = `${known} and ${name} are both shard ${part.index} of ${count}`;
      throw new MergeRefused("SHARD_TWICE", message);
    }
    byIndex.set(part.index, name);
  }
  const missing = Array.from({ length: count }, (_, place) => place + 1).filter(
    (index) => !byIndex.has(index),
  );
  if (missing.length === 0) return;
  const names = missing.map((index) => `${index}/${count}`).join(", ");
  const message = `${missing.length === 1 ? "shard" : "shards"} ${names} missing; explore with --shard and the missing number, and name its file too`;
  throw new MergeRefused("SHARD_MISSING", message);
}

function planWith({ name, part }: NamedShard, subjects: Subjects): ExplorePlan {
  try {
    return planOf(part.plan, subjects);
  } catch (error) {
    throw new MergeRefused("UNREADABLE_SHARD", `${name}: ${error instanceof Error ? error.message : error}`);
  }
}

/** A shard without all of its records would be merged into a result that looks whole. */
function assertOwnUnits(plan: ExplorePlan, { name, part }: NamedShard): void {
  const expected = unitsOfShard(unitsOf(plan), part).map(({ id }) => id);
  const found = new Set(part.records.map(({ id }) => id));
  const isOwn = expected.every((id) => found.has(id)) && part.records.length === expected.length;
  if (isOwn) return;
  const missing = expected.find((id) => !found.has(id));
  const what =
    missing === undefined ? "holds more than the units of its shard" : `has no record of ${missing}`;
  throw new MergeRefused("UNREADABLE_SHARD", `${name} ${what}; it was changed after it was written`);
}
