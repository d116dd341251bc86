/**
 * One run in a world that misbehaves, and the same run cut at a few boundaries after it did.
 *
 * What must hold, beside what the judges hold every run to, who know which answers and results are wrong.
 * 1. The fault fired; a run in which it did not shows nothing.
 * 2. Hooks and listeners that fail change nothing: the run leaves what it leaves without them.
 * 3. A hook before a tool that fails keeps the tool from running.
 * 4. A clock that steps changes nothing but times. Where the size of a context decides, it is measured by times, and
 *    nobody promises what a clock that lies makes of that: it is counted as a limit.
 * 5. A run that is cut afterwards recovers to what it reached without the cut, as ever. Not asked for summaries: what
 *    must be reached there is computed from summaries that the run without the cut came to.
 */
import { compareViews, describeDifference, type Violation } from "../../checkers/index.ts";
import {
  type CutRef,
  cutRefName,
  Disturbance,
  type DisturbanceKind,
  type TimelineEvent,
  type WorldFaultKind,
} from "../../faults/index.ts";
import type { Subject, View } from "../../subject/index.ts";
import { violationsOf } from "../checks.ts";
import { exploreCrashes } from "../crash/crash.ts";
import { doubt, type Finding, together } from "../judgement.ts";
import type { Judgement } from "../result.ts";
import { type RunContext, runUncut } from "../standing.ts";
import { derive, type Site } from "./derived.ts";

/** The run to which nothing is done. */
export interface Base {
  readonly end: View;
  readonly events: readonly TimelineEvent[];
}

/** What is tried. */
export interface Trial {
  readonly kind: WorldFaultKind;
  /** From 1; the how-manieth occurrence of its place. */
  readonly occurrence: number;
  /** Where it is, unless a life counts it by itself. */
  readonly site: Site | undefined;
  /** How many deaths after it. */
  readonly deaths: number;
  /** Only this death, or none: for a run that is made again. */
  readonly only?: { readonly cut: CutRef | undefined };
}

/** One run of a trial. `cut` is where it died, if it did. */
export interface TrialRun {
  readonly finding: Finding;
  readonly cut: CutRef | undefined;
  readonly events: readonly TimelineEvent[];
}

/** Makes the runs of a trial. */
export async function tryWorldFault(
  context: RunContext,
  base: Base,
  trial: Trial,
): Promise<readonly TrialRun[]> {
  const { kind, occurrence, site, deaths, only } = trial;
  const scenario = site === undefined ? context.scenario : derive(kind, context.scenario, site);
  const faulty: RunContext = {
    ...context,
    // A clock that steps makes other times, and nothing is promised of them.
    subject: kind.place === "clock" ? timelessly(context.subject) : context.subject,
    scenario,
    isNamed: true,
    ...(isDisturbance(kind) ? { disturbance: () => new Disturbance(kind, occurrence) } : {}),
  };
  const wanted = new Set(only?.cut === undefined ? [] : [cutRefName(only.cut)]);
  const judged = new Map<string, { cut: CutRef | undefined; judgement: Judgement }>();
  const observed = new Map<string, readonly TimelineEvent[]>();
  const nameOf = (path: readonly CutRef[]) => path.map(cutRefName).join("+");
  const end = await exploreCrashes(
    faulty,
    {
      depth: 1,
      secondDeaths: false,
      recoverEach: true,
      wants: (_path, cut) => wanted.has(cutRefName(cut)),
      enough: () => wanted.size === 0,
    },
    {
      saw: () => undefined,
      judged: (judgement, path) => {
        const name = nameOf(path);
        const known = judged.get(name);
        judged.set(name, {
          cut: path[0],
          judgement: known === undefined ? judgement : together(known.judgement, judgement),
        });
        wanted.delete(name);
      },
      observed: (path, events) => {
        observed.set(nameOf(path), events);
        if (path.length === 0 && only === undefined)
          for (const cut of cutsAfter(kind, events, isSummary(site) ? 0 : deaths)) wanted.add(cut);
      },
    },
  );
  const runs = [...judged].map(([name, { cut, judgement }]): TrialRun => {
    const events = observed.get(name) ?? [];
    const hasFired = events.some((event) => event.kind === "fault");
    const violations =
      cut === undefined && hasFired && end !== undefined ? brokenBy(trial, base, end, events) : [];
    const found = unpromised(trial, context, together(judgement, { violations }));
    return { finding: hasFired ? found : notFired(found), cut, events };
  });
  return only === undefined ? runs : runs.filter(({ cut }) => sameCut(cut, only.cut));
}

function isSummary(site: Site | undefined): boolean {
  return site !== undefined && site.kind !== "call" && site.row.kind === "summary";
}

/** What nobody promises is a limit; see promise 4. */
function unpromised({ kind }: Trial, { scenario }: RunContext, found: Finding): Finding {
  const { settings, stimuli } = scenario;
  const isMeasured = settings.compaction?.enabled === true || stimuli.some(({ call }) => call === "compact");
  const of = ["misbehaving-world", "recovery-equality"];
  if (kind.place !== "clock" || !isMeasured) return found;
  const violations = found.violations.filter(({ checker }) => !of.includes(checker));
  if (violations.length === found.violations.length) return found;
  const message =
    "the size of a context is measured by the times of its messages; a clock that steps changes it";
  return {
    ...found,
    violations,
    limit: { signature: "context measured by a clock that stepped", message },
  };
}

/** How often the place of a disturbance comes in a run. */
export async function countOccurrences(context: RunContext, kind: DisturbanceKind): Promise<number> {
  let last: Disturbance | undefined;
  const disturbance = () => {
    last = new Disturbance(kind, 0);
    return last;
  };
  await runUncut({ ...context, disturbance });
  return last?.count ?? 0;
}

export function isDisturbance(kind: WorldFaultKind): kind is DisturbanceKind {
  return kind.place === "hook" || kind.place === "listener" || kind.place === "clock";
}

/**
 * Around the next commit after the fault, and before the last one. A disturbance happens in one life only, and perhaps in
 * the middle of that commit: the death must come after it.
 */
function cutsAfter(
  kind: WorldFaultKind,
  events: readonly TimelineEvent[],
  deaths: number,
): readonly string[] {
  const from = events.findIndex((event) => event.kind === "fault");
  if (from < 0) return [];
  const commits = events.slice(from).flatMap((event) => (event.kind === "commit" ? [event.boundary] : []));
  const [next, second] = commits;
  const last = commits.length > 1 ? commits.at(-1) : undefined;
  const cut = (boundary: typeof next, position: CutRef["position"]) =>
    boundary === undefined
      ? []
      : [cutRefName({ label: boundary.label, occurrence: boundary.occurrence, position })];
  const first = isDisturbance(kind) ? cut(second, "before") : cut(next, "before");
  return [...new Set([...cut(next, "after"), ...first, ...cut(last, "before")])].slice(0, deaths);
}

function sameCut(one: CutRef | undefined, other: CutRef | undefined): boolean {
  return (one && cutRefName(one)) === (other && cutRefName(other));
}

/** Whatever else was found: the fault was never met. */
export function notFired(found: Finding): Finding {
  return { ...found, ...NOT_FIRED, violations: found.violations };
}

const NOT_FIRED = doubt("fault-not-fired", "the world never came to what it was to do wrongly");

/** What is broken of the promises 2 to 4. */
function brokenBy(
  { kind, site }: Trial,
  base: Base,
  end: View,
  events: readonly TimelineEvent[],
): Violation[] {
  switch (kind.place) {
    case "hook":
    case "listener":
      return changed(`a ${kind.place} that failed`, base.end.exact, end.exact);
    case "clock":
      return changed("a clock that stepped", timeless(base.end.canonical), end.canonical);
    case "tool hook": {
      const callId = site?.kind === "call" ? site.callId : undefined;
      const ran = events.some(
        (event) => event.kind === "effect" && event.row.kind === "tool" && event.row.callId === callId,
      );
      return ran ? [broken("blocked call ran", `${callId} ran, though the hook before it failed`)] : [];
    }
    case "reply":
    case "stream":
    case "tool":
    case "restart":
      return [];
  }
}

function changed(what: string, expected: string, found: string): Violation[] {
  const difference = compareViews(expected, found);
  if (difference === undefined) return [];
  return [
    broken("changed what is stored", `${what} changed what is stored: ${describeDifference(difference)}`),
  ];
}

const broken = violationsOf("misbehaving-world");

/** The subject, seen without times; what its tables say is still asked of the views with them. */
function timelessly(subject: Subject): Subject {
  const whole = new WeakMap<View, View>();
  const original = (view: View) => whole.get(view) ?? view;
  return {
    ...subject,
    view: async (disk, reading) => {
      const view = await subject.view(disk, reading);
      const seen: View = { exact: view.exact, canonical: timeless(view.canonical) };
      whole.set(seen, view);
      return seen;
    },
    expect: async ({ atCut, uninterrupted, ...question }) => {
      const left = async () => original(await atCut());
      const expected = await subject.expect({
        ...question,
        atCut: left,
        uninterrupted: original(uninterrupted),
      });
      return { ...expected, canonical: timeless(expected.canonical) };
    },
  };
}

/** A view without its times. */
function timeless(canonical: string): string {
  return JSON.stringify(JSON.parse(canonical), (key, value) => (TIME.test(key) ? undefined : value));
}

const TIME = /^timestamp$|[a-z]At$|^notBefore$/;
