/** Rest of the model: when all is done every lane rests, and nothing that only work under way may leave is left. */
import { lanesOf } from "./messages.ts";
import type { CaseHistory, ModelFault } from "./reference-model.ts";

/** What does not hold of the end. */
export function restFaults({ scenario, end }: CaseHistory): readonly ModelFault[] {
  const faults: ModelFault[] = [];
  for (const { lane } of lanesOf(scenario)) {
    const found = end.lanes.find((one) => one.lane === lane);
    if (found === undefined) faults.push({ signature: "no such lane", message: `lane ${lane} is not there` });
    else if (!found.isIdle) {
      faults.push({
        signature: "a lane is not idle",
        message: `lane ${lane} has an open operation at the end`,
      });
    }
  }
  if (end.leftovers.length > 0) {
    faults.push({ signature: "leftovers", message: `left at the end: ${end.leftovers.join(", ")}` });
  }
  return faults;
}
