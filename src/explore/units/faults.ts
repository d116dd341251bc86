/**
 * Faults that a scenario on a subject goes through: the bytes of its medium are damaged, its calls fail, its world
 * misbehaves, other processes want its session.
 */
import { exploreDiskFaults } from "../disk-faults/disk-faults.ts";
import type { FaultSink } from "../fault-sink.ts";
import { exploreLeases } from "../lease/leases.ts";
import type { ExplorePlan } from "../plan.ts";
import type { RunContext } from "../standing.ts";
import type { GroupTally } from "../tally.ts";
import { exploreTorn } from "../torn/torn.ts";
import { exploreWorldFaults } from "../world-faults/world-faults.ts";
import { exploreGroup, pairsOf, type UnitFamily, type UnitWork, unitsOfPairs } from "./unit.ts";

export const torn = faultFamily("torn", (plan) => plan.torn, exploreTorn);
export const diskFaults = faultFamily("disk-faults", (plan) => plan.diskFaults, exploreDiskFaults);
export const worldFaults = faultFamily("world-faults", (plan) => plan.worldFaults, exploreWorldFaults);
export const leases = faultFamily(
  "lease",
  (plan) => plan.leases,
  (context, wanted, sink, { host }) => exploreLeases(context, wanted, sink, host.contenderProgram),
);

type FaultExplorer<Wanted> = (
  context: RunContext,
  wanted: Wanted,
  sink: FaultSink,
  work: UnitWork,
) => Promise<void>;

/** Faults of one kind: a unit for each scenario on each subject. `wantedOf`: how much of them a plan asks for. */
function faultFamily<Wanted extends { readonly scenarios?: readonly string[] }>(
  kind: "torn" | "disk-faults" | "world-faults" | "lease",
  wantedOf: (plan: ExplorePlan) => Wanted | undefined,
  explore: FaultExplorer<Wanted>,
): UnitFamily {
  return {
    units: (plan) => {
      const wanted = wantedOf(plan);
      if (wanted === undefined) return [];
      return unitsOfPairs(kind, pairsOf(plan, wanted.scenarios), async (pair, work) => {
        const { faults, record } = await exploreGroup(kind, plan, pair, work, (context, tally) =>
          explore(context, wanted, sinkOf(tally, work), work),
        );
        // A subject to which nothing of the kind can happen has nothing that could be looked at.
        return { groups: faults.total > 0 ? [record] : [] };
      });
    },
  };
}

function sinkOf(tally: GroupTally, { told }: UnitWork): FaultSink {
  const { kind, scenario, subject } = tally;
  return (name, { judgement, isRecovered }) => {
    tally.judgedFault(judgement, name, isRecovered);
    told(`${kind} of ${scenario} on ${subject}`);
  };
}
