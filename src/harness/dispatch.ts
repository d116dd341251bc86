/** Starting effects from the interpreter, and its one complaint. */
import type { CurrentOperation } from "../operation/index.ts";
import type { DriveState } from "./drive-state.ts";
import type { EffectPlan, Effects } from "./effects.ts";

/**
 * Starts an effect whose intent is durable, or that needs none. The drive goes on; the output waits until it is its
 * turn.
 */
export function start(fx: Effects, live: DriveState, plan: EffectPlan): void {
  const output = fx.run(plan);
  // Awaited later, or never if the harness ends first; either way a rejection is not lost by being early.
  output.catch(() => undefined);
  live.running.set(plan.key, output);
}

/** The planner and the state disagree: a defect. */
export function outOfPlace(current: CurrentOperation): Error {
  return new Error(`the planned action does not fit the state of operation ${current.operation.operationId}`);
}
