/**
 * A world that misbehaves: each way in which the world of a subject can, at the first, the second, the third … occurrence
 * of its place until it does not fire any more, and a few deaths after each. What must hold stands in `trial.ts`.
 */
import { type CutRef, cutRefName, parseCut, type WorldFaultKind } from "../../faults/index.ts";
import { type FaultSink, tellDoubt, tellNothing } from "../fault-sink.ts";
import { doubt } from "../judgement.ts";
import { faultRunIdOf } from "../run-ids.ts";
import { spread } from "../spread.ts";
import { type RunContext, runUncut } from "../standing.ts";
import { tryOtherAnswer } from "./after-restart.ts";
import { sitesOf } from "./derived.ts";
import {
  type Base,
  countOccurrences,
  isDisturbance,
  type Trial,
  type TrialRun,
  tryWorldFault,
} from "./trial.ts";

/** How much of the world misbehaves. */
export interface WorldFaultsPlan {
  /** Only these scenarios, by name; all of the exploration, if absent. */
  readonly scenarios?: readonly string[];
  /** Only these kinds, by name; all of the subject, if absent. */
  readonly kinds?: readonly string[];
  /** Occurrences of each kind: every one, or at most so many. */
  readonly occurrences: "every" | number;
  /** Deaths after each fault. */
  readonly deaths: number;
}

/** Lets the subject's world misbehave in every way that it can. */
export async function exploreWorldFaults(
  context: RunContext,
  plan: WorldFaultsPlan,
  sink: FaultSink,
): Promise<void> {
  const kinds = (context.subject.worldFaults ?? []).filter(
    ({ name }) => plan.kinds === undefined || plan.kinds.includes(name),
  );
  if (kinds.length === 0) return;
  const base = await baseOf(context);
  if (base === undefined) {
    tellNothing(context, "a misbehaving world", sink);
    return;
  }
  for (const kind of kinds) {
    const count = await occurrencesOf(context, base, kind);
    // A kind that is asked for by its name must have a place in the scenario.
    if (count === 0 && plan.kinds !== undefined)
      tellSilent(context, kind.name, "the run has no place for it", sink);
    const all = Array.from({ length: count }, (_, index) => index + 1);
    for (const occurrence of spread(all, plan.occurrences)) {
      const trial = { ...trialOf(context, base, kind, occurrence), deaths: plan.deaths };
      const runs = await runsOf(context, base, trial);
      for (const run of runs) tell(context, trial, run, sink);
      if (runs.length === 0) {
        tellSilent(context, nameOf(trial, undefined), "no run of it came to an end", sink);
      }
    }
  }
}

/** One fault again. Does not call the sink if the subject or the scenario has none such. */
export async function worldFaultAgain(context: RunContext, text: string, sink: FaultSink): Promise<void> {
  const [, name, occurrence, , cutText] = /^([a-z.-]+)@([1-9]\d*)(\+(.+))?$/.exec(text) ?? [];
  const kind = context.subject.worldFaults?.find((one) => one.name === name);
  const cut = cutText === undefined ? undefined : parseCut(cutText);
  if (kind === undefined || (cutText !== undefined && cut === undefined)) return;
  const base = await baseOf(context);
  if (base === undefined) return;
  const trial = { ...trialOf(context, base, kind, Number(occurrence)), deaths: 0, only: { cut } };
  if (trial.site === undefined && !isDisturbance(kind)) return;
  for (const run of await runsOf(context, base, trial)) tell(context, trial, run, sink);
}

/** Makes the run to which nothing is done. */
async function baseOf(context: RunContext): Promise<Base | undefined> {
  const end = await runUncut({ ...context, isNamed: true });
  return end.kind === "settled" ? { end: end.view, events: end.events } : undefined;
}

async function occurrencesOf(context: RunContext, { events }: Base, kind: WorldFaultKind): Promise<number> {
  // A place that never comes is tried once, and does not fire.
  return isDisturbance(kind)
    ? Math.max(1, await countOccurrences(context, kind))
    : sitesOf(kind, context.scenario, events).length;
}

function trialOf(
  { scenario }: RunContext,
  { events }: Base,
  kind: WorldFaultKind,
  occurrence: number,
): Omit<Trial, "deaths"> {
  return { kind, occurrence, site: sitesOf(kind, scenario, events)[occurrence - 1] };
}

function runsOf(context: RunContext, base: Base, trial: Trial): Promise<readonly TrialRun[]> {
  return trial.kind.place === "restart"
    ? tryOtherAnswer(context, trial)
    : tryWorldFault(context, base, trial);
}

function tell(context: RunContext, trial: Trial, { finding, cut, events }: TrialRun, sink: FaultSink): void {
  const name = nameOf(trial, cut);
  const judgement = { ...finding, id: faultRunIdOf(context, "world-fault", name) };
  sink(name, { judgement, isRecovered: cut !== undefined, events });
}

/** A fault of which nothing was seen. */
function tellSilent(context: RunContext, name: string, why: string, sink: FaultSink): void {
  const id = faultRunIdOf(context, "world-fault", name);
  tellDoubt(sink, name, id, doubt("fault-not-fired", `${name}: ${why}`));
}

function nameOf({ kind, occurrence }: Trial, cut: CutRef | undefined): string {
  return `${kind.name}@${occurrence}${cut === undefined ? "" : `+${cutRefName(cut)}`}`;
}
