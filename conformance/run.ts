/**
 * Runs conformance cases without a test runner: one after the other, none of them able to stop the others.
 */
import type { ConformanceCase } from "./case.ts";
import { soon } from "./soon.ts";

/** What became of one case. */
export type ConformanceOutcome =
  | { readonly case: ConformanceCase; readonly verdict: "kept" }
  | { readonly case: ConformanceCase; readonly verdict: "broken"; readonly error: unknown }
  | { readonly case: ConformanceCase; readonly verdict: "skipped"; readonly reason: string };

export interface RunConformanceOptions {
  /** A case that has not settled by then is broken: a store that hangs keeps no promise. Default 60 s. */
  readonly timeoutMs?: number;
  /** Called after each case, in order. */
  readonly onOutcome?: (outcome: ConformanceOutcome) => void;
}

/** The outcomes of all cases, in their order. Never rejects because of a case. */
export async function runConformance(
  cases: readonly ConformanceCase[],
  { timeoutMs = 60_000, onOutcome }: RunConformanceOptions = {},
): Promise<ConformanceOutcome[]> {
  const outcomes: ConformanceOutcome[] = [];
  for (const one of cases) {
    const outcome = await outcomeOf(one, timeoutMs);
    outcomes.push(outcome);
    onOutcome?.(outcome);
  }
  return outcomes;
}

async function outcomeOf(one: ConformanceCase, timeoutMs: number): Promise<ConformanceOutcome> {
  if (one.skip !== undefined) return { case: one, verdict: "skipped", reason: one.skip };
  try {
    await soon(one.run(), "the case", timeoutMs);
    return { case: one, verdict: "kept" };
  } catch (error) {
    return { case: one, verdict: "broken", error };
  }
}
