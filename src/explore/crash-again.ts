/** A run that dies at the cuts of a run id, again: the plan that leads there and no further, and what is found of it. */
import { type CutRef, cutRefName, type TimelineEvent } from "../faults/index.ts";
import type { CrashPlan, CrashSink } from "./crash/crash.ts";
import { together } from "./judgement.ts";
import type { Judgement } from "./result.ts";

/** What was found. */
export interface FoundAgain {
  /** Undefined where the run never came to what the id names. */
  readonly judgement: Judgement | undefined;
  readonly events: readonly TimelineEvent[];
  /** Of the canonical view that was reached. */
  readonly digest: string | undefined;
}

export const NOTHING_FOUND: FoundAgain = { judgement: undefined, events: [], digest: undefined };

/** Lets `explore` die at these cuts. The judgement has the id `text`. */
export async function crashAgain(
  cuts: readonly CutRef[],
  text: string,
  explore: (plan: CrashPlan, sink: CrashSink) => Promise<unknown>,
): Promise<FoundAgain> {
  const wanted = cuts.map(cutRefName);
  const isWanted = (path: readonly CutRef[]) => path.length === wanted.length;
  let found = NOTHING_FOUND;
  const plan: CrashPlan = {
    // One deeper than the last cut: the run is walked too, as it was when its determinism was judged.
    depth: wanted.length + 1,
    wants: (path, cut) => cutRefName(cut) === wanted[path.length],
    enough: () => false,
    secondDeaths: false,
    recoverEach: true,
  };
  await explore(plan, {
    saw: () => undefined,
    judged: (judgement, path, digest) => {
      if (!isWanted(path)) return;
      const known = found.judgement ?? { id: text, violations: [] };
      found = { ...found, judgement: together(known, judgement), digest: found.digest ?? digest };
    },
    observed: (path, events) => {
      if (isWanted(path)) found = { ...found, events };
    },
  });
  return found;
}
