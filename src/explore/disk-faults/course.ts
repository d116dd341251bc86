/**
 * The course of a life in which nothing fails: what was durable when it began and after each of its commits, and what it
 * came to. A life in which something fails goes the same way until then, so what it leaves is one of these.
 */
import type { Cut, MediumFaultKind } from "../../faults/index.ts";
import type { Disk, View } from "../../subject/index.ts";
import { walkAndDispose } from "../crash/walk.ts";
import { readable, unlessUnreadable } from "../readable.ts";
import { firstStanding, forkStanding, type RunContext, restarted, type Standing } from "../standing.ts";

/** See the module header. */
export interface Course {
  /** Where the life begins. */
  readonly start: Standing;
  /** The death before it; where nothing has happened in it yet, recovery is from there. */
  readonly since: Cut;
  /** `durable[n]` is what was durable after n commits. */
  readonly durable: readonly View[];
  /** What it came to. */
  readonly end: View;
}

export type FaultyLifeStart = MediumFaultKind["lives"][number];

/**
 * The course of a life of that kind; undefined if it does not come to its end or leaves what cannot be read, or if the
 * scenario has no commit.
 */
export function courseOf(context: RunContext, life: FaultyLifeStart): Promise<Course | undefined> {
  return unlessUnreadable(() => courseFrom(context, life));
}

async function courseFrom(context: RunContext, life: FaultyLifeStart): Promise<Course | undefined> {
  const first = await firstStanding(context);
  try {
    const commits = await commitsOf(context, copyOf(first, context.folder));
    const [opening] = commits.cuts;
    if (opening === undefined || commits.end === undefined) return undefined;
    if (life === "first") return follow(context, copyOf(first, context.folder), opening);
    const middle = commits.cuts[Math.floor(commits.cuts.length / 2)] ?? opening;
    const start = await dieAt(context, copyOf(first, context.folder), middle);
    return start && follow(context, start, middle);
  } finally {
    first.disk.dispose();
  }
}

/** A copy of a standing on a disk of the same kind: a fork may be on another one, which loses what a dead life leaves. */
export function copyOf(standing: Standing, folder: string): Standing {
  const { disk } = standing;
  const files = disk.files?.();
  const contents = new Map(files?.map(({ name, bytes }) => [name, bytes]));
  const copy: Disk | undefined = files === undefined ? undefined : disk.withFiles?.(contents, folder);
  return forkStanding(standing, folder, copy);
}

async function follow(context: RunContext, start: Standing, since: Cut): Promise<Course | undefined> {
  let course: Course | undefined;
  try {
    const before = await readable(context, start);
    const { end, views } = await commitsOf(context, copyOf(start, context.folder));
    if (end !== undefined) course = { start, since, durable: [before, ...views], end };
  } finally {
    if (course === undefined) start.disk.dispose();
  }
  return course;
}

interface Commits {
  /** Of each commit, before it. */
  readonly cuts: readonly Cut[];
  /** After each commit. */
  readonly views: readonly View[];
  readonly end: View | undefined;
}

/** Walks a life. The standing is used up. */
async function commitsOf(context: RunContext, standing: Standing): Promise<Commits> {
  const cuts: Cut[] = [];
  const views: View[] = [];
  const end = await walkAndDispose(context, standing, {
    seen: () => undefined,
    wants: ({ boundary, position }) => boundary.kind === "commit" && position !== "inside",
    visit: async ({ cut, left }) => {
      if (cut.position === "before") cuts.push(cut);
      else views.push(await readable(context, left));
    },
  });
  return { cuts, views, end: end?.kind === "settled" ? end.view : undefined };
}

/** Dies inside that commit, or before it where it cannot be torn. The standing is used up. */
async function dieAt(context: RunContext, standing: Standing, at: Cut): Promise<Standing | undefined> {
  let start: Standing | undefined;
  const isThere = ({ boundary }: Cut) =>
    boundary.label === at.boundary.label && boundary.occurrence === at.boundary.occurrence;
  await walkAndDispose(context, standing, {
    seen: () => undefined,
    wants: (cut) => isThere(cut) && cut.position !== "after",
    visit: async ({ left }) => {
      start?.disk.dispose();
      start = copyOf(left, context.folder);
    },
  });
  return start && restarted(start);
}
