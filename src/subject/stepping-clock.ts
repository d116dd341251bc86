/** A clock that steps in the middle of a life. */
import type { Disturbance, Timeline } from "../faults/index.ts";
import type { Clock, VirtualClock } from "../foundation/index.ts";

/** The clock of a life, which steps at one of its readings. */
export function steppingClock(
  clock: VirtualClock,
  timeline: Timeline,
  disturbance: Disturbance | undefined,
): Clock {
  if (disturbance?.kind.place !== "clock") return clock;
  const { stepMs } = disturbance.kind;
  return {
    now: () => {
      if (disturbance.isDue(timeline)) clock.step(stepMs);
      return clock.now();
    },
    sleep: (delayMs, signal) => clock.sleep(delayMs, signal),
  };
}
