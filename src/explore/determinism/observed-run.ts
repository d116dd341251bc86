/**
 * One run with everything that it showed: each event of the timeline with its whole payload, and the durable state where
 * it died and where it ended, as texts in which also the order of members counts.
 */
import { inspect } from "node:util";
import { type CutRef, cutRefName, refOf, type TimelineEvent } from "../../faults/index.ts";
import type { Subject } from "../../subject/index.ts";
import { walk } from "../crash/walk.ts";
import { refusal } from "../judgement.ts";
import {
  firstStanding,
  type LifeEnd,
  type RunContext,
  runToEnd,
  type Standing,
  viewOf,
} from "../standing.ts";
import { type Observation, observing, type Source } from "./host-sources.ts";

/** One thing that a run showed. */
export interface Sight {
  /** `event 9 (commit tool.settle#1)`, `the durable state at the end`. */
  readonly what: string;
  readonly text: string;
}

/** See the module header. */
export interface ObservedRun {
  readonly sights: readonly Sight[];
  readonly observation: Observation;
  /** Where the run can die, unless it did. */
  readonly cuts: readonly CutRef[];
  readonly events: readonly TimelineEvent[];
  /** Whether it ended by itself; a run that was stopped shows nothing for certain. */
  readonly isEnded: boolean;
  /** Whether it came to where it was to die. */
  readonly isReached: boolean;
}

/** Runs the scenario to its end, or to a death and the end of its recovery, over a host in that condition. */
export async function observeRun(
  context: RunContext,
  cut: CutRef | undefined,
  otherwise: readonly Source[],
): Promise<ObservedRun> {
  const { result, observation } = await observing(otherwise, (within) => {
    const subject: Subject = { ...context.subject, boot: (boot) => within(() => context.subject.boot(boot)) };
    return observe({ ...context, subject, isNamed: true }, cut);
  });
  return { ...result, observation };
}

async function observe(
  context: RunContext,
  wanted: CutRef | undefined,
): Promise<Omit<ObservedRun, "observation">> {
  const start = await firstStanding(context);
  const cuts: CutRef[] = [];
  const name = wanted && cutRefName(wanted);
  let found: { readonly standing: Standing; readonly left: Sight } | undefined;
  try {
    const end = await walk(context, start, {
      seen: (cut) => cuts.push(refOf(cut)),
      wants: (cut) => found === undefined && cutRefName(refOf(cut)) === name,
      enough: () => found !== undefined,
      visit: async (death) => {
        const left = await durable(context, death.left, "the durable state that the death left");
        found = { standing: death.fork(), left };
      },
    });
    const events = end?.events ?? [];
    if (found === undefined) {
      return shown(context, { cuts, events, end, start, left: [], isReached: wanted === undefined });
    }
    const { standing, left } = found;
    const recovery = await runToEnd(context, standing);
    const all = [...standing.events, ...recovery.events];
    return await shown(context, {
      cuts,
      events: all,
      end: recovery,
      start: standing,
      left: [left],
      isReached: true,
    });
  } finally {
    found?.standing.disk.dispose();
    start.disk.dispose();
  }
}

async function shown(
  context: RunContext,
  run: {
    readonly cuts: readonly CutRef[];
    readonly events: readonly TimelineEvent[];
    readonly end: LifeEnd | undefined;
    readonly start: Standing;
    readonly left: readonly Sight[];
    readonly isReached: boolean;
  },
): Promise<Omit<ObservedRun, "observation">> {
  const { cuts, events, end, start, left, isReached } = run;
  const sights = events.map((event, index) => sightOf(event, index));
  const ending: Sight = { what: "how the run ended", text: endText(end) };
  const last = await durable(context, start, "the durable state at the end");
  const isEnded = end !== undefined && end.kind !== "stalled" && end.kind !== "cap-reached";
  return { sights: [...sights, ...left, ending, last], cuts, events, isEnded, isReached };
}

function sightOf(event: TimelineEvent, index: number): Sight {
  const name = "boundary" in event ? ` ${event.boundary.label}#${event.boundary.occurrence}` : "";
  return { what: `event ${index + 1} (${event.kind}${name})`, text: textOf(event) };
}

/** As JSON, members in their own order. What JSON cannot carry is shown as a reader would see it. */
function textOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return JSON.stringify(inspect(value, { depth: null }));
  }
}

function endText(end: LifeEnd | undefined): string {
  if (end === undefined) return '"not reached"';
  return textOf("error" in end ? refusal(end.kind, end.error, "").message : end.kind);
}

async function durable(context: RunContext, standing: Standing, what: string): Promise<Sight> {
  try {
    return { what, text: (await viewOf(context, standing)).exact };
  } catch (error) {
    return { what, text: textOf(refusal("unreadable", error, "").message) };
  }
}
