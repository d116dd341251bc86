/**
 * `explore(plan) → ExploreResult`: everything the command line does is this function first.
 *
 * A plan falls into units (`units/unit.ts`); each is explored by itself, and what came of them is put together here.
 */
import { collect } from "./collect.ts";
import type { ExploreHost, ExplorePlan } from "./plan.ts";
import { skippedRaces } from "./race/races.ts";
import type { ExploreResult, Kills, Skipped } from "./result.ts";
import { groupsOf, runUnit, unitsOf } from "./units/families.ts";
import type { UnitRecord } from "./units/unit.ts";
import { Watchdog } from "./watchdog.ts";

/** Runs the plan. */
export async function explore(plan: ExplorePlan, host: ExploreHost): Promise<ExploreResult> {
  const startMs = host.clock.now();
  const watchdog = new Watchdog(host.clock);
  const records: UnitRecord[] = [];
  try {
    for (const unit of unitsOf(plan)) records.push(await runUnit(plan, unit, host, watchdog));
  } finally {
    watchdog.stop();
  }
  return resultOf(plan, records, host.clock.now() - startMs);
}

/** Puts the records of a plan's units together, in whichever order they came. */
export function resultOf(
  plan: ExplorePlan,
  records: readonly UnitRecord[],
  elapsedMs: number,
): ExploreResult {
  const { version, seed, command, checkersOff, skip, subjects } = plan;
  const reached = new Set(records.flatMap(({ skipsReached }) => skipsReached));
  const head = {
    version,
    seed,
    command,
    elapsedMs,
    kills: killsOf(records),
    skipped: [...skippedBy(plan), ...skippedRaces(plan.races, subjects)],
    checkersOff,
    notReached: [...new Set(skip)].filter((name) => !reached.has(name)),
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
