/**
 * Races of a plan: both orders of each, on each subject that can run them.
 *
 * A race that a subject cannot have is named with the reason. An order that did not happen, as its timeline shows, is
 * inconclusive and stays uncovered.
 */
import type { Race, RaceOrder } from "../../faults/index.ts";
import type { Clock } from "../../foundation/index.ts";
import type { Subject } from "../../subject/index.ts";
import { GroupTally } from "../collect.ts";
import type { CrashPlan } from "../crash/crash.ts";
import type { Progress } from "../explore.ts";
import type { Skipped } from "../result.ts";
import type { RunContext } from "../standing.ts";
import { exploreOrder, skippedBecause } from "./order.ts";

/** Which races to run, and how far. */
export interface RacesPlan {
  readonly races: readonly Race[];
  /** Ids of the subjects, where not all of the plan's. */
  readonly subjects?: readonly string[];
  /** Whether every boundary of each order is cut. */
  readonly cuts: boolean;
}

/** What races need of the exploration that they are part of. */
export interface RaceHost {
  readonly clock: Clock;
  readonly checkersOff: readonly string[];
  readonly recoverEach: boolean;
  /** What stays the same over all runs of a race on a subject. */
  contextOf(race: Race, subject: Subject): RunContext;
  progress?(done: Progress): void;
}

/** Groups, one for each order of each race on each subject. */
export async function exploreRaces(
  plan: RacesPlan,
  subjects: readonly Subject[],
  host: RaceHost,
): Promise<GroupTally[]> {
  const groups: GroupTally[] = [];
  for (const { race, order, subject, reason } of pairs(plan, subjects)) {
    if (reason === undefined) groups.push(await raceGroup(plan, host, race, order, subject));
  }
  return groups;
}

/** What cannot be run, with the reason. */
export function skippedRaces(plan: RacesPlan | undefined, subjects: readonly Subject[]): Skipped[] {
  if (plan === undefined) return [];
  const skipped = new Map<string, Skipped>();
  for (const { race, subject, reason } of pairs(plan, subjects)) {
    if (reason === undefined) continue;
    skipped.set(`${race.name} ${subject.id}`, { scenario: race.name, subject: subject.id, reason });
  }
  return [...skipped.values()];
}

function pairs(plan: RacesPlan, subjects: readonly Subject[]) {
  const wanted = subjects.filter(({ id }) => plan.subjects?.includes(id) ?? true);
  return plan.races.flatMap((race) =>
    wanted.flatMap((subject) =>
      race.orders.map((order) => ({ race, order, subject, reason: skippedBecause(race, order, subject) })),
    ),
  );
}

async function raceGroup(
  { cuts }: RacesPlan,
  host: RaceHost,
  race: Race,
  order: RaceOrder,
  subject: Subject,
): Promise<GroupTally> {
  const name = `${race.name}/${order.name}`;
  const tally = new GroupTally("race", name, subject.id, host.checkersOff);
  const startMs = host.clock.now();
  const plan: CrashPlan = {
    depth: 1,
    secondDeaths: false,
    recoverEach: host.recoverEach,
    wants: () => cuts,
    enough: () => !cuts,
  };
  tally.sawOrder(order.name);
  let runCount = 0;
  await exploreOrder(host.contextOf(race, subject), race, order, plan, {
    saw: (_path, cut) => tally.saw(cut),
    proved: () => tally.provedOrder(order.name),
    judged: (judgement, path, _digest, how) => {
      tally.judged(judgement, path);
      if (how !== undefined) tally.recovered(how);
      host.progress?.({ group: `race ${name} on ${subject.id}`, runCount: ++runCount });
    },
  });
  tally.elapsedMs = host.clock.now() - startMs;
  return tally;
}
