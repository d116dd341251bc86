/**
 * What a checker is: one promise, judged over one run.
 *
 * A checker is fed the timeline event by event and may be forked: a scenario is walked once, and each cut goes on
 * from a copy of what its judges had seen until then. A checker never looks ahead and never repairs. Of a death it is told
 * that there was one, and not where: deaths that left the very same are judged by one recovery.
 */
import type { TimelineEvent } from "../faults/index.ts";

/** A broken promise. Two failures with the same `signature` are taken for the same defect. */
export interface Violation {
  readonly checker: string;
  /** What broke, without ids, offsets or run names: stable over runs. */
  readonly signature: string;
  /** What was expected and what was found, for a reader. */
  readonly message: string;
}

/** One promise, in the middle of one run. */
export interface CheckerRun<End> {
  /** Takes the next event. */
  observe(event: TimelineEvent): void;
  /** A copy that goes on by itself. */
  fork(): CheckerRun<End>;
  /** Everything that was broken, once the run is over. */
  finish(end: End): readonly Violation[];
  /**
   * The labels of the commits of the current life, each once, in the order in which they came first. Absent if no commit
   * is recognised: rows that only recoveries make are then found nowhere, and stay missing by name.
   */
  labels?(): readonly string[];
}

/** A checker as a thing with a name; `start` opens a run. */
export interface Checker<Context, End> {
  readonly name: string;
  /** The promise, in one sentence. */
  readonly promise: string;
  /** What it does not look at, in one sentence. */
  readonly doesNotCheck: string;
  start(context: Context): CheckerRun<End>;
}

/** Several checkers as one. `off` names those that are switched off. */
export function startAll<Context, End>(
  checkers: readonly Checker<Context, End>[],
  context: Context,
  off: readonly string[] = [],
): CheckerRun<End> {
  return group(
    checkers.filter((checker) => !off.includes(checker.name)).map((checker) => checker.start(context)),
  );
}

function group<End>(runs: readonly CheckerRun<End>[]): CheckerRun<End> {
  return {
    observe: (event) => {
      for (const run of runs) run.observe(event);
    },
    fork: () => group(runs.map((run) => run.fork())),
    finish: (end) => runs.flatMap((run) => run.finish(end)),
    labels: () => [...new Set(runs.flatMap((run) => run.labels?.() ?? []))],
  };
}
