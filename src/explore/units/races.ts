/** One order of a race on a subject: run, proven from its timeline, and cut. */
import { unscheduled } from "../../faults/index.ts";
import { GroupTally } from "../collect.ts";
import type { CrashPlan } from "../crash/crash.ts";
import type { ExplorePlan } from "../plan.ts";
import { exploreOrder } from "../race/order.ts";
import { type RacePair, racePairs } from "../race/races.ts";
import { contextOf, timed, type UnitFamily, type UnitFinding, type UnitWork } from "./unit.ts";

export const races: UnitFamily = {
  units: (plan) => {
    const { races: wanted } = plan;
    if (wanted === undefined) return [];
    return racePairs(wanted, plan.subjects)
      .filter(({ reason }) => reason === undefined)
      .map((pair) => ({
        id: `race/${pair.race.name}/${pair.order.name}/${pair.subject.id}`,
        run: (work) => explorePair(plan, pair, wanted.cuts, work),
      }));
  },
};

async function explorePair(
  plan: ExplorePlan,
  { race, order, subject }: RacePair,
  cuts: boolean,
  work: UnitWork,
): Promise<UnitFinding> {
  const name = `${race.name}/${order.name}`;
  const tally = new GroupTally("race", name, subject.id, plan.checkersOff);
  const context = contextOf(plan, { scenario: unscheduled(race), subject }, work);
  const { recoverEach = false } = plan;
  const crashPlan: CrashPlan = {
    depth: 1,
    secondDeaths: false,
    recoverEach,
    wants: () => cuts,
    enough: () => !cuts,
  };
  tally.sawOrder(order.name);
  let runCount = 0;
  const run = () =>
    exploreOrder(context, race, order, crashPlan, {
      saw: (_path, cut) => tally.saw(cut),
      proved: () => tally.provedOrder(order.name),
      judged: (judgement, path, _digest, how) => {
        tally.judged(judgement, path);
        if (how !== undefined) tally.recovered(how);
        work.host.progress?.({ group: `race ${name} on ${subject.id}`, runCount: ++runCount });
      },
    });
  await timed(work, tally, run);
  return { groups: [tally.record] };
}
