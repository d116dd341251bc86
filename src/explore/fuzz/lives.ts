/**
 * Lives of a fuzz case: driven boundary by boundary, in the order that the case says, to their end or to a death.
 *
 * Invariants.
 * 1. One boundary is crossed at a time, and the next one is picked once everything that can arrive has arrived; so the
 *    same case goes the same way every time, whatever the lanes and the tools of it do at once.
 * 2. A death is handed on as a copy of what it left. What the dying life does after it is not seen by anyone.
 */
import type { Boundary, Cut, Position } from "../../faults/index.ts";
import type { Boot, ToldOfCall, View } from "../../subject/index.ts";
import {
  boot,
  dead,
  endOf,
  forkStanding,
  type Life,
  type LifeEnd,
  quiet,
  type RunContext,
  restarted,
  type Standing,
  viewOf,
} from "../standing.ts";

/** How a life goes: which of the boundaries that wait is crossed next, over and over. */
export type Schedule = readonly number[];

/** A life that came to its end, whatever that was. */
export interface Lived {
  readonly end: LifeEnd;
  readonly boundaryCount: number;
  readonly told: readonly ToldOfCall[];
}

/** Lives a life to its end, on a medium that may fail in it. The standing is used up. */
export async function live(
  context: RunContext,
  standing: Standing,
  schedule: Schedule,
  faults: Pick<Boot, "mediumFault"> = {},
): Promise<Lived> {
  const told: ToldOfCall[] = [];
  const tell = (one: ToldOfCall) => told.push(one);
  const life = boot(context, standing, { open: false, isNamed: false, told: tell, ...faults });
  const { parked, boundaryCount } = await advance(context, life, schedule);
  if (parked === "stalled") {
    life.incarnation.drop();
    return { end: { kind: "stalled", events: life.timeline.events }, boundaryCount, told };
  }
  return { end: await endOf(context, standing, life), boundaryCount, told };
}

/** Where a life is to die: at the boundary of this number, counted from 0. */
export interface Place {
  readonly index: number;
  readonly position: Position;
}

/** A life that was made to die. */
export interface Died {
  readonly cut: Cut;
  /** What was durable at the moment of death; or why it cannot be read. */
  readonly atCut: { readonly view: View } | { readonly error: unknown };
  /** A copy of what it left, at the time of the restart, to go on from. */
  readonly next: Standing;
  /** What its application was told before it died. */
  readonly told: readonly ToldOfCall[];
}

/** Lets a life die; undefined if it never came there. The standing is used up. */
export async function die(
  context: RunContext,
  standing: Standing,
  schedule: Schedule,
  { index, position }: Place,
): Promise<Died | undefined> {
  const told: ToldOfCall[] = [];
  const life = boot(context, standing, { open: false, told: (one) => told.push(one) });
  const { parked: boundary } = await advance(context, life, schedule, index);
  const death =
    typeof boundary !== "object"
      ? undefined
      : await dieAt(context, standing, life, { boundary, position }, told);
  life.gate.drop();
  life.incarnation.drop();
  return death;
}

/** Crosses boundaries until so many are crossed, nothing waits, or the system has refused to go on. */
async function advance(
  context: RunContext,
  life: Life,
  schedule: Schedule,
  boundaryCountMax = Number.POSITIVE_INFINITY,
): Promise<{ readonly parked: Boundary | "stalled" | undefined; readonly boundaryCount: number }> {
  let isRefused = false;
  life.incarnation.life.catch(() => {
    isRefused = true;
  });
  for (let boundaryCount = 0; ; boundaryCount++) {
    if ((await quiet(context, life)) === "stalled") return { parked: "stalled", boundaryCount };
    if (isRefused) return { parked: undefined, boundaryCount };
    const next = pickOf(life.gate.parked, schedule[boundaryCount % schedule.length] ?? 0);
    if (next === undefined || boundaryCount >= boundaryCountMax) return { parked: next, boundaryCount };
    life.gate.release(next);
  }
}

/**
 * Which goes next of those that wait. An effect has been begun when it comes to wait: no commit that came after it goes
 * before it, or a runtime would be held to a cancellation that it could not know.
 */
function pickOf(parked: readonly Boundary[], pick: number): Boundary | undefined {
  const firstEffect = parked.findIndex(({ kind }) => kind === "effect");
  const free = firstEffect < 0 ? parked : parked.slice(0, firstEffect + 1);
  return free[pick % free.length];
}

async function dieAt(
  context: RunContext,
  standing: Standing,
  life: Life,
  { boundary, position }: Cut,
  told: readonly ToldOfCall[],
): Promise<Died | undefined> {
  const here = (): Standing => ({ ...standing, events: [...standing.events, ...life.timeline.events] });
  if (position === "before") return left(context, { boundary, position }, here(), told);
  if (position === "inside" && boundary.kind === "commit") {
    return dieInsideCommit(context, here(), life, boundary, told);
  }
  life.gate.release(boundary);
  if ((await quiet(context, life)) === "stalled") return undefined;
  return left(context, { boundary, position }, here(), told);
}

/** Tears the commit where the medium can; where it cannot, a commit of which a part is there is one that is not there. */
async function dieInsideCommit(
  context: RunContext,
  here: Standing,
  life: Life,
  boundary: Boundary,
  told: readonly ToldOfCall[],
): Promise<Died | undefined> {
  const sizeBefore = here.disk.size();
  if (sizeBefore === undefined) return left(context, { boundary, position: "before" }, here, told);
  const toldBefore = [...told];
  const uncrossed = forkStanding(here, context.folder, here.disk);
  life.gate.release(boundary);
  if ((await quiet(context, life)) === "stalled") return undefined;
  const torn = here.disk.tear(sizeBefore, context.folder);
  const middle = torn[Math.floor(torn.length / 2)];
  if (middle === undefined) throw new Error("a medium that tears commits has no place to tear this one");
  const { bytesWritten } = middle;
  const disk = middle.make();
  const cut: Cut = { boundary, position: "inside", bytesWritten };
  const died = await left(context, cut, { ...uncrossed, disk }, toldBefore);
  disk.dispose();
  return died;
}

async function left(
  context: RunContext,
  cut: Cut,
  here: Standing,
  told: readonly ToldOfCall[],
): Promise<Died> {
  const standing = dead(here, cut);
  const next = restarted(dead(forkStanding(here, context.folder), cut));
  try {
    return { cut, atCut: { view: await viewOf(context, standing) }, next, told: [...told] };
  } catch (error) {
    return { cut, atCut: { error }, next, told: [...told] };
  }
}
