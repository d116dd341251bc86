/** What is told of faults by whoever explores them: of torn bytes, failing storage, a world that misbehaves, leases. */
import type { TimelineEvent } from "../faults/index.ts";
import { doubt } from "./judgement.ts";
import type { Judgement } from "./result.ts";
import { runIdOf } from "./run-ids.ts";
import type { RunContext } from "./standing.ts";

/** Takes what is found, as it is found. */
export interface FaultSink {
  /** A fault that is going to be. */
  saw(name: string): void;
  /** `isRecovered`: a recovery from it was executed. */
  judged(judgement: Judgement, name: string, isRecovered: boolean): void;
  observed?(events: readonly TimelineEvent[]): void;
}

/**
 * Says that nothing could be looked at, because already the run to which nothing is done does not come to its end, or
 * leaves what cannot be read. What is wrong with it is found where runs are looked at.
 */
export function tellNothing(context: RunContext, what: string, sink: FaultSink): void {
  const id = runIdOf(context, "walk", []);
  const message = `${what}: the run to which nothing is done does not come to a readable end`;
  sink.saw(what);
  sink.judged({ id, ...doubt("nothing-to-damage", message) }, what, false);
}
