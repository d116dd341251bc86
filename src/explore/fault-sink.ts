/** What is told of faults by whoever explores them: of torn bytes, failing storage, a world that misbehaves, leases. */
import type { TimelineEvent } from "../faults/index.ts";
import { doubt, type Finding } from "./judgement.ts";
import type { Judgement } from "./result.ts";
import { runIdOf } from "./run-ids.ts";
import type { RunContext } from "./standing.ts";

/** One run with a fault that was to be. */
export interface FaultRun {
  readonly judgement: Judgement;
  /** Whether a recovery from the fault was executed. */
  readonly isRecovered: boolean;
  readonly events: readonly TimelineEvent[];
}

/** Takes what is found, as it is found, by the name of the fault. */
export type FaultSink = (name: string, run: FaultRun) => void;

/** Tells that nothing can be said of the fault of that name; `id` is of the run that should have shown something. */
export function tellDoubt(sink: FaultSink, name: string, id: string, why: Finding): void {
  sink(name, { judgement: { id, ...why }, isRecovered: false, events: [] });
}

/**
 * Says that nothing could be looked at, because already the run to which nothing is done does not come to its end, or
 * leaves what cannot be read. What is wrong with it is found where runs are looked at.
 */
export function tellNothing(context: RunContext, what: string, sink: FaultSink): void {
  const id = runIdOf(context, "walk", []);
  const message = `${what}: the run to which nothing is done does not come to a readable end`;
  tellDoubt(sink, what, id, doubt("nothing-to-damage", message));
}
