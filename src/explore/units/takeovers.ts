/** Takeovers of one scenario on one subject: another process takes over from a stalled owner, before each commit. */

import type { ExplorePlan } from "../plan.ts";
import { exploreTakeovers } from "../takeover.ts";
import { GroupTally } from "../tally.ts";
import {
  contextOf,
  isPlanned,
  type Pair,
  pairsOf,
  timed,
  type UnitFamily,
  type UnitFinding,
  type UnitWork,
  unitsOfPairs,
} from "./unit.ts";

export const takeovers: UnitFamily = {
  units: (plan) => {
    if (plan.cuts === false) return [];
    const pairs = pairsOf(plan).filter(({ subject }) => subject.grade === "multi-writer");
    return unitsOfPairs("takeover", pairs, (pair, work) => explorePair(plan, pair, work));
  },
};

async function explorePair(plan: ExplorePlan, pair: Pair, work: UnitWork): Promise<UnitFinding> {
  const { scenario, subject } = pair;
  const tally = new GroupTally("takeover", scenario.name, subject.id, plan.checkersOff);
  const takeOver = () =>
    exploreTakeovers(contextOf(plan, pair, work), {
      wants: (cut) => {
        if (!isPlanned(plan, pair, cut)) {
          tally.sawUnplanned(cut);
          return false;
        }
        tally.saw(cut);
        return !work.skips.has(cut);
      },
      judged: (judgement, cut) => {
        tally.judged(judgement, cut && [cut]);
        work.told(`takeovers of ${scenario.name} on ${subject.id}`);
      },
    });
  await timed(work, tally, takeOver);
  return { groups: [tally.record] };
}
