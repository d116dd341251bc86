/** The ids of the runs of a context, by which they are made again. */
import { type CutRef, formatRunId, type RunKind } from "../faults/index.ts";
import type { RunContext } from "./standing.ts";

/** The id of a run that dies at these cuts, or that nobody cuts. */
export function runIdOf(
  { scenario, subject, seed, order }: RunContext,
  kind: RunKind,
  cuts: readonly CutRef[],
): string {
  const run = { kind, scenario: scenario.name, subject: subject.id, cuts, seed };
  return formatRunId(order === undefined ? run : { ...run, kind: "race", order });
}

/** The id of the run with a fault. */
export function faultRunIdOf({ scenario, subject, seed }: RunContext, kind: RunKind, fault: string): string {
  return formatRunId({ kind, scenario: scenario.name, subject: subject.id, cuts: [], seed, fault });
}
