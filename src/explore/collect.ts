/**
 * Collecting: the records of groups become a result.
 *
 * Every expected row that was not cut before and after is missing by name.
 */
import { sumFired } from "./fired.ts";
import {
  type Boundaries,
  type Deeper,
  type ExploreResult,
  type Faults,
  type GroupResult,
  type HowRecovered,
  type Kills,
  type Limit,
  RESULT_SCHEMA,
  type Recoveries,
  type Tally,
} from "./result.ts";
import type { GroupRecord } from "./tally.ts";

/** A group as a result shows it. */
export function groupResultOf(group: GroupRecord): GroupResult {
  const { kind, scenario, subject, survived, violated, inconclusive, elapsedMs, limits, interleavings } =
    group;
  const runs = survived + violated + inconclusive;
  const unpromised = sumOf(limits, (limit) => limit.runs);
  return {
    kind,
    scenario,
    subject,
    runs,
    survived,
    violated,
    inconclusive,
    perSecond: elapsedMs === 0 ? 0 : Math.round((runs * 1000) / elapsedMs),
    ...(unpromised === 0 ? {} : { unpromised }),
    ...(interleavings === undefined ? {} : { interleavings }),
  };
}

/** Puts groups together. `rowsExpected` names the rows of each subject of the plan. */
export function collect(
  groups: readonly GroupRecord[],
  head: Pick<
    ExploreResult,
    "version" | "seed" | "command" | "elapsedMs" | "skipped" | "checkersOff" | "notReached"
  > & { readonly kills: Kills | undefined },
  rowsExpected: ReadonlyMap<string, readonly string[]>,
): ExploreResult {
  const results = groups.filter((group) => !isUnplanned(group)).map(groupResultOf);
  const sum = (key: keyof Tally) => sumOf(results, (group) => group[key]);
  const { version, seed, command, elapsedMs, skipped, checkersOff, notReached, kills } = head;
  return {
    schema: RESULT_SCHEMA,
    version,
    seed,
    command,
    elapsedMs,
    totals: {
      runs: sum("runs"),
      survived: sum("survived"),
      violated: sum("violated"),
      inconclusive: sum("inconclusive"),
    },
    coverage: {
      boundaries: boundariesOf(groups),
      ...deeperOf(groups),
      ...faultsOf(groups),
      ...firedOf(groups),
      ...ordersOf(groups),
      rows: rowCoverage(groups, rowsExpected),
    },
    recoveries: recoveriesOf(groups),
    ...(kills === undefined ? {} : { kills }),
    ...limitsOf(groups),
    skipped,
    checkersOff,
    notReached,
    groups: results,
    failures: groups.flatMap((group) => group.failures),
  };
}

/** Of a group in which a sample drew nothing there is nothing to show; its boundaries are counted as left. */
function isUnplanned({ survived, violated, inconclusive, boundaries }: GroupRecord): boolean {
  return survived + violated + inconclusive + boundaries.total === 0 && (boundaries.unplanned ?? 0) > 0;
}

function boundariesOf(groups: readonly GroupRecord[]): Boundaries {
  const sum = (key: keyof Boundaries) => sumOf(groups, ({ boundaries }) => boundaries[key] ?? 0);
  const unplanned = sum("unplanned");
  const planned = { covered: sum("covered"), total: sum("total") };
  return unplanned === 0 ? planned : { ...planned, unplanned };
}

function deeperOf(groups: readonly GroupRecord[]): Pick<ExploreResult["coverage"], "deeper"> {
  const sum = (key: keyof Deeper) => sumOf(groups, ({ deeper }) => deeper?.[key] ?? 0);
  const deeper = { cut: sum("cut"), total: sum("total") };
  return deeper.total === 0 ? {} : { deeper };
}

function faultsOf(groups: readonly GroupRecord[]): Pick<ExploreResult["coverage"], "faults"> {
  const sum = (key: keyof Faults) => sumOf(groups, ({ faults }) => faults[key]);
  const faults = { covered: sum("covered"), total: sum("total"), recoveries: sum("recoveries") };
  return faults.total === 0 ? {} : { faults };
}

function firedOf(groups: readonly GroupRecord[]): Pick<ExploreResult["coverage"], "fired"> {
  const fired = sumFired(groups.flatMap((group) => group.fired));
  return fired.length === 0 ? {} : { fired };
}

/** The limits of each subject, over all its groups. */
function limitsOf(groups: readonly GroupRecord[]): Pick<ExploreResult, "limits"> {
  const limits = new Map<string, Limit>();
  for (const limit of groups.flatMap((group) => group.limits)) {
    const key = `${limit.subject}\u0000${limit.signature}`;
    const known = limits.get(key);
    limits.set(key, known === undefined ? limit : { ...known, runs: known.runs + limit.runs });
  }
  return limits.size === 0 ? {} : { limits: [...limits.values()] };
}

function recoveriesOf(groups: readonly GroupRecord[]): Recoveries {
  const sum = (how: HowRecovered) => sumOf(groups, ({ recoveries }) => recoveries[how]);
  const [executed, repeated] = [sum("executed"), sum("repeated")];
  return { deaths: executed + repeated + sum("shared"), executed: executed + repeated, repeated };
}

function ordersOf(groups: readonly GroupRecord[]): Pick<ExploreResult["coverage"], "orders"> {
  const covered = sumOf(groups, ({ orders }) => orders.covered);
  const total = sumOf(groups, ({ orders }) => orders.total);
  return total === 0 ? {} : { orders: { covered, total } };
}

function rowCoverage(
  groups: readonly GroupRecord[],
  rowsExpected: ReadonlyMap<string, readonly string[]>,
): ExploreResult["coverage"]["rows"] {
  const cut = new Set(
    groups
      .filter(({ kind }) => kind === "crash" || kind === "second")
      .flatMap((group) => group.rows.map((row) => `${group.subject}:${row}`)),
  );
  const expected = [...rowsExpected].flatMap(([subject, rows]) => rows.map((row) => `${subject}:${row}`));
  const missing = expected.filter((row) => !cut.has(row));
  return { covered: expected.length - missing.length, total: expected.length, missing };
}

function sumOf<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
