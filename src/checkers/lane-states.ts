/** Which operations an effect of the world can belong to, where several lanes are under way at once. */
import type { Scenario } from "../faults/index.ts";
import type { OperationState } from "../model/index.ts";
import type { StoreModel } from "./store-model.ts";

/** The states of the open operations of a lane, `undefined` for the first one; of all, where a scenario has one lane. */
export function statesOf(
  { lanes }: Pick<Scenario, "lanes">,
  lane: string | undefined,
  model: StoreModel,
): readonly OperationState[] {
  const states = model.registers("op.state");
  if (lanes === undefined) return states.map(({ value }) => value);
  const open = model.value("lane.state", lane ?? FIRST_LANE)?.currentOperationId;
  return states.filter(({ key }) => key === open).map(({ value }) => value);
}

const FIRST_LANE = "main";
