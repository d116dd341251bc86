/**
 * Faults that a scenario on a subject goes through: the bytes of its medium are damaged, its calls fail, its world
 * misbehaves, other processes want its session.
 */

import { exploreDiskFaults } from "../disk-faults/disk-faults.ts";
import type { FaultSink } from "../fault-sink.ts";
import { exploreLeases } from "../lease/leases.ts";
import type { ExplorePlan } from "../plan.ts";
import type { RunContext } from "../standing.ts";
import { GroupTally } from "../tally.ts";
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
  unitsOfPairs,
} from "./unit.ts";

export const torn = faultFamily("torn", ({ torn: wanted }) => wanted, exploreTorn);
export const diskFaults = faultFamily("disk-faults", ({ diskFaults: wanted }) => wanted, exploreDiskFaults);
export const worldFaults = faultFamily(
  "world-faults",
  ({ worldFaults: wanted }) => wanted,
  exploreWorldFaults,
);
export const leases = faultFamily(
  "lease",
  ({ leases: wanted }) => wanted,
  (context, wanted, sink, { host }) => exploreLeases(context, wanted, sink, host.contenderProgram),
);

type FaultGroup = "torn" | "disk-faults" | "world-faults" | "lease";
type FaultExplorer<Wanted> = (
  context: RunContext,
  wanted: Wanted,
  sink: FaultSink,
  work: UnitWork,
) => Promise<void>;

/** Faults of one kind: a unit for each scenario on each subject. `wantedOf`: how much of them a plan asks for. */
function faultFamily<Wanted extends { readonly scenarios?: readonly string[] }>(
  kind: FaultGroup,
  wantedOf: (plan: ExplorePlan) => Wanted | undefined,
  explore: FaultExplorer<Wanted>,
): UnitFamily {
  return {
    units: (plan) => {
      const wanted = wantedOf(plan);
      if (wanted === undefined) return [];
      return unitsOfPairs(kind, pairsOf(plan, wanted.scenarios), (pair, work) =>
        explorePair(plan, pair, kind, work, (context, sink) => explore(context, wanted, sink, work)),
      );
    },
  };
}

async function explorePair(
  plan: ExplorePlan,
  pair: Pair,
  kind: FaultGroup,
  work: UnitWork,
  explore: (context: RunContext, sink: FaultSink) => Promise<void>,
): Promise<UnitFinding> {
  const { scenario, subject } = pair;
  const tally = new GroupTally(kind, scenario.name, subject.id, plan.checkersOff);
  const sink: FaultSink = {
    saw: (name) => tally.sawFault(name),
    judged: (judgement, name, isRecovered) => {
      tally.judgedFault(judgement, name, isRecovered);
      work.told(`${kind} of ${scenario.name} on ${subject.id}`);
    },
  };
  await timed(work, tally, () => explore(contextOf(plan, pair, work), sink));
  // A subject to which nothing of the kind can happen has nothing that could be looked at.
  return { groups: tally.faults.total > 0 ? [tally.record] : [] };
}
