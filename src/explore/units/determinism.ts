/** Runs of one scenario on one subject that are executed twice. */

import { type DeterminismPlan, exploreDeterminism } from "../determinism/determinism.ts";
import type { ExplorePlan } from "../plan.ts";
import { GroupTally } from "../tally.ts";
import {
  contextOf,
  type Pair,
  pairsOf,
  timed,
  type UnitFamily,
  type UnitFinding,
  type UnitWork,
  unitsOfPairs,
} from "./unit.ts";

export const determinism: UnitFamily = {
  units: (plan) => {
    const { determinism: wanted } = plan;
    if (wanted === undefined) return [];
    const pairs = pairsOf(plan, wanted.scenarios);
    return unitsOfPairs("determinism", pairs, (pair, work) => explorePair(plan, pair, wanted, work));
  },
};

async function explorePair(
  plan: ExplorePlan,
  pair: Pair,
  wanted: DeterminismPlan,
  work: UnitWork,
): Promise<UnitFinding> {
  const { scenario, subject } = pair;
  const tally = new GroupTally("determinism", scenario.name, subject.id, plan.checkersOff);
  const twice = () =>
    exploreDeterminism(contextOf(plan, pair, work), wanted, (judgement) => {
      tally.judged(judgement);
      work.told(`twice ${scenario.name} on ${subject.id}`);
    });
  await timed(work, tally, twice);
  return { groups: [tally.record] };
}
