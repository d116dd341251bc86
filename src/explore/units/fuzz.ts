/** Generated workloads, in batches of cases: each case on every subject, and the subjects of a family held against each other. */
import type { Scenario } from "../../faults/index.ts";
import type { Subject } from "../../subject/index.ts";
import { sumFired } from "../fired.ts";
import { type Batch, batchesOf, exploreBatch, type FuzzPlan } from "../fuzz/fuzz.ts";
import { type ExplorePlan, runContext } from "../plan.ts";
import { type GroupRecord, GroupTally } from "../tally.ts";
import type { UnitFamily, UnitFinding, UnitWork } from "./unit.ts";

export const fuzz: UnitFamily = {
  units: (plan) => {
    const { fuzz: wanted } = plan;
    if (wanted === undefined) return [];
    return batchesOf(wanted, plan.seed).map((batch) => ({
      id: `fuzz/${batch.name}`,
      run: (work) => exploreOne(plan, wanted, batch, work),
    }));
  },
  merged: mergedByName,
};

async function exploreOne(
  { subjects: all, checkersOff }: ExplorePlan,
  plan: FuzzPlan,
  batch: Batch,
  { host, watchdog, told }: UnitWork,
): Promise<UnitFinding> {
  const { clock } = host;
  const subjects = all.filter(({ id }) => plan.subjects?.includes(id) !== false);
  const tallies = new Map<string, GroupTally>();
  let sinceMs = clock.now();
  const fuzzHost = {
    subjects,
    clock,
    contextOf: (scenario: Scenario, subject: Subject, seed: number) =>
      runContext(scenario, subject, seed, host, watchdog, checkersOff),
  };
  await exploreBatch(plan, batch, fuzzHost, {
    judged: (judgement, who, faultCount) => {
      const tally = tallies.get(who) ?? new GroupTally("fuzz", batch.mixture, who, checkersOff);
      tallies.set(who, tally);
      tally.judged(judgement);
      for (let count = 0; count < faultCount; count++) tally.recovered("executed");
      tally.elapsedMs += clock.now() - sinceMs;
      sinceMs = clock.now();
      told(`generated cases ${batch.name}`);
    },
  });
  return { groups: [...tallies.values()].map(({ record }) => record) };
}

/** One group for each mixture and subject, whatever the batches were. */
function mergedByName(groups: readonly GroupRecord[]): readonly GroupRecord[] {
  const merged = new Map<string, GroupRecord>();
  for (const group of groups) {
    const name = `${group.scenario} on ${group.subject}`;
    const known = merged.get(name);
    merged.set(name, known === undefined ? group : sumOf(known, group));
  }
  return [...merged.values()].sort((one, other) =>
    one.scenario < other.scenario ? -1 : one.scenario > other.scenario ? 1 : 0,
  );
}

function sumOf(one: GroupRecord, other: GroupRecord): GroupRecord {
  const { executed, shared, repeated } = one.recoveries;
  return {
    ...one,
    survived: one.survived + other.survived,
    violated: one.violated + other.violated,
    inconclusive: one.inconclusive + other.inconclusive,
    elapsedMs: one.elapsedMs + other.elapsedMs,
    recoveries: {
      executed: executed + other.recoveries.executed,
      shared: shared + other.recoveries.shared,
      repeated: repeated + other.recoveries.repeated,
    },
    fired: sumFired([...one.fired, ...other.fired]),
    failures: [...one.failures, ...other.failures],
  };
}
