/** Starting effects: what the interpreter does for it, and whether it may be. */
import type { Control } from "../model/index.ts";
import type { CurrentOperation } from "../operation/index.ts";
import type { DriveState } from "./drive-state.ts";
import type { EffectPlan, Effects } from "./effects.ts";
import type { Environment } from "./environment.ts";
import type { MutationLine } from "./lane-line.ts";

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

/**
 * Whether something of an operation may start now. The question stands on the line, so that a start is before or after
 * every other change of the lane, never during one: after a cancellation it is refused, and before one it is seen by the
 * signal that the cancellation raises.
 */
export function mayStart(
  { lifecycle, session }: Environment,
  line: MutationLine,
  operationId: string,
  needed: Control["status"] = "running",
): Promise<boolean> {
  return line.run(async () => {
    lifecycle.admit();
    const state = await session.getRegister("op.state", operationId);
    return state?.value.control.status === needed;
  });
}

/** The planner and the state disagree: a defect. */
export function outOfPlace(current: CurrentOperation): Error {
  return new Error(`the planned action does not fit the state of operation ${current.operation.operationId}`);
}
