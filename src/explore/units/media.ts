/** What a scenario on a subject goes through: the bytes of its medium are damaged, its calls fail, its world misbehaves. */

import { GroupTally } from "../collect.ts";
import { exploreDiskFaults } from "../disk-faults/disk-faults.ts";
import type { FaultSink } from "../fault-sink.ts";
import type { ExplorePlan } from "../plan.ts";
import type { RunContext } from "../standing.ts";
import { exploreTorn } from "../torn/torn.ts";
import { exploreWorldFaults } from "../world-faults/world-faults.ts";
import {
  contextOf,
  type Pair,
  pairsOf,
  timed,
  type UnitFamily,
  type UnitFinding,
  type UnitWork,
} from "./unit.ts";

export const torn: UnitFamily = {
  units: (plan) => {
    const { torn: wanted } = plan;
    if (wanted === undefined) return [];
    return pairsOf(plan, wanted.scenarios).map((pair) =>
      faultUnit(plan, pair, "torn", (context, sink) => exploreTorn(context, wanted, sink)),
    );
  },
};

export const diskFaults: UnitFamily = {
  units: (plan) => {
    const { diskFaults: wanted } = plan;
    if (wanted === undefined) return [];
    return pairsOf(plan, wanted.scenarios).map((pair) =>
      faultUnit(plan, pair, "disk-faults", (context, sink) => exploreDiskFaults(context, wanted, sink)),
    );
  },
};

export const worldFaults: UnitFamily = {
  units: (plan) => {
    const { worldFaults: wanted } = plan;
    if (wanted === undefined) return [];
    return pairsOf(plan, wanted.scenarios).map((pair) =>
      faultUnit(plan, pair, "world-faults", (context, sink) => exploreWorldFaults(context, wanted, sink)),
    );
  },
};

type FaultGroup = "torn" | "disk-faults" | "world-faults" | "lease";
type FaultExplorer = (context: RunContext, sink: FaultSink, work: UnitWork) => Promise<void>;

/** A unit of faults of one scenario on one subject. */
export function faultUnit(plan: ExplorePlan, pair: Pair, kind: FaultGroup, explore: FaultExplorer) {
  const { scenario, subject } = pair;
  return {
    id: `${kind}/${scenario.name}/${subject.id}`,
    run: (work: UnitWork) => explorePair(plan, pair, kind, explore, work),
  };
}

async function explorePair(
  plan: ExplorePlan,
  pair: Pair,
  kind: FaultGroup,
  explore: FaultExplorer,
  work: UnitWork,
): Promise<UnitFinding> {
  const { scenario, subject } = pair;
  const tally = new GroupTally(kind, scenario.name, subject.id, plan.checkersOff);
  let runCount = 0;
  const sink: FaultSink = {
    saw: (name) => tally.sawFault(name),
    judged: (judgement, name, isRecovered) => {
      tally.judgedFault(judgement, name, isRecovered);
      work.host.progress?.({ group: `${kind} of ${scenario.name} on ${subject.id}`, runCount: ++runCount });
    },
  };
  await timed(work, tally, () => explore(contextOf(plan, pair, work), sink, work));
  // A medium that has no bytes, or cannot fail, has nothing that could be looked at.
  return { groups: tally.faults.total > 0 ? [tally.record] : [] };
}
