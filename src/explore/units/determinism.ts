/** Runs of one scenario on one subject that are executed twice. */
import { exploreDeterminism } from "../determinism/determinism.ts";
import { exploreGroup, pairsOf, type UnitFamily, unitsOfPairs } from "./unit.ts";

export const determinism: UnitFamily = {
  units: (plan) => {
    const { determinism: wanted } = plan;
    if (wanted === undefined) return [];
    return unitsOfPairs("determinism", pairsOf(plan, wanted.scenarios), async (pair, work) => {
      const { record } = await exploreGroup("determinism", plan, pair, work, (context, tally) =>
        exploreDeterminism(context, wanted, (judgement) => {
          tally.judged(judgement);
          work.told(`twice ${pair.scenario.name} on ${pair.subject.id}`);
        }),
      );
      return { groups: [record] };
    });
  },
};
