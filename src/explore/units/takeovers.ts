/** Takeovers of one scenario on one subject: another process takes over from a stalled owner, before each commit. */
import type { ExplorePlan } from "../plan.ts";
import { exploreTakeovers } from "../takeover.ts";
import {
  exploreGroup,
  isPlanned,
  type Pair,
  pairsOf,
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
  const { record } = await exploreGroup("takeover", plan, pair, work, (context, tally) =>
    exploreTakeovers(context, {
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
        work.told(`takeovers of ${pair.scenario.name} on ${pair.subject.id}`);
      },
    }),
  );
  return { groups: [record] };
}
