/**
 * A model that says something else to a process that was restarted.
 *
 * The run dies while a request is under way, and before its answer is stored. What the next life is answered must be what
 * is stored, and the whole must be what it would have been if the model had said so from the beginning.
 */
import { Known } from "../../checkers/index.ts";
import { type CutRef, cutRefName, refOf, type TimelineEvent } from "../../faults/index.ts";
import type { View } from "../../subject/index.ts";
import { expectationOf, Left, recoveryOf } from "../crash/recovery.ts";
import { walkUncut } from "../crash/walk.ts";
import { findingOf, together } from "../judgement.ts";
import { type RunContext, runToEnd, runUncut } from "../standing.ts";
import { asAfterRestart, derive } from "./derived.ts";
import { notFired, type Trial, type TrialRun } from "./trial.ts";

/** Dies around the request of the trial, and asks again. */
export async function tryOtherAnswer(context: RunContext, trial: Trial): Promise<readonly TrialRun[]> {
  const { kind, site, deaths, only, occurrence } = trial;
  if (site === undefined) return [];
  const scenario = derive(kind, context.scenario, site);
  const from = { ...context, scenario, isNamed: true };
  const as = { ...context, scenario: asAfterRestart(scenario) };
  const uninterrupted = await referenceOf(as);
  const runs: TrialRun[] = [];
  if (uninterrupted === undefined) return runs;
  let requestCount = 0;
  let isPast = false;
  const wants = (cut: CutRef): boolean => {
    if (cut.label === REQUEST_LABEL && cut.position === "before") requestCount++;
    if (requestCount !== occurrence || isPast) return false;
    // The answer is stored by the next commit.
    if (cut.label !== REQUEST_LABEL && cut.position !== "before") isPast = true;
    if (isPast) return false;
    return only === undefined
      ? runs.length < Math.max(1, deaths)
      : only.cut !== undefined && cutRefName(cut) === cutRefName(only.cut);
  };
  await walkUncut(from, {
    seen: () => undefined,
    wants: (cut) => wants(refOf(cut)),
    enough: () => isPast,
    visit: async (death) => {
      const left = new Left(from, death.left, new Known());
      const expectation = await left.ask((atCut) => expectationOf(as, death.cut, atCut, uninterrupted));
      const standing = death.fork();
      const end = await runToEnd(from, standing);
      const events: readonly TimelineEvent[] = [...standing.events, ...end.events];
      const hasFired = events.some((event) => event.kind === "fault");
      const reached = end.kind === "settled" ? end.view : undefined;
      const found = together(findingOf(end), left.finding, recoveryOf(expectation, reached));
      runs.push({ finding: hasFired ? found : notFired(found), cut: refOf(death.cut), events });
      standing.disk.dispose();
    },
  });
  return runs;
}

const REQUEST_LABEL = "provider.request";

async function referenceOf(context: RunContext): Promise<View | undefined> {
  const end = await runUncut(context);
  return end.kind === "settled" ? end.view : undefined;
}
