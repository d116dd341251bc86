/**
 * `explore(plan) → ExploreResult`: everything the command line does is this function first.
 *
 * A plan falls into units (`units/unit.ts`); each is explored by itself, and what came of them is put together here.
 */
import { collect } from "./collect.ts";
import { fingerprintOf, unitsOfShard } from "./parts/shard.ts";
import type { ExploreHost, ExplorePlan, Progress } from "./plan.ts";
import { skippedRaces } from "./race/races.ts";
import type { ExploreResult, Kills, Skipped } from "./result.ts";
import { groupsOf, runUnit, unitsOf } from "./units/families.ts";
import type { Unit, UnitRecord } from "./units/unit.ts";
import { Watchdog } from "./watchdog.ts";
import { dataOf } from "./workers/plan-data.ts";
import { exploreInWorkers } from "./workers/workers.ts";

/** Runs the plan. */
export async function explore(plan: ExplorePlan, host: ExploreHost): Promise<ExploreResult> {
  const startMs = host.clock.now();
  const { shard, checkpoint } = host;
  const all = unitsOf(plan);
  const own = shard === undefined ? all : unitsOfShard(all, shard);
  const records = own.flatMap(({ id }) => checkpoint?.records.get(id) ?? []);
  const earlierMs = records.reduce((total, record) => total + record.elapsedMs, 0);
  const left = own.filter(({ id }) => checkpoint?.records.has(id) !== true);
  await exploreUnits(plan, left, host, (record) => {
    checkpoint?.keep(record);
    records.push(record);
  });
  const result = resultOf(plan, records, earlierMs + host.clock.now() - startMs);
  if (shard === undefined) return result;
  const { code, ...part } = shard;
  const units = { explored: own.length, total: all.length };
  const inOrder = own.flatMap((unit) => records.find(({ id }) => id === unit.id) ?? []);
  const fingerprint = fingerprintOf(plan, code);
  return { ...result, shard: { ...part, units, fingerprint, plan: dataOf(plan), records: inOrder } };
}

/** Explores these units of a plan, here or in workers, and tells of each record as it comes. */
async function exploreUnits(
  plan: ExplorePlan,
  units: readonly Unit[],
  host: ExploreHost,
  record: (record: UnitRecord) => void,
): Promise<void> {
  const { workers, folder } = host;
  if (workers !== undefined && workers.count > 1 && units.length > 1) {
    const progress = (done: Progress) => host.progress?.(done);
    const ids = units.map(({ id }) => id);
    await exploreInWorkers(plan, ids, { ...workers, folder }, { record, progress });
    return;
  }
  const watchdog = new Watchdog(host.clock);
  try {
    for (const unit of units) record(await runUnit(plan, unit, host, watchdog));
  } finally {
    watchdog.stop();
  }
}

/**
 * Puts the records of a plan's units together, in whichever order they came. Without some of them it is the result of a
 * part, of which nobody can say what no run came by.
 */
export function resultOf(
  plan: ExplorePlan,
  records: readonly UnitRecord[],
  elapsedMs: number,
): ExploreResult {
  const { version, seed, command, checkersOff, skip, subjects } = plan;
  const isWhole = unitsOf(plan).length === records.length;
  const reached = new Set(records.flatMap(({ skipsReached }) => skipsReached));
  const head = {
    version,
    seed,
    command,
    elapsedMs,
    kills: killsOf(records),
    skipped: [...skippedBy(plan), ...skippedRaces(plan.races, subjects)],
    checkersOff,
    notReached: isWhole ? [...new Set(skip)].filter((name) => !reached.has(name)) : [],
  };
  const groups = groupsOf(plan, new Map(records.map((record) => [record.id, record])));
  return collect(groups, head, new Map(subjects.map(({ id, rows }) => [id, rows])));
}

function killsOf(records: readonly UnitRecord[]): Kills | undefined {
  const all = records.flatMap(({ kills }) => kills ?? []);
  if (all.length === 0) return undefined;
  const sum = (key: keyof Kills) => all.reduce((total, kills) => total + kills[key], 0);
  return { states: sum("states"), kills: sum("kills") };
}

/** What a subject cannot run is said, not left out in silence. */
function skippedBy({ scenarios, subjects }: ExplorePlan): Skipped[] {
  return scenarios.flatMap((scenario) =>
    subjects.flatMap((subject) => {
      const reason = subject.skips?.(scenario);
      return reason === undefined ? [] : [{ scenario: scenario.name, subject: subject.id, reason }];
    }),
  );
}
