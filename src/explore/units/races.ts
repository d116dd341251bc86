/**
 * One order of a race on a subject: run, proven from its timeline, and cut. What the stores of a family recovered to is
 * held against each other when the records are put together.
 */
import { formatRunId, unscheduled } from "../../faults/index.ts";
import type { CrashPlan } from "../crash/crash.ts";
import type { ExplorePlan } from "../plan.ts";
import { exploreInterleavings, type InterleavingPlan } from "../race/interleavings.ts";
import { exploreOrder } from "../race/order.ts";
import { type RacePair, racePairs } from "../race/races.ts";
import { GroupTally } from "../tally.ts";
import { agreementGroups, type Compared, ReachedTally } from "./agreement.ts";
import { contextOf, timed, type UnitFamily, type UnitFinding, type UnitWork } from "./unit.ts";

export const races: UnitFamily = {
  units: (plan) => {
    const { races: wanted } = plan;
    if (wanted === undefined) return [];
    const pairs = racePairs(wanted, plan.subjects).filter(({ reason }) => reason === undefined);
    const orders = pairs.map((pair) => ({
      id: `race/${pair.race.name}/${pair.order.name}/${pair.subject.id}`,
      run: (work: UnitWork) => explorePair(plan, pair, wanted.cuts, work),
    }));
    const { interleavings } = wanted;
    if (interleavings === undefined) return orders;
    // Two processes do not stand at one gate.
    const firsts = pairs.filter(
      ({ race, order }) => order === race.orders[0] && order.stallsBefore === undefined,
    );
    return [
      ...orders,
      ...firsts.map((pair) => ({
        id: `race/${pair.race.name}/interleavings/${pair.subject.id}`,
        run: (work: UnitWork) => exploreAll(plan, pair, interleavings, work),
      })),
    ];
  },
  together: (plan, records) => agreementGroups(plan, records, comparedOf(plan)),
};

/** Every order of every race: on each store it must leave the same, cut by cut. */
function comparedOf({ races: wanted, seed }: ExplorePlan): readonly Compared[] {
  if (wanted === undefined) return [];
  return wanted.races.flatMap(({ name: scenario, orders }) =>
    orders.map(({ name: order }) => ({
      name: `${scenario}/${order}`,
      idOf: (subject, cuts) => formatRunId({ kind: "race", scenario, subject, cuts, seed, order }),
      isAsked: () => wanted.cuts,
    })),
  );
}

/** All interleavings of a race on a subject, within a bound. */
async function exploreAll(
  plan: ExplorePlan,
  { race, subject }: RacePair,
  interleavings: InterleavingPlan,
  work: UnitWork,
): Promise<UnitFinding> {
  const tally = new GroupTally("race", `${race.name}/interleavings`, subject.id, plan.checkersOff);
  const context = contextOf(plan, { scenario: unscheduled(race), subject }, work);
  for (const { name } of race.orders) tally.sawOrder(name);
  const run = () =>
    exploreInterleavings(context, race, interleavings, {
      judged: (judgement) => {
        tally.judged(judgement);
        work.told(`interleavings of ${race.name} on ${subject.id}`);
      },
      proved: (order) => tally.provedOrder(order),
    });
  tally.interleavings = await timed(work, tally, run);
  return { groups: [tally.record] };
}

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
  const reached = new ReachedTally();
  const run = () =>
    exploreOrder(context, race, order, crashPlan, {
      saw: (_path, cut) => tally.saw(cut),
      proved: () => tally.provedOrder(order.name),
      judged: (judgement, path, digest, how) => {
        tally.judged(judgement, path);
        if (digest !== undefined) reached.add(path, digest);
        if (how !== undefined) tally.recovered(how);
        work.told(`race ${name} on ${subject.id}`);
      },
    });
  await timed(work, tally, run);
  return { groups: [tally.record], reached: reached.record(name, subject.id) };
}
