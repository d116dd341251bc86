/**
 * The terminal report: a table by scenario and subject, every kind of failure with the lines that repeat it, and last,
 * where the eye is when the command ends, the verdict and how much was looked at.
 *
 * One defect fails in many runs, in the same way: it is described once, with the runs under it.
 *
 * A function of the result; colours only where the terminal has them.
 */
import pc from "picocolors";
import {
  type Coverage,
  type Decisive,
  type ExploreResult,
  type Failure,
  type Fired,
  type GroupKind,
  type GroupResult,
  type Limit,
  overallVerdict,
} from "../explore/index.ts";

/** More runs of one signature than these are counted, not printed. */
const RUNS_PER_SIGNATURE_MAX = 3;

/** The report as text, ending with a line feed. */
export function terminalReport(result: ExploreResult): string {
  const skipped = result.skipped.map(({ scenario, subject, reason }) =>
    pc.dim(`skipped: ${scenario} on ${subject}: ${reason}`),
  );
  const lines = [
    ...table(result.groups),
    ...skipped,
    ...failures(result.failures),
    ...limits(result.limits ?? []),
    "",
    ...summary(result),
  ];
  return `${lines.join("\n")}\n`;
}

function table(groups: readonly GroupResult[]): string[] {
  const head = ["kind", "scenario", "subject", "runs", "survived", "violated", "inconclusive", "states/s"];
  const rows = groups.map((group) => [
    group.kind,
    group.scenario,
    group.subject,
    String(group.runs),
    String(group.survived),
    String(group.violated),
    String(group.inconclusive),
    group.perSecond === 0 ? "" : String(group.perSecond),
  ]);
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const format = (row: readonly string[]) =>
    row
      .map((cell, column) =>
        column < 3 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  return [
    pc.bold(format(head)),
    ...groups.map((group, index) => {
      const line = format(rows[index] ?? []);
      if (group.violated > 0) return pc.red(line);
      return group.inconclusive > 0 ? pc.yellow(line) : line;
    }),
  ];
}

function summary(result: ExploreResult): string[] {
  const { totals, coverage, checkersOff, notReached, recoveries, kills, elapsedMs, seed } = result;
  const { rows } = coverage;
  return [
    ...shardOf(result),
    `${verdictWord(result)}: ${totals.survived} survived, ${totals.violated} violated, ${totals.inconclusive} inconclusive, of ${totals.runs} runs`,
    ...covers(result),
    ...interleavings(result.groups),
    ...(isCut(result)
      ? [`rows of the specification cut before and after: ${rows.covered} of ${rows.total}`]
      : []),
    ...(checkersOff.length === 0 ? [] : [pc.yellow(`not looked at: ${checkersOff.join(", ")}`)]),
    ...(notReached.length === 0 ? [] : [pc.yellow(`never reached: ${notReached.join(", ")}`)]),
    ...(recoveries.deaths === 0
      ? []
      : [
          `recoveries executed: ${recoveries.executed} for ${recoveries.deaths} deaths, ${recoveries.repeated} of them again; deaths that left the very same share one`,
        ]),
    ...(kills === undefined
      ? []
      : [`real processes killed: ${kills.kills}, which left ${kills.states} sessions`]),
    pc.dim(`seed ${seed}, ${(elapsedMs / 1000).toFixed(1)} s`),
  ];
}

/** What was gone through where all interleavings of races were explored. */
function interleavings(groups: readonly GroupResult[]): string[] {
  const explored = groups.flatMap((group) =>
    group.interleavings === undefined ? [] : [{ ...group.interleavings, runs: group.runs }],
  );
  if (explored.length === 0) return [];
  const sum = (key: "runs" | "states" | "transitions" | "merged") =>
    explored.reduce((total, one) => total + one[key], 0);
  return [
    `interleavings of races: ${sum("runs")} to their ends, ${sum("merged")} into a known state; ${sum("states")} states, ${sum("transitions")} transitions`,
  ];
}

/** Whether boundaries were what the exploration was about, or nothing was. */
function isCut({ coverage, groups }: Pick<ExploreResult, "coverage" | "groups">): boolean {
  const { boundaries, faults, orders } = coverage;
  const isElsewhere =
    faults !== undefined || orders !== undefined || groups.some(({ kind }) => kind === "fuzz");
  return boundaries.total > 0 || !isElsewhere;
}

/** What was looked at, of what there is. */
function covers(result: Pick<ExploreResult, "coverage" | "groups">): string[] {
  const { boundaries, deeper, faults, orders } = result.coverage;
  const line = (what: string, part: { covered: number; total: number }, more = "") => {
    const text = `${what} ${part.covered} of ${part.total} (${percentOf(part)} %)${more}`;
    return part.covered === part.total ? text : pc.yellow(text);
  };
  return [
    ...(isCut(result) ? [line("boundaries", boundaries, unplannedOf(boundaries))] : []),
    ...(deeper === undefined ? [] : [`third and later deaths: ${deeper.cut} of ${deeper.total}`]),
    ...(orders === undefined ? [] : [line("orders of races, each proven from its timeline:", orders)]),
    ...(faults === undefined
      ? []
      : [
          line("faults", faults, `, recoveries executed from ${faults.recoveries}`),
          ...firedLines(result.coverage.fired ?? []),
        ]),
  ];
}

/** That this is a part, and of what. */
function shardOf({ shard }: ExploreResult): string[] {
  if (shard === undefined) return [];
  const { index, count, units } = shard;
  return [
    `shard ${index}/${count}: ${units.explored} of ${units.total} units; \`crashproof merge\` puts the --json files of all shards together`,
  ];
}

/** More kinds of faults than these are counted; those of which not each fired are always named. */
const FAULT_KINDS_MAX = 12;

/** How often the faults of each kind fired; deaths are told of by their boundaries. */
function firedLines(fired: readonly Fired[]): string[] {
  const groups = [...new Set(fired.map(({ group }) => group))].filter((group) => FAULTY.has(group));
  return groups.map((group) => {
    const kinds = fired.filter((one) => one.group === group);
    const silent = kinds.filter((one) => one.fired < one.total);
    const isShort = kinds.length > FAULT_KINDS_MAX;
    const words = (isShort ? silent : kinds).map((one) =>
      one.fired < one.total
        ? pc.yellow(`${one.fault} ${one.fired} of ${one.total}`)
        : `${one.fault} ${one.fired}`,
    );
    const count = `${kinds.length - silent.length} of ${kinds.length} kinds fired wherever they were to`;
    return `  ${group}: ${[...(isShort ? [count] : []), ...words].join(", ")}`;
  });
}

const FAULTY: ReadonlySet<GroupKind> = new Set(["torn", "disk-faults", "world-faults", "lease"]);

/** What a sample leaves. */
function unplannedOf({ unplanned = 0 }: Coverage["boundaries"]): string {
  return unplanned === 0 ? "" : `; ${unplanned} more are left to \`crashproof crash-points\``;
}

/** Rounded down, so that 100.0 is said of nothing less. */
function percentOf({ covered, total }: Coverage["boundaries"]): string {
  return (total === 0 ? 0 : Math.floor((1000 * covered) / total) / 10).toFixed(1);
}

function verdictWord(result: Decisive): string {
  const verdict = overallVerdict(result);
  return COLOURS[verdict](pc.bold(verdict));
}

const COLOURS = { survived: pc.green, violated: pc.red, inconclusive: pc.yellow } as const;

/** What nobody promises, as it was met. */
function limits(all: readonly Limit[]): string[] {
  return all.flatMap(({ subject, signature, message, runs, example }) => [
    "",
    `${pc.cyan("not promised")} by ${subject}: ${signature} (${runs} ${runs === 1 ? "run" : "runs"}, not counted above)`,
    `  ${message.replaceAll("\n", "\n  ")}`,
    `  ${pc.bold(`npx crashproof repro '${example}'`)}`,
  ]);
}

function failures(all: readonly Failure[]): string[] {
  const bySignature = new Map<string, Failure[]>();
  for (const failure of all) {
    const key = `${failure.checker}\u0000${failure.signature}`;
    bySignature.set(key, [...(bySignature.get(key) ?? []), failure]);
  }
  return [...bySignature.values()].flatMap(describe);
}

/** Failures of one signature. What is said is said of the first of them. */
function describe(same: readonly Failure[]): string[] {
  const [first] = same;
  if (first === undefined) return [];
  const colour = first.verdict === "violated" ? pc.red : pc.yellow;
  const more = same.length - RUNS_PER_SIGNATURE_MAX;
  return [
    "",
    `${colour(first.verdict)} ${first.checker}: ${first.signature}${same.length > 1 ? ` (${same.length} runs)` : ""}`,
    `  ${first.message.replaceAll("\n", "\n  ")}`,
    ...same.slice(0, RUNS_PER_SIGNATURE_MAX).map(({ repro }) => `  ${pc.bold(repro)}`),
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ];
}
