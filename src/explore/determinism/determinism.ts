/**
 * The determinism alarm: a sample of runs, each executed twice in one process and compared event for event and view for
 * view (design §3.11). The second time the host answers otherwise than the first time, wherever it is asked.
 *
 * Which source leaked is found by experiment, and named only then: the run is executed again over a host of which that
 * one source answers otherwise, and again differs. A run that differs although all sources answer the same is named by
 * what can be seen of it: the same members in another order, or a source that nothing here can see.
 */
import { compareViews, describeDifference, type Violation } from "../../checkers/index.ts";
import type { CutRef, TimelineEvent } from "../../faults/index.ts";
import { absurd, canonicalJson } from "../../foundation/index.ts";
import { violationsOf } from "../checks.ts";
import { doubt, FINE, type Finding } from "../judgement.ts";
import type { Judgement } from "../result.ts";
import { runIdOf } from "../run-ids.ts";
import { spread } from "../spread.ts";
import type { RunContext } from "../standing.ts";
import { SOURCES, type Source } from "./host-sources.ts";
import { type ObservedRun, observeRun, type Sight } from "./observed-run.ts";

/** How much to execute twice. */
export interface DeterminismPlan {
  /** Only these scenarios, by name; all of the exploration, if absent. */
  readonly scenarios?: readonly string[];
  /** Of each scenario on each subject the run that nobody cuts, and so many runs that die and recover. */
  readonly deaths: number;
}

/** Takes what is found. `events` are those of the first execution. */
export type DeterminismSink = (judgement: Judgement, events: readonly TimelineEvent[]) => void;

/** Executes the sample twice. */
export async function exploreDeterminism(
  context: RunContext,
  { deaths }: DeterminismPlan,
  sink: DeterminismSink,
): Promise<void> {
  const { cuts } = await twice(context, undefined, sink);
  for (const cut of spread(cuts, deaths)) await twice(context, cut, sink);
}

/** Executes one run of the sample twice: the one that dies there, or the one that nobody cuts. */
export async function twice(
  context: RunContext,
  cut: CutRef | undefined,
  sink: DeterminismSink,
): Promise<ObservedRun> {
  const first = await observeRun(context, cut, []);
  const second = await observeRun(context, cut, SOURCES);
  const id = runIdOf(context, "determinism", cut === undefined ? [] : [cut]);
  sink({ id, ...(await findingOf(context, cut, first, second)) }, first.events);
  return first;
}

async function findingOf(
  context: RunContext,
  cut: CutRef | undefined,
  first: ObservedRun,
  second: ObservedRun,
): Promise<Finding> {
  if (!first.isReached) return doubt("not-reached", "the run never came to that cut");
  if (!first.isEnded)
    return doubt("stalled", "the run did not come to an end, so there is nothing to compare");
  const difference = differenceOf(first, second);
  if (difference === undefined) return FINE;
  return { violations: [violationOf(difference, await causeOf(context, cut, first, second))] };
}

/** Where two executions part. */
interface Parting {
  readonly first: Sight | undefined;
  readonly second: Sight | undefined;
}

function differenceOf({ sights: first }: ObservedRun, { sights: second }: ObservedRun): Parting | undefined {
  const length = Math.max(first.length, second.length);
  for (let index = 0; index < length; index++) {
    const [one, other] = [first[index], second[index]];
    if (one?.what !== other?.what || one?.text !== other?.text) return { first: one, second: other };
  }
  return undefined;
}

/** What was found to be the source of a difference. */
type Cause =
  | { readonly kind: "sources"; readonly sources: readonly Source[] }
  | { readonly kind: "object order" }
  /** No source makes the difference by itself, and all together do. */
  | { readonly kind: "together"; readonly sources: readonly Source[] }
  | { readonly kind: "unknown" };

async function causeOf(
  context: RunContext,
  cut: CutRef | undefined,
  first: ObservedRun,
  second: ObservedRun,
): Promise<Cause> {
  // Over the very same host: what differs now comes from none of the sources.
  const again = differenceOf(first, await observeRun(context, cut, []));
  if (again !== undefined) return isOrderOnly(again) ? { kind: "object order" } : { kind: "unknown" };
  const asked = SOURCES.filter((one) => first.observation.seen.has(one) || second.observation.seen.has(one));
  const guilty: Source[] = [];
  for (const source of asked) {
    if (differenceOf(first, await observeRun(context, cut, [source])) !== undefined) guilty.push(source);
  }
  if (guilty.length > 0) return { kind: "sources", sources: guilty };
  return asked.length > 0 ? { kind: "together", sources: asked } : { kind: "unknown" };
}

/** Whether both show the same members, in another order. */
function isOrderOnly({ first, second }: Parting): boolean {
  if (first === undefined || second === undefined || first.what !== second.what) return false;
  return canonicalJson(JSON.parse(first.text)) === canonicalJson(JSON.parse(second.text));
}

function violationOf(parting: Parting, cause: Cause): Violation {
  const name = causeName(cause);
  const message = `the same run, executed twice, differs first in ${where(parting)}; likely source: ${name}`;
  return violationsOf("determinism")(`twice-differs:${name}`, message);
}

function causeName(cause: Cause): string {
  switch (cause.kind) {
    case "sources":
      return cause.sources.join(", ");
    case "together":
      return `${cause.sources.join(" and ")} together`;
    case "object order":
      return "the order of an object's members";
    case "unknown":
      return "unknown, none of the host's clock, random source, ids and timers";
    default:
      return absurd(cause, "cause");
  }
}

function where({ first, second }: Parting): string {
  if (first === undefined || second === undefined || first.what !== second.what) {
    return `what happens: ${first?.what ?? "nothing more"}, then ${second?.what ?? "nothing more"}`;
  }
  const difference = compareViews(first.text, second.text);
  return `${first.what}, ${difference === undefined ? "in the order of its members" : describeDifference(difference)}`;
}
