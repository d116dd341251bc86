/**
 * The commits of a run, looked at from both sides: what was durable before one and after it, and the bytes in between.
 *
 * Invariants.
 * 1. What is kept of the side before shares nothing with the walk that goes on; what is kept of the side after may be
 *    used until the visit is over.
 */
import { type Boundary, boundaryName } from "../../faults/index.ts";
import type { DiskFile, View } from "../../subject/index.ts";
import type { Death } from "../crash/death.ts";
import { walkUncut } from "../crash/walk.ts";
import { readable } from "../readable.ts";
import { spread } from "../spread.ts";
import { forkStanding, type RunContext, type Standing } from "../standing.ts";

/** A commit with its two sides. Of a standing here the disk is the walk's own, and is not to be used. */
export interface CommitSeen {
  readonly boundary: Boundary;
  readonly before: Standing;
  readonly previous: View;
  readonly after: Standing;
  readonly complete: View;
  /** The files after it. */
  readonly files: readonly DiskFile[];
  /** What was durable before earlier commits, as exact texts. */
  readonly earlier: ReadonlySet<string>;
}

/** A commit as a survey saw it. */
export interface CommitPlace {
  /** `tool.settle#2` */
  readonly name: string;
  readonly byteCount: number;
  /** Whether it is of several parts, each of which could be taken for a commit. */
  readonly isArray: boolean;
}

/**
 * Walks the scenario and visits every wanted commit. Does nothing for disks without files. To be called within
 * `unlessUnreadable`.
 */
export async function visitCommits(
  context: RunContext,
  wants: (name: string) => boolean,
  visit: (commit: CommitSeen) => Promise<void>,
): Promise<void> {
  const earlier = new Set<string>();
  let side: Pick<CommitSeen, "before" | "previous"> | undefined;
  await walkUncut(context, {
    seen: () => undefined,
    wants: ({ boundary, position }) => {
      if (boundary.kind !== "commit" || position === "inside") return false;
      return position === "before" || wants(boundaryName(boundary));
    },
    visit: async (death: Death) => {
      const { cut, left } = death;
      if (cut.position === "before") {
        if (side !== undefined) earlier.add(side.previous.exact);
        // Asking says to the disk where the commit begins that `files` will call the last one.
        left.disk.size();
        side = {
          before: forkStanding(left, context.folder, left.disk),
          previous: await readable(context, left),
        };
        return;
      }
      const files = left.disk.files?.();
      if (side === undefined || files === undefined) return;
      await visit({
        ...side,
        earlier,
        boundary: cut.boundary,
        after: left,
        complete: await readable(context, left),
        files,
      });
    },
  });
}

/** The commits of a scenario, by size; empty if its disks have no files. */
export async function surveyCommits(context: RunContext): Promise<readonly CommitPlace[]> {
  const places: CommitPlace[] = [];
  await visitCommits(
    context,
    () => true,
    async ({ boundary, files }) => {
      const parts = files.map(({ bytes, lastCommitFrom }) => bytes.subarray(lastCommitFrom));
      places.push({
        name: boundaryName(boundary),
        byteCount: parts.reduce((sum, part) => sum + part.length, 0),
        isArray: parts.some((part) => part[0] === OPENING_BRACKET),
      });
    },
  );
  return places;
}

const OPENING_BRACKET = 0x5b;

/**
 * At most `count` of the commits: the first and the last, the longest, one of several parts and one of a single part come
 * first; then others, evenly spread.
 */
export function chooseCommits(places: readonly CommitPlace[], count: number): ReadonlySet<string> {
  if (places.length <= count) return new Set(places.map(({ name }) => name));
  const longest = places.reduce<CommitPlace | undefined>(
    (best, place) => (best === undefined || place.byteCount > best.byteCount ? place : best),
    undefined,
  );
  const first = [
    longest,
    places.at(-1),
    places[0],
    places.find(({ isArray }) => isArray),
    places.find(({ isArray }) => !isArray),
  ].flatMap((place) => (place === undefined ? [] : [place.name]));
  const rest = spread(
    places.map(({ name }) => name),
    count,
  );
  return new Set([...new Set([...first, ...rest])].slice(0, count));
}
