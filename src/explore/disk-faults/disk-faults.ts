/**
 * Failing storage: each kind of failure of a subject's medium, in each life in which such calls are made, at call 1, 2,
 * 3 … until there is none, once and from there on. `trial.ts` says what must hold of each.
 *
 * The calls are counted first, in a life in which none fails; so the space is a list, and how much of it fired is
 * counted. A kind of which no call is made in a life that it names is inconclusive.
 */
import { MediumFault, type MediumFaultKind } from "../../faults/index.ts";
import { type FaultSink, tellNothing } from "../fault-sink.ts";
import { faultRunIdOf } from "../run-ids.ts";
import { spread } from "../spread.ts";
import type { RunContext } from "../standing.ts";
import { type Course, courseOf, type FaultyLifeStart } from "./course.ts";
import { faultName, parseFaultName } from "./fault-name.ts";
import { countCalls, tryFault } from "./trial.ts";

/** How much to let fail. */
export interface DiskFaultsPlan {
  /** Only these scenarios, by name; all of the exploration, if absent. */
  readonly scenarios?: readonly string[];
  /** Calls of each kind in each life: every one, or at most so many. */
  readonly calls: "every" | number;
}

/** Lets the subject's medium fail in every way that it has. */
export async function exploreDiskFaults(
  context: RunContext,
  { calls }: DiskFaultsPlan,
  sink: FaultSink,
): Promise<void> {
  const kinds = context.subject.mediumFaults ?? [];
  for (const life of LIVES) {
    const ofLife = kinds.filter(({ lives }) => lives.includes(life));
    const course = ofLife.length === 0 ? undefined : await courseOf(context, life);
    if (course === undefined) {
      if (ofLife.length > 0) tellNothing(context, `failing storage in the ${life} life`, sink);
      continue;
    }
    for (const kind of ofLife) await explore(context, course, life, kind, calls, sink);
    course.start.disk.dispose();
  }
}

/** One fault again. Does not call the sink if the subject has none such. */
export async function diskFaultAgain(context: RunContext, text: string, sink: FaultSink): Promise<void> {
  const name = parseFaultName(text);
  const kind = context.subject.mediumFaults?.find((one) => one.name === name?.kind);
  if (name === undefined || kind === undefined || !kind.lives.includes(name.life)) return;
  const course = await courseOf(context, name.life);
  if (course === undefined) return;
  const fault = new MediumFault(kind, name.life, name.call, name.isLasting);
  const id = faultRunIdOf(context, "disk-fault", text);
  sink(text, await tryFault(context, course, { fault, name: text, id }));
  course.start.disk.dispose();
}

const LIVES: readonly FaultyLifeStart[] = ["first", "next", "upkeep"];

async function explore(
  context: RunContext,
  course: Course,
  life: FaultyLifeStart,
  kind: MediumFaultKind,
  calls: DiskFaultsPlan["calls"],
  sink: FaultSink,
): Promise<void> {
  const count = await countCalls(context, course, new MediumFault(kind, life, 0, false));
  // With no call at all the first one is tried, and does not fire.
  const all = Array.from({ length: Math.max(1, count) }, (_, index) => index + 1);
  for (const call of spread(all, calls)) {
    for (const isLasting of [false, true]) {
      const name = faultName({ life, kind: kind.name, isLasting, call });
      const fault = new MediumFault(kind, life, call, isLasting);
      const id = faultRunIdOf(context, "disk-fault", name);
      sink(name, await tryFault(context, course, { fault, name, id }));
    }
  }
}
