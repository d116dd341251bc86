/** Real processes that want one session of a scenario on one subject. */
import { exploreLeases } from "../lease/leases.ts";
import { faultUnit } from "./media.ts";
import { pairsOf, type UnitFamily } from "./unit.ts";

export const leases: UnitFamily = {
  units: (plan) => {
    const { leases: wanted } = plan;
    if (wanted === undefined) return [];
    return pairsOf(plan, wanted.scenarios).map((pair) =>
      faultUnit(plan, pair, "lease", (context, sink, { host }) =>
        exploreLeases(context, wanted, sink, host.contenderProgram),
      ),
    );
  },
};
