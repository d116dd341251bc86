/**
 * Shards: the units of a plan, dealt out so that several machines explore it together.
 *
 * Units are dealt in the order of a hash of their names, one to each shard in turn. So what is dear in a plan (the
 * scenarios that stand together, the subjects on files) is spread, every shard gets as many units but for one, and who gets
 * which depends on the plan and on nothing else.
 *
 * A shard's result is one of its units, with their records and the plan (`ShardPart`), so that `mergeShards` can put all
 * shards together. What is merged is equal, byte for byte, to the result of one exploration of the whole plan, except for
 * host times: those are added up.
 */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../foundation/index.ts";
import type { ExplorePlan } from "../plan.ts";
import type { Unit, UnitRecord } from "../units/unit.ts";
import { dataOf, type PlanData } from "../workers/plan-data.ts";

/** The `index`-th of `count` shards; the first is 1. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** What a result holds that is one shard of several. */
export interface ShardPart extends Shard {
  /** The units of the shard, and of the plan. */
  readonly units: { readonly explored: number; readonly total: number };
  /** Equal in all shards of one plan; see {@link fingerprintOf}. */
  readonly fingerprint: string;
  readonly plan: PlanData;
  readonly records: readonly UnitRecord[];
}

/** The units of one shard, in the order of the plan. */
export function unitsOfShard(units: readonly Unit[], { index, count }: Shard): readonly Unit[] {
  const dealt = units
    .map((unit) => ({ unit, hash: hashOf(unit.id) }))
    .sort((one, other) => (one.hash < other.hash ? -1 : one.hash > other.hash ? 1 : 0))
    .filter((_, place) => place % count === index - 1)
    .map(({ unit }) => unit);
  const own = new Set(dealt);
  return units.filter((unit) => own.has(unit));
}

/**
 * Stands for a plan and for what explores it: equal fingerprints, equal records. `code` stands for the program, because a
 * version names no state of a checkout. How the command line was worded does not count.
 */
export function fingerprintOf(plan: ExplorePlan, code: string): string {
  const { command: _command, ...data } = dataOf(plan);
  return hashOf(`${code}\n${canonicalJson(JSON.parse(JSON.stringify(data)))}`);
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
