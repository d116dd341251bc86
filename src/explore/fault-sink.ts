/** What is told of faults by whoever explores them: of torn bytes, failing storage, a world that misbehaves, leases. */
import { formatRunId, type TimelineEvent } from "../faults/index.ts";
import { doubt } from "./judgement.ts";
import type { Judgement } from "./result.ts";
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
export function tellNothing({ scenario, subject, seed }: RunContext, what: string, sink: FaultSink): void {
  const id = formatRunId({ kind: "walk", scenario: scenario.name, subject: subject.id, cuts: [], seed });
  const message = `${what}: the run to which nothing is done does not come to a readable end`;
  sink.saw(what);
  sink.judged({ id, ...doubt("nothing-to-damage", message) }, what, false);
}
