/**
 * The deaths of one scenario on one subject: cut at every boundary, with the second deaths in its recoveries, and driven
 * in every way. What the stores of a family recovered to is compared when the records are put together.
 */
import { type CutRef, cutRefName } from "../../faults/index.ts";
import { seededRandom } from "../../foundation/index.ts";
import type { View } from "../../subject/index.ts";
import { violationsOf } from "../checks.ts";
import { type CrashPlan, type CrashSink, exploreCrashes } from "../crash/crash.ts";
import { judge, together } from "../judgement.ts";
import type { ExplorePlan } from "../plan.ts";
import type { Judgement } from "../result.ts";
import { runIdOf } from "../run-ids.ts";
import { type RunContext, runUncut } from "../standing.ts";
import { GroupTally } from "../tally.ts";
import { agreementGroups, ReachedTally } from "./agreement.ts";
import {
  contextOf,
  isPlanned,
  isSampled,
  type Pair,
  pairsOf,
  timed,
  type UnitFamily,
  type UnitFinding,
  type UnitWork,
  unitsOfPairs,
} from "./unit.ts";

export const crashes: UnitFamily = {
  units: (plan) =>
    plan.cuts === false
      ? []
      : unitsOfPairs("crash", pairsOf(plan), (pair, work) => explorePair(plan, pair, work)),
  together: agreementGroups,
};

async function explorePair(plan: ExplorePlan, pair: Pair, work: UnitWork): Promise<UnitFinding> {
  const { scenario, subject } = pair;
  const context = contextOf(plan, pair, work);
  const tally = new GroupTally("crash", scenario.name, subject.id, plan.checkersOff);
  const second = new GroupTally("second", scenario.name, subject.id, plan.checkersOff);
  const reached = new ReachedTally();
  const isWanted = (cut: CutRef) => isPlanned(plan, pair, cut);
  const cutting = crashPlan(plan, pair, work, isWanted);
  const tallies = plan.depth === 1 ? ([tally, second] as const) : ([tally, tally] as const);
  const sink = crashSink(tallies, reached, work, isWanted, cutting);
  const reference = await timed(work, tally, () => exploreCrashes(context, cutting, sink));
  const groups = [tally, ...(second.boundaries.total.length > 0 ? [second] : [])];
  if (reference !== undefined) groups.push(...(await drivesGroup(context, reference)));
  return { groups: groups.map(({ record }) => record), reached: reached.record(scenario.name, subject.id) };
}

/** Of a sample, only first deaths are cut: which recoveries make a row first would depend on what was drawn. */
function crashPlan(
  plan: ExplorePlan,
  pair: Pair,
  { skips }: UnitWork,
  isWanted: (cut: CutRef) => boolean,
): CrashPlan {
  const { depth, recoverEach = false } = plan;
  const wants: CrashPlan["wants"] = (path, cut) =>
    !skips.has(cut) && isWanted(cut) && (path.length < 2 || isDrawn(plan, pair, [...path, cut]));
  const secondDeaths = depth === 1 && !isSampled(plan, pair);
  return { depth, secondDeaths, recoverEach, wants, enough: () => false };
}

/** Whether a third or later death is part of the plan; by its name, so that it is the same in every process. */
function isDrawn(
  { seed, deeperOneIn = 1 }: ExplorePlan,
  { scenario }: Pair,
  path: readonly CutRef[],
): boolean {
  const name = path.map(cutRefName).join("+");
  return seededRandom(seed, "deeper", scenario.name, name).nextInt(deeperOneIn) === 0;
}

/** @param tallies of the first deaths of runs, and of the second ones. */
function crashSink(
  [first, second]: readonly [GroupTally, GroupTally],
  reached: ReachedTally,
  { told }: UnitWork,
  isWanted: (cut: CutRef) => boolean,
  { wants }: CrashPlan,
): CrashSink {
  return {
    saw: (path, cut) => {
      if (path.length === 0 && !isWanted(cut)) first.sawUnplanned(cut);
      else if (path.length === 0) first.saw(cut);
      else if (path.length > 1) first.sawDeeper(wants(path, cut));
      else if (second !== first) second.saw(cut);
    },
    judged: (judgement, path, digest, how) => {
      const tally = path.length < 2 ? first : second;
      if (how !== undefined) tally.recovered(how);
      tally.judged(judgement, path);
      if (digest !== undefined) reached.add(path, digest);
      told(`${first.scenario} on ${first.subject}`);
    },
  };
}

async function drivesGroup(context: RunContext, reference: View): Promise<GroupTally[]> {
  const judgements = await compareDrives(context, reference);
  if (judgements.length === 0) return [];
  const tally = new GroupTally("drives", context.scenario.name, context.subject.id, context.checkersOff);
  for (const judgement of judgements) tally.judged(judgement);
  return [tally];
}

/** Every further drive of a subject must leave, byte for byte, what the first one left (design §3.9). */
export async function compareDrives(context: RunContext, reference: View): Promise<Judgement[]> {
  const judgements: Judgement[] = [];
  for (const drive of context.subject.drives.slice(1)) {
    const end = await runUncut({ ...context, drive });
    const judgement = judge(runIdOf(context, "drives", []), end);
    const differs = end.kind === "settled" && end.view.exact !== reference.exact;
    const message = `driven as ${drive}, the run left another durable state than driven as ${context.drive}`;
    const violation = violationsOf("drives-agree")(`drive-differs:${drive}`, message);
    judgements.push(differs ? together(judgement, { violations: [violation] }) : judgement);
  }
  return judgements;
}
