/**
 * Where a run stands when a life begins, and how one life is run to its end.
 *
 * Terms. *Standing*: a disk, the world beside it, what the judges have seen so far, and the cuts that led here. It is
 * all that a crash leaves. *Settled life*: one that came to its own end.
 *
 * Invariants.
 * 1. A standing that is forked shares nothing with its original; whoever forks disposes.
 * 2. A life that neither ends nor moves is stopped by the watchdog and reported as stalled: inconclusive, not green.
 * 3. Whatever the system under test throws, also while it is closed or read, is how its life ended, never a failure of
 *    the explorer.
 */
import type { CheckerRun, Violation } from "../checkers/index.ts";
import {
  type Cut,
  cutName,
  type Disturbance,
  Gate,
  type Scenario,
  Timeline,
  type TimelineEvent,
  World,
} from "../faults/index.ts";
import { VirtualClock } from "../foundation/index.ts";
import type { Boot, Disk, Downtime, Drive, Incarnation, RunEnd, Subject, View } from "../subject/index.ts";
import type { Watchdog } from "./watchdog.ts";

/** What stays the same over all runs of one group. */
export interface RunContext {
  readonly subject: Subject;
  readonly scenario: Scenario;
  readonly seed: number;
  readonly drive: Drive;
  /** Where disks that need files put them. */
  readonly folder: string;
  readonly watchdog: Watchdog;
  /** The most boundaries one life may cross. */
  readonly boundaryCap: number;
  /** Checkers that are switched off. */
  readonly checkersOff: readonly string[];
  /** Whether every life names its commits, for a reader of the timeline. */
  readonly isNamed: boolean;
  /** For run ids: the order of the race that is run, if it is one. */
  readonly order?: string;
  /** What is wrong around the first life; see `world-faults/`. */
  readonly disturbance?: () => Disturbance;
}

/** See the module header. */
export interface Standing {
  readonly disk: Disk;
  readonly world: World;
  readonly judge: CheckerRun<RunEnd>;
  readonly cuts: readonly Cut[];
  readonly downtimes: readonly Downtime[];
  /** What was observed so far; kept only where a timeline is printed. */
  readonly events: readonly TimelineEvent[];
}

/** How a life ended, and what was observed in it. */
export type LifeEnd = { readonly events: readonly TimelineEvent[] } & LifeEnding;

export type LifeEnding =
  | {
      readonly kind: "settled";
      readonly view: View;
      readonly violations: readonly Violation[];
      /** Of the commits of this life, as the judge recognised them; see `CheckerRun.labels`. */
      readonly labels: readonly string[];
    }
  /** The system itself refused to go on: it threw out of boot, or faulted. */
  | { readonly kind: "refused"; readonly error: unknown }
  /** It came to its end and left what cannot be read. */
  | { readonly kind: "unreadable"; readonly error: unknown }
  | { readonly kind: "cap-reached" | "stalled" };

/** How long a restart takes in virtual time: longer than any lease of a dead owner. */
export const DOWNTIME_MS = 60_000;

/** The first standing of a scenario: an empty session, an unused world. */
export async function firstStanding(context: RunContext): Promise<Standing> {
  const { subject, scenario, seed, folder, checkersOff } = context;
  return {
    disk: await subject.provision({ seed, folder }),
    world: new World(scenario, new VirtualClock()),
    judge: subject.judge({ scenario, off: checkersOff }),
    cuts: [],
    downtimes: [],
    events: [],
  };
}

/** The run that nobody cuts, from the first standing to its end. */
export async function runUncut(context: RunContext): Promise<LifeEnd> {
  const start = await firstStanding(context);
  const end = await runToEnd(context, start);
  start.disk.dispose();
  return end;
}

/** A copy of a standing; `disk` stands in for the copy of its disk, if given. */
export function forkStanding(standing: Standing, folder: string, disk?: Disk): Standing {
  return {
    ...standing,
    disk: disk ?? standing.disk.fork(folder),
    world: standing.world.fork(new VirtualClock(standing.world.clock.now())),
    judge: standing.judge.fork(),
  };
}

/** The standing as a death at `cut` leaves it. Nothing is touched: the clock still stands at the moment of death. */
export function dead(standing: Standing, cut: Cut): Standing {
  return {
    ...standing,
    cuts: [...standing.cuts, cut],
    downtimes: [...standing.downtimes, { atMs: standing.world.clock.now(), durationMs: DOWNTIME_MS }],
    events: [...standing.events, { kind: "crash", at: cutName(cut) }],
  };
}

/** The dead standing when its next life begins: time has passed, and the judges know that there was a death. */
export function restarted(standing: Standing): Standing {
  standing.world.clock.step(DOWNTIME_MS);
  // Where it died is for readers: judges that knew it could say different things of deaths that left the same.
  standing.judge.observe({ kind: "crash", at: "" });
  return standing;
}

/** One life in progress. */
export interface Life {
  readonly gate: Gate;
  readonly timeline: Timeline;
  readonly incarnation: Incarnation;
}

/** Boots over a standing. A life that may be stopped names its commits, unless told that it will not be. */
export function boot(
  context: RunContext,
  standing: Standing,
  {
    open,
    isNamed = !open,
    actorOf,
    ...more
  }: { readonly open: boolean; readonly isNamed?: boolean; readonly actorOf?: () => string } & Pick<
    Boot,
    "mediumFault" | "told"
  >,
): Life {
  const gate = new Gate({ open, cap: context.boundaryCap, ...(actorOf === undefined ? {} : { actorOf }) });
  const timeline = new Timeline();
  timeline.listen((event) => standing.judge.observe(event));
  const incarnation = standing.cuts.length;
  timeline.push({ kind: "boot", incarnation });
  const { disk, world } = standing;
  const { subject, scenario, seed, drive } = context;
  const names = context.isNamed || isNamed || more.mediumFault !== undefined;
  const life = { disk, world, scenario, seed, incarnation, gate, timeline, drive, isNamed: names, ...more };
  const disturbance = incarnation === 0 ? context.disturbance?.() : undefined;
  return { gate, timeline, incarnation: subject.boot(disturbance ? { ...life, disturbance } : life) };
}

/** Waits until a life has parked or is at its end; `others` are those that must be, too. */
export function quiet(
  { watchdog }: RunContext,
  { gate, incarnation }: Life,
  ...others: readonly Promise<unknown>[]
): Promise<undefined | "stalled"> {
  const ended = Promise.allSettled([incarnation.life, ...others]);
  return watchdog.guard(
    () => gate.crossedCount,
    gate.quiet(ended).then(() => undefined),
  );
}

/** Runs a life to its end without stopping anywhere, and judges it. The standing is used up. */
export async function runToEnd(context: RunContext, standing: Standing): Promise<LifeEnd> {
  const life = boot(context, standing, { open: true });
  return endOf(context, standing, life);
}

/**
 * Waits for the end of a life whose gate is open, closes it, and judges. `beforeClose` is called while it still holds
 * what it claimed.
 */
export async function endOf(
  context: RunContext,
  standing: Standing,
  life: Life,
  beforeClose: () => Promise<void> = async () => undefined,
): Promise<LifeEnd> {
  const ending = await endingOf(context, standing, life, beforeClose);
  return { events: life.timeline.events, ...ending };
}

async function endingOf(
  context: RunContext,
  standing: Standing,
  life: Life,
  beforeClose: () => Promise<void>,
): Promise<LifeEnding> {
  const { gate, incarnation } = life;
  const how = await context.watchdog.guard(
    () => gate.crossedCount,
    Promise.race([
      gate.dead.then(() => "dead" as const),
      incarnation.life.then(
        () => "done" as const,
        (error: unknown) => ({ error }),
      ),
    ]),
  );
  if (how === "stalled" || how === "dead") {
    incarnation.drop();
    return { kind: how === "dead" ? "cap-reached" : "stalled" };
  }
  if (how !== "done") {
    incarnation.drop();
    return { kind: "refused", error: how.error };
  }
  await beforeClose();
  try {
    await incarnation.close();
  } catch (error) {
    return { kind: "refused", error };
  }
  let view: View;
  try {
    view = await viewOf(context, standing);
  } catch (error) {
    return { kind: "unreadable", error };
  }
  const { world, judge } = standing;
  const violations = judge.finish({ view, rows: world.rows });
  return { kind: "settled", view, violations, labels: judge.labels?.() ?? [] };
}

/** What is durable on a standing's disk. */
export function viewOf(context: RunContext, standing: Standing): Promise<View> {
  return context.subject.view(standing.disk, { downtimes: standing.downtimes });
}
