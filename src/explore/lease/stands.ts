/**
 * Where an owner of a session can stand when others want it: before each of its commits, with what must become of the
 * session if another process goes on from there, and if the commit is made first.
 */
import type { Downtime, RecoveryExpectation, View } from "../../subject/index.ts";
import { expectationOf } from "../crash/recovery.ts";
import { walkUncut } from "../crash/walk.ts";
import { readable, unlessUnreadable } from "../readable.ts";
import { DOWNTIME_MS, type RunContext, runUncut } from "../standing.ts";

/** One commit of the run that nobody disturbs. */
export interface Stand {
  /** From 0. */
  readonly commitIndex: number;
  /** What the clock of whoever comes next says: longer after than any claim lasts. */
  readonly nextMs: number;
  readonly downtimes: readonly Downtime[];
  /** What must be reached from before the commit, and from after it; a sentence where the tables say nothing. */
  readonly before: RecoveryExpectation | string;
  readonly after: RecoveryExpectation | string;
}

/** Of each commit in turn; undefined if already the run that nobody disturbs is not right. */
export function standsOf(context: RunContext): Promise<readonly Stand[] | undefined> {
  return unlessUnreadable(() => standsFrom(context));
}

async function standsFrom(context: RunContext): Promise<readonly Stand[] | undefined> {
  const named = { ...context, isNamed: true };
  const uncut = await runUncut(named);
  if (uncut.kind !== "settled") return undefined;
  const stands: Stand[] = [];
  let before: Omit<Stand, "after" | "commitIndex"> | undefined;
  const end = await walkUncut(named, {
    seen: () => undefined,
    wants: ({ boundary, position }) => boundary.kind === "commit" && position !== "inside",
    visit: async ({ cut, left }) => {
      const atCut: View = await readable(named, left);
      const expected = await expectationOf(named, cut, async () => atCut, uncut.view);
      if (cut.position === "before") {
        const nextMs = left.world.clock.now() + DOWNTIME_MS;
        before = { nextMs, downtimes: left.downtimes, before: expected };
      } else if (before !== undefined) {
        stands.push({ ...before, commitIndex: stands.length, after: expected });
      }
    },
  });
  return end?.kind === "settled" ? stands : undefined;
}
