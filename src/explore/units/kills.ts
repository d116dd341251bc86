/**
 * Real processes that die the deaths of scenarios on one subject, and must leave what the simulation left.
 *
 * A child is dear and takes many sessions, so a unit holds the samples of as many scenarios as fill about one child. How
 * many processes are killed follows from that, and not from who explores the units.
 */
import type { Scenario } from "../../faults/index.ts";
import type { Subject } from "../../subject/index.ts";
import { doubt } from "../judgement.ts";
import { canBeKilled, exploreKills, type KillTarget, killTarget } from "../kill/kill.ts";
import type { ExplorePlan } from "../plan.ts";
import { runIdOf } from "../run-ids.ts";
import { GroupTally } from "../tally.ts";
import { contextOf, type Unit, type UnitFamily, type UnitFinding, type UnitWork } from "./unit.ts";

/** How many boundaries of a scenario on a subject a sample kills for real. */
const KILLS_SAMPLED = 6;

/** Scenarios of which samples share a unit. */
const SCENARIOS_SAMPLED = 10;

const LOST = doubt("nothing-to-compare", "the simulated death was not reached, or left what cannot be read");

export const kills: UnitFamily = {
  units: (plan) => {
    if (plan.kill === "none" || plan.cuts === false) return [];
    const size = plan.kill === "sample" ? SCENARIOS_SAMPLED : 1;
    return plan.subjects.filter(canBeKilled).flatMap((subject) => {
      const able = plan.scenarios.filter((scenario) => subject.skips?.(scenario) === undefined);
      const parts = Array.from({ length: Math.ceil(able.length / size) }, (_, part) =>
        able.slice(part * size, (part + 1) * size),
      );
      return parts.map((scenarios) => unitOf(plan, subject, scenarios));
    });
  },
};

function unitOf(plan: ExplorePlan, subject: Subject, scenarios: readonly Scenario[]): Unit {
  const [first] = scenarios;
  const more = scenarios.length - 1;
  return {
    id: `kill/${first?.name}${more > 0 ? `+${more}` : ""}/${subject.id}`,
    run: (work) => killAll(plan, subject, scenarios, work),
  };
}

async function killAll(
  plan: ExplorePlan,
  subject: Subject,
  scenarios: readonly Scenario[],
  work: UnitWork,
): Promise<UnitFinding> {
  const { host, skips } = work;
  const { killPool } = host;
  if (killPool === undefined) throw new Error("the plan kills real processes, and no pool of them was given");
  const count = plan.kill === "all" ? Number.POSITIVE_INFINITY : KILLS_SAMPLED;
  const tallies = new Map<KillTarget, GroupTally>();
  for (const scenario of scenarios) {
    const context = contextOf(plan, { scenario, subject }, work);
    const target = await killTarget(context, (cut) => !skips.has(cut), count);
    const tally = new GroupTally("kill", scenario.name, subject.id, plan.checkersOff);
    for (const { cut } of target.deaths) tally.saw(cut);
    for (const cut of target.lost ?? []) {
      tally.saw(cut);
      tally.judged({ id: runIdOf(context, "kill", [cut]), ...LOST }, [cut]);
    }
    tallies.set(target, tally);
  }
  const before = killPool.counts;
  const startMs = host.clock.now();
  await exploreKills([...tallies.keys()], killPool, host.folder, (target, judgement, cut) => {
    const tally = tallies.get(target);
    tally?.judged(judgement, [cut]);
    if (tally !== undefined) tally.elapsedMs = host.clock.now() - startMs;
    work.told(`real kills on ${subject.id}`);
  });
  const { states, kills: killed } = killPool.counts;
  return {
    groups: [...tallies.values()].map(({ record }) => record),
    kills: { states: states - before.states, kills: killed - before.kills },
  };
}
