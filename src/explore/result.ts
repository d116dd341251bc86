/**
 * What an exploration found (`crashproof-result/1`): a plain JSON-safe value, and everything a reporter needs.
 *
 * Verdicts. *survived*: it was cut there, it recovered, and every judge agrees. *violated*: a promise was broken.
 * *inconclusive*: it was not looked at properly: a boundary that was not reached or left out, a cap, a stall, a fault
 * that did not fire. Inconclusive is never green.
 */
import type { Violation } from "../checkers/index.ts";
import type { Fired } from "./fired.ts";
import type { ShardPart } from "./parts/shard.ts";

export const RESULT_SCHEMA = "crashproof-result/1";

export type Verdict = "survived" | "violated" | "inconclusive";

/** The whole of one exploration. */
export interface ExploreResult {
  readonly schema: typeof RESULT_SCHEMA;
  /** The version of the package. */
  readonly version: string;
  readonly seed: number;
  /** The command line that repeats it. */
  readonly command: string;
  /** Host milliseconds; of shards and of what a checkpoint held, those that they took. */
  readonly elapsedMs: number;
  readonly totals: Tally;
  readonly coverage: Coverage;
  readonly recoveries: Recoveries;
  /** Only where real processes were killed. */
  readonly kills?: Kills;
  /** What was found and breaks no promise, because nobody made one; only where there is any. */
  readonly limits?: readonly Limit[];
  /** What was not run, and why it cannot be. */
  readonly skipped: readonly Skipped[];
  /** Checkers that were switched off: what they promise was not looked at. */
  readonly checkersOff: readonly string[];
  /** Boundaries that the plan names, and that no run came by. */
  readonly notReached: readonly string[];
  readonly groups: readonly GroupResult[];
  readonly failures: readonly Failure[];
  /** Only in the result of one shard of several: what `crashproof merge` needs. */
  readonly shard?: ShardPart;
}

/** Runs by verdict. */
export interface Tally {
  readonly runs: number;
  readonly survived: number;
  readonly violated: number;
  readonly inconclusive: number;
}

/** A scenario that a subject cannot run: its specification lacks a feature. */
export interface Skipped {
  readonly scenario: string;
  readonly subject: string;
  readonly reason: string;
}

/**
 * Deaths in process that were gone on from, and the recoveries that were executed for them: deaths that left the very
 * same share one. `repeated` of the executed ones could have been shared, and were held against it instead.
 */
export interface Recoveries {
  readonly deaths: number;
  readonly executed: number;
  readonly repeated: number;
}

/** How the end of a recovery is known: it was executed; it was that of an earlier death; or it was both. */
export type HowRecovered = "executed" | "shared" | "repeated";

/** Sessions that a real kill left, and the kills: one kill cuts many sessions, so they are counted apart. */
export interface Kills {
  readonly states: number;
  readonly kills: number;
}

/** What a format or a store does not promise, as it was met. Such runs are neither survived nor violated. */
export interface Limit {
  readonly subject: string;
  readonly signature: string;
  readonly message: string;
  readonly runs: number;
  /** The id of the first of these runs. */
  readonly example: string;
}

/** What was looked at, of what there is. */
export interface Coverage {
  /** Boundaries with position, over all scenarios and subjects of the plan. */
  readonly boundaries: Boundaries;
  /** Third and later deaths: those that were died, of those that there are. Only where runs die so often. */
  readonly deeper?: Deeper;
  /** Faults other than deaths: those that were done and that fired, of those that were to be. Only where there are any. */
  readonly faults?: Faults;
  /** How often each kind of death and fault was to be, and how often it was reached and fired. Only where there are any. */
  readonly fired?: readonly Fired[];
  /** Orders of races: those that happened, as their timelines show, of those that were asked for. Only where there are any. */
  readonly orders?: { readonly covered: number; readonly total: number };
  /** Rows of the specification, by subject: cut before and after at least once. `missing` holds `subject:row`. */
  readonly rows: { readonly covered: number; readonly total: number; readonly missing: readonly string[] };
}

/** `unplanned`: boundaries beside the total, which the plan does not ask for. Only where it asks for a sample. */
export interface Boundaries {
  readonly covered: number;
  readonly total: number;
  readonly unplanned?: number;
}

/** Deaths in recoveries of recoveries. A sample of them is died, so what is left is no gap in what was asked for. */
export interface Deeper {
  readonly cut: number;
  readonly total: number;
}

/** Of `covered`, `recoveries` were gone on from by a recovery that was executed. */
export interface Faults {
  readonly covered: number;
  readonly total: number;
  readonly recoveries: number;
}

/** One kind of run over one scenario on one subject. */
export interface GroupResult extends Tally {
  readonly kind: GroupKind;
  readonly scenario: string;
  readonly subject: string;
  /** Crash states per second of host time. */
  readonly perSecond: number;
  /** Runs that found what nobody promises; they are not among `runs`. Only where there are any. */
  readonly unpromised?: number;
  /** Only where the interleavings of a race were explored. */
  readonly interleavings?: Interleavings;
}

/** What was gone through of the interleavings of a race. */
export interface Interleavings {
  /** Different states in which somebody chose. */
  readonly states: number;
  /** Steps from one of them. */
  readonly transitions: number;
  /** Runs that were left where they came to a state that was known. */
  readonly merged: number;
}

/** `second`: a second death, in a recovery that makes a row which no first life comes by. */
export type GroupKind =
  | "crash"
  | "second"
  | "kill"
  | "takeover"
  | "backends"
  | "drives"
  | "determinism"
  | "torn"
  | "disk-faults"
  | "world-faults"
  | "lease"
  | "race"
  | "fuzz";

/** A run that did not survive. `repro` is the command that repeats it. */
export interface Failure {
  readonly id: string;
  readonly verdict: Exclude<Verdict, "survived">;
  readonly checker: string;
  readonly signature: string;
  readonly message: string;
  readonly repro: string;
}

/** The judgement of one run. */
export interface Judgement {
  /** The run id. */
  readonly id: string;
  readonly violations: readonly Violation[];
  /** Why nothing can be said, if so. */
  readonly inconclusive?: { readonly signature: string; readonly message: string };
  /** What was found that nobody promises, if so. */
  readonly limit?: { readonly signature: string; readonly message: string };
}

/** The verdict of a judgement. A broken promise outweighs a doubt; where nobody promised anything, nothing survived. */
export function verdictOf({ violations, inconclusive, limit }: Judgement): Verdict {
  if (violations.length > 0) return "violated";
  return inconclusive === undefined && limit === undefined ? "survived" : "inconclusive";
}

/** The parts of a result that decide its verdict. */
export type Decisive = Pick<ExploreResult, "totals" | "coverage" | "groups" | "checkersOff" | "notReached">;

/**
 * The verdict of a whole result. What was not covered is a doubt, and so is nothing at all, a group in which nothing
 * was run, a judge who was sent away, and a boundary that the plan names and that was never reached.
 */
export function overallVerdict({ totals, coverage, groups, checkersOff, notReached }: Decisive): Verdict {
  if (totals.violated > 0) return "violated";
  const isWholly = (part: { covered: number; total: number } | undefined) => part?.covered === part?.total;
  const isLookedAt = isWholly(coverage.boundaries) && isWholly(coverage.faults) && isWholly(coverage.orders);
  const isCovered =
    isLookedAt && totals.runs > 0 && groups.every(({ runs, unpromised = 0 }) => runs + unpromised > 0);
  const isWhole = isCovered && checkersOff.length === 0 && notReached.length === 0;
  return totals.inconclusive === 0 && isWhole ? "survived" : "inconclusive";
}

/** The failures of a judgement, for the result. */
export function failuresOf(judgement: Judgement): readonly Failure[] {
  const { id, violations, inconclusive } = judgement;
  const repro = `npx crashproof repro '${id}'`;
  if (violations.length > 0)
    return violations.map((violation) => ({ id, verdict: "violated", ...violation, repro }));
  if (inconclusive === undefined) return [];
  return [{ id, verdict: "inconclusive", checker: "explorer", ...inconclusive, repro }];
}
