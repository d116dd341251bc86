/**
 * Walking: a scenario is run once, parked before every boundary, and every place where it can die is handed out as a
 * death. The cost of one crash is then the reopen and the remainder, never the prefix again.
 *
 * What is handed out, for each boundary in order.
 * - `before`: as it stands, parked.
 * - `inside` a commit: the disk after the crossing with the commit torn, one death for each place where the medium
 *   can tear; judges and world as before. None where a commit is atomic.
 * - `inside` an effect: it happened outside, the runtime will never know.
 * - `after`: crossed, and nothing else has happened.
 *
 * Invariants.
 * 1. Whoever goes on from a death forks it: what a visitor does is not seen by the walk.
 * 2. With a deterministic system the walk is the run that nobody cuts.
 * 3. No life is left behind, also where a visitor throws.
 */
import type { Boundary, Cut } from "../../faults/index.ts";
import type { Disk } from "../../subject/index.ts";
import {
  boot,
  endOf,
  firstStanding,
  forkStanding,
  type Life,
  type LifeEnd,
  quiet,
  type RunContext,
  type Standing,
} from "../standing.ts";
import { Death } from "./death.ts";

/** What a walk asks of its visitor. */
export interface WalkVisitor {
  /** Told of every place where the run can die, whether it is visited or not. */
  seen(cut: Cut): void;
  /** Whether to hand out this cut. */
  wants(cut: Cut): boolean;
  /** Takes a death; it can be looked at and forked until the visit is over. */
  visit(death: Death): Promise<void>;
  /** Whether the walk may stop here because nothing more is wanted. */
  enough(): boolean;
}

/** Walks the run that nobody cuts, from the first standing. */
export async function walkUncut(context: RunContext, visitor: PatientVisitor): Promise<LifeEnd | undefined> {
  return walkAndDispose(context, await firstStanding(context), visitor);
}

/** Walks from a standing that nobody needs afterwards. */
export async function walkAndDispose(
  context: RunContext,
  standing: Standing,
  visitor: PatientVisitor,
): Promise<LifeEnd | undefined> {
  try {
    return await walk(context, standing, { enough: () => false, ...visitor });
  } finally {
    standing.disk.dispose();
  }
}

/** One that has never enough, unless it says so. */
type PatientVisitor = Omit<WalkVisitor, "enough"> & Partial<WalkVisitor>;

/** Walks to the end of the life, or until the visitor has enough (then the end is undefined). */
export async function walk(
  context: RunContext,
  standing: Standing,
  visitor: WalkVisitor,
): Promise<LifeEnd | undefined> {
  const life = boot(context, standing, { open: false });
  try {
    while (!visitor.enough()) {
      if ((await quiet(context, life)) === "stalled") return stalled(life);
      const [parked] = life.gate.parked;
      if (parked === undefined) return await endOf(context, standing, life);
      if ((await cross(context, standing, life, parked, visitor)) === "stalled") return stalled(life);
    }
  } catch (error) {
    abandon(life);
    throw error;
  }
  abandon(life);
  return undefined;
}

function abandon({ gate, incarnation }: Life): void {
  gate.drop();
  incarnation.drop();
  // Whatever a dead life still comes to concerns nobody.
  incarnation.life.catch(() => undefined);
}

function stalled(life: Life): LifeEnd {
  abandon(life);
  return { kind: "stalled", events: life.timeline.events };
}

async function cross(
  context: RunContext,
  standing: Standing,
  life: Life,
  boundary: Boundary,
  visitor: WalkVisitor,
): Promise<undefined | "stalled"> {
  const here = (): Standing => ({ ...standing, events: [...standing.events, ...life.timeline.events] });
  await offer(context, visitor, { boundary, position: "before" }, here);

  const sizeBefore = boundary.kind === "commit" ? standing.disk.size() : undefined;
  // A torn commit is judged as if it had not happened, so judges and world are copied on this side of it.
  const uncrossed =
    sizeBefore === undefined ? undefined : forkStanding(here(), context.folder, standing.disk);

  life.gate.release(boundary);
  if ((await quiet(context, life)) === "stalled") return "stalled";

  if (boundary.kind === "effect") {
    await offer(context, visitor, { boundary, position: "inside" }, here);
  } else if (sizeBefore !== undefined && uncrossed !== undefined) {
    for (const { bytesWritten, make } of standing.disk.tear(sizeBefore, context.folder)) {
      const cut: Cut = { boundary, position: "inside", bytesWritten };
      let disk: Disk | undefined;
      await offer(context, visitor, cut, () => {
        disk = make();
        return { ...uncrossed, disk };
      });
      disk?.dispose();
    }
  }
  await offer(context, visitor, { boundary, position: "after" }, here);
  return undefined;
}

/** `here` is made for a death that is wanted, and for no other: most walks want few of the places that they come by. */
async function offer(
  context: RunContext,
  visitor: WalkVisitor,
  cut: Cut,
  here: () => Standing,
): Promise<void> {
  visitor.seen(cut);
  if (visitor.wants(cut)) await visitor.visit(new Death(cut, here(), context.folder));
}
