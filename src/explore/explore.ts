/**
 * `explore(plan) → ExploreResult`: everything the command line does is this function first.
 *
 * For each scenario: each subject is cut at every boundary (`crash/`); the subjects of one family must agree on what
 * they recovered to, cut by cut; each drive must leave the same durable state; and real processes are killed where the
 * plan says so, and must leave what the simulation left.
 */
import { type CutRef, cutRefName, formatRunId, type Scenario, unscheduled, World } from "../faults/index.ts";
import { type Clock, VirtualClock } from "../foundation/index.ts";
import type { Subject, View } from "../subject/index.ts";
import type { KillPool } from "../subprocess/index.ts";
import { collect, GroupTally } from "./collect.ts";
import { type CrashPlan, type CrashSink, exploreCrashes, runIdOf } from "./crash/crash.ts";
import { type DeterminismPlan, exploreDeterminism } from "./determinism/determinism.ts";
import { type DiskFaultsPlan, exploreDiskFaults } from "./disk-faults/disk-faults.ts";
import type { FaultSink } from "./fault-sink.ts";
import { judge } from "./judgement.ts";
import { DeathCollector } from "./kill/deaths.ts";
import { canBeKilled, exploreKills, type KillTarget, sampleTarget } from "./kill/kill.ts";
import { exploreRaces, type RacesPlan, skippedRaces } from "./race/races.ts";
import type { ExploreResult, Judgement, Skipped } from "./result.ts";
import { firstStanding, type RunContext, runToEnd } from "./standing.ts";
import { exploreTakeovers } from "./takeover.ts";
import { exploreTorn, type TornPlan } from "./torn/torn.ts";
import { Watchdog } from "./watchdog.ts";

/** What to explore. */
export interface ExplorePlan {
  readonly scenarios: readonly Scenario[];
  readonly subjects: readonly Subject[];
  readonly seed: number;
  /** Deaths in one run. */
  readonly depth: number;
  /** Boundaries to leave out, by label and occurrence. They stay uncovered, and the result inconclusive. */
  readonly skip: readonly string[];
  readonly checkersOff: readonly string[];
  /** Whether a recovery is executed for every death, also where several left the very same; see `crash/recoveries.ts`. */
  readonly recoverEach?: boolean;
  /** Which real processes to kill; see `kill/`. */
  readonly kill: "none" | "sample" | "all";
  /** Whether boundaries are cut at all: yes, unless only something else is to be looked at. */
  readonly cuts?: boolean;
  /** How much of what commits leave is damaged, if anything; see `torn/`. */
  readonly torn?: TornPlan;
  /** How much of what a medium does is made to fail, if anything; see `disk-faults/`. */
  readonly diskFaults?: DiskFaultsPlan;
  /** How much is executed twice, if anything; see `determinism/`. */
  readonly determinism?: DeterminismPlan;
  /** Which races are run in both orders, if any; see `race/`. */
  readonly races?: RacesPlan;
  /** For the head of the result. */
  readonly version: string;
  readonly command: string;
}

/** What an exploration needs from the host. */
export interface ExploreHost {
  readonly clock: Clock;
  /** An empty folder for disks that need files. */
  readonly folder: string;
  /** Children to kill, if the plan kills; see {@link ExplorePlan.kill}. */
  readonly killPool?: KillPool;
  /** Told after each run. */
  progress?(done: Progress): void;
}

export interface Progress {
  readonly group: string;
  readonly runCount: number;
}

/** Runs the plan. */
export async function explore(plan: ExplorePlan, host: ExploreHost): Promise<ExploreResult> {
  const startMs = host.clock.now();
  const watchdog = new Watchdog(host.clock);
  const groups: GroupTally[] = [];
  const toKill: KillTarget[] = [];
  const skips = new Skips(plan.skip);
  try {
    for (const scenario of plan.scenarios) {
      if (plan.cuts !== false) {
        groups.push(...(await exploreScenario(plan, skips, host, watchdog, scenario, toKill)));
      }
      groups.push(...(await mediumGroups(plan, host, watchdog, scenario)));
      groups.push(...(await determinismGroups(plan, host, watchdog, scenario)));
    }
    if (plan.races !== undefined) groups.push(...(await raceGroups(plan, plan.races, host, watchdog)));
    groups.push(...(await killGroups(plan, host, toKill)));
  } finally {
    watchdog.stop();
  }
  const { version, seed, command, checkersOff } = plan;
  const rows = new Map(plan.subjects.map((subject) => [subject.id, subject.rows]));
  const kills = toKill.length === 0 ? undefined : host.killPool?.counts;
  const elapsedMs = host.clock.now() - startMs;
  const head = {
    version,
    seed,
    command,
    elapsedMs,
    kills,
    skipped: [...skippedBy(plan), ...skippedRaces(plan.races, plan.subjects)],
    checkersOff,
    notReached: skips.notReached,
  };
  return collect(groups, head, rows);
}

/** What a subject cannot run is said, not left out in silence. */
function skippedBy({ scenarios, subjects }: ExplorePlan): Skipped[] {
  return scenarios.flatMap((scenario) =>
    subjects.flatMap((subject) => {
      const reason = subject.skips?.(scenario);
      return reason === undefined ? [] : [{ scenario: scenario.name, subject: subject.id, reason }];
    }),
  );
}

async function exploreScenario(
  plan: ExplorePlan,
  skips: Skips,
  host: ExploreHost,
  watchdog: Watchdog,
  scenario: Scenario,
  toKill: KillTarget[],
): Promise<GroupTally[]> {
  const groups: GroupTally[] = [];
  const agreement = new Agreement(scenario, plan);
  for (const subject of plan.subjects.filter((able) => able.skips?.(scenario) === undefined)) {
    const context = runContext(scenario, subject, plan.seed, host, watchdog, plan.checkersOff);
    const tally = new GroupTally("crash", scenario.name, subject.id, plan.checkersOff);
    const second = new GroupTally("second", scenario.name, subject.id, plan.checkersOff);
    const startMs = host.clock.now();
    const deaths = new DeathCollector();
    const kills = plan.kill !== "none" && canBeKilled(subject);
    const sink = crashSink(plan.depth === 1 ? [tally, second] : [tally, tally], agreement, subject, host);
    if (kills) toKill.push({ context, deaths: deaths.deaths });
    const reference = await exploreCrashes(
      context,
      crashPlan(plan, skips),
      kills ? { ...sink, dying: deaths.dying } : sink,
    );
    tally.elapsedMs = host.clock.now() - startMs;
    groups.push(tally);
    if (second.boundaries.total.length > 0) groups.push(second);
    if (reference !== undefined) groups.push(...(await drivesGroup(context, reference)));
    if (subject.grade === "multi-writer") groups.push(await takeoverGroup(plan, skips, context));
  }
  return [...groups, ...agreement.groups()];
}

/** What the media of a scenario's subjects go through. */
async function mediumGroups(
  plan: ExplorePlan,
  host: ExploreHost,
  watchdog: Watchdog,
  scenario: Scenario,
): Promise<GroupTally[]> {
  const groups: GroupTally[] = [];
  for (const subject of plan.subjects.filter((able) => able.skips?.(scenario) === undefined)) {
    const context = runContext(scenario, subject, plan.seed, host, watchdog, plan.checkersOff);
    const { torn, diskFaults } = plan;
    if (torn !== undefined && isOf(scenario, torn)) {
      groups.push(await faultGroup(plan, host, context, "torn", (sink) => exploreTorn(context, torn, sink)));
    }
    if (diskFaults !== undefined && isOf(scenario, diskFaults)) {
      const work = (sink: FaultSink) => exploreDiskFaults(context, diskFaults, sink);
      groups.push(await faultGroup(plan, host, context, "disk-faults", work));
    }
  }
  // A medium that has no bytes, or cannot fail, has nothing that could be looked at.
  return groups.filter(({ faults }) => faults.total > 0);
}

/** Runs that are executed twice. */
async function determinismGroups(
  plan: ExplorePlan,
  host: ExploreHost,
  watchdog: Watchdog,
  scenario: Scenario,
): Promise<GroupTally[]> {
  const { determinism } = plan;
  if (determinism === undefined || !isOf(scenario, determinism)) return [];
  const groups: GroupTally[] = [];
  for (const subject of plan.subjects.filter((able) => able.skips?.(scenario) === undefined)) {
    const context = runContext(scenario, subject, plan.seed, host, watchdog, plan.checkersOff);
    const tally = new GroupTally("determinism", scenario.name, subject.id, plan.checkersOff);
    groups.push(tally);
    const startMs = host.clock.now();
    let runCount = 0;
    await exploreDeterminism(context, determinism, (judgement) => {
      tally.judged(judgement);
      host.progress?.({ group: `twice ${scenario.name} on ${subject.id}`, runCount: ++runCount });
    });
    tally.elapsedMs = host.clock.now() - startMs;
  }
  return groups;
}

function isOf({ name }: Scenario, { scenarios }: { readonly scenarios?: readonly string[] }): boolean {
  return scenarios === undefined || scenarios.includes(name);
}

async function faultGroup(
  { checkersOff }: ExplorePlan,
  host: ExploreHost,
  { scenario, subject }: RunContext,
  kind: "torn" | "disk-faults",
  work: (sink: FaultSink) => Promise<void>,
): Promise<GroupTally> {
  const tally = new GroupTally(kind, scenario.name, subject.id, checkersOff);
  const startMs = host.clock.now();
  let runCount = 0;
  await work({
    saw: (name) => tally.sawFault(name),
    judged: (judgement, name, isRecovered) => {
      tally.judgedFault(judgement, name, isRecovered);
      host.progress?.({ group: `${kind} of ${scenario.name} on ${subject.id}`, runCount: ++runCount });
    },
  });
  tally.elapsedMs = host.clock.now() - startMs;
  return tally;
}

/** Both orders of each race. */
function raceGroups(
  { subjects, seed, checkersOff, recoverEach = false }: ExplorePlan,
  races: RacesPlan,
  host: ExploreHost,
  watchdog: Watchdog,
): Promise<GroupTally[]> {
  return exploreRaces(races, subjects, {
    clock: host.clock,
    checkersOff,
    recoverEach,
    contextOf: (race, subject) => runContext(unscheduled(race), subject, seed, host, watchdog, checkersOff),
    progress: (done) => host.progress?.(done),
  });
}

/** What stays the same over all runs of a scenario on a subject. */
export function runContext(
  scenario: Scenario,
  subject: Subject,
  seed: number,
  { folder }: ExploreHost,
  watchdog: Watchdog,
  checkersOff: readonly string[],
): RunContext {
  const drive = subject.drives[0] ?? "automatic";
  return {
    subject,
    scenario,
    seed,
    drive,
    folder,
    watchdog,
    boundaryCap: BOUNDARY_CAP,
    checkersOff,
    isNamed: false,
  };
}

/** More boundaries than any scenario crosses; a life that reaches it loops. */
const BOUNDARY_CAP = 2_000;

function crashPlan({ depth, recoverEach = false }: ExplorePlan, skips: Skips): CrashPlan {
  return {
    depth,
    secondDeaths: depth === 1,
    recoverEach,
    wants: (_path, cut) => !skips.has(cut),
    enough: () => false,
  };
}

/** The boundaries that a plan leaves out. One that no run comes by was not left out: it may be misspelt. */
class Skips {
  readonly #notReached: Set<string>;
  readonly #names: readonly string[];

  constructor(names: readonly string[]) {
    this.#names = names;
    this.#notReached = new Set(names);
  }

  has({ label, occurrence }: CutRef): boolean {
    const found = this.#names.filter((name) => name === label || name === `${label}#${occurrence}`);
    for (const name of found) this.#notReached.delete(name);
    return found.length > 0;
  }

  get notReached(): readonly string[] {
    return [...this.#notReached];
  }
}

/** @param tallies of the first deaths of runs, and of the second ones. */
function crashSink(
  [first, second]: readonly [GroupTally, GroupTally],
  agreement: Agreement,
  subject: Subject,
  host: ExploreHost,
): CrashSink {
  let runCount = 0;
  return {
    saw: (path, cut) => {
      if (path.length === 0) first.saw(cut);
      else if (second !== first) second.saw(cut);
    },
    judged: (judgement, path, digest, how) => {
      const tally = path.length < 2 ? first : second;
      if (how !== undefined) tally.recovered(how);
      tally.judged(judgement, path);
      if (digest !== undefined) agreement.add(subject, path, digest);
      runCount++;
      host.progress?.({ group: `${first.scenario} on ${first.subject}`, runCount });
    },
  };
}

async function drivesGroup(context: RunContext, reference: View): Promise<GroupTally[]> {
  const judgements = await compareDrives(context, reference);
  if (judgements.length === 0) return [];
  const tally = new GroupTally("drives", context.scenario.name, context.subject.id, context.checkersOff);
  for (const judgement of judgements) tally.judged(judgement);
  return [tally];
}

/** Real processes die the same deaths, and must leave the same state. */
async function killGroups(
  plan: ExplorePlan,
  host: ExploreHost,
  targets: readonly KillTarget[],
): Promise<GroupTally[]> {
  if (targets.length === 0) return [];
  if (host.killPool === undefined)
    throw new Error("the plan kills real processes, and no pool of them was given");
  const wanted = plan.kill === "all" ? targets : targets.map((target) => sampleTarget(target, KILLS_SAMPLED));
  const tallies = new Map<KillTarget, GroupTally>();
  for (const target of wanted) {
    const { scenario, subject } = target.context;
    const tally = new GroupTally("kill", scenario.name, subject.id, plan.checkersOff);
    for (const { cut } of target.deaths) tally.saw(cut);
    tallies.set(target, tally);
  }
  const startMs = host.clock.now();
  let runCount = 0;
  await exploreKills(wanted, host.killPool, host.folder, (target, judgement, cut) => {
    const tally = tallies.get(target);
    tally?.judged(judgement, [cut]);
    if (tally !== undefined) tally.elapsedMs = host.clock.now() - startMs;
    host.progress?.({ group: "real kills", runCount: ++runCount });
  });
  return [...tallies.values()];
}

/** How many boundaries of a scenario on a subject a sample kills for real. */
const KILLS_SAMPLED = 6;

/** Another process takes over from a stalled owner, before each commit. */
async function takeoverGroup(plan: ExplorePlan, skips: Skips, context: RunContext): Promise<GroupTally> {
  const tally = new GroupTally("takeover", context.scenario.name, context.subject.id, plan.checkersOff);
  await exploreTakeovers(context, {
    wants: (cut) => {
      tally.saw(cut);
      return !skips.has(cut);
    },
    judged: (judgement, cut) => tally.judged(judgement, cut && [cut]),
  });
  return tally;
}

/** Every further drive of a subject must leave, byte for byte, what the first one left (design §3.9). */
export async function compareDrives(context: RunContext, reference: View): Promise<Judgement[]> {
  const judgements: Judgement[] = [];
  for (const drive of context.subject.drives.slice(1)) {
    const start = await firstStanding(context, new World(context.scenario, new VirtualClock()));
    const end = await runToEnd({ ...context, drive }, start);
    const judgement = judge(runIdOf(context, "drives", []), end);
    const differs = end.kind === "settled" && end.view.exact !== reference.exact;
    const violation = {
      checker: "drives-agree",
      signature: `drive-differs:${drive}`,
      message: `driven as ${drive}, the run left another durable state than driven as ${context.drive}`,
    };
    judgements.push(differs ? { ...judgement, violations: [...judgement.violations, violation] } : judgement);
    start.disk.dispose();
  }
  return judgements;
}

/** What the subjects of each family recovered to, cut by cut (design §3.8). */
class Agreement {
  readonly #scenario: Scenario;
  readonly #seed: number;
  readonly #checkersOff: readonly string[];
  /** family → cuts → subject → digest */
  readonly #families = new Map<
    string,
    Map<string, { path: readonly CutRef[]; digests: Map<string, string> }>
  >();

  constructor(scenario: Scenario, { seed, checkersOff }: ExplorePlan) {
    this.#scenario = scenario;
    this.#seed = seed;
    this.#checkersOff = checkersOff;
  }

  add(subject: Subject, path: readonly CutRef[], digest: string): void {
    // Where a commit is torn depends on the medium; what it recovers to does not, but no other medium has the cut.
    if (path.some((cut) => cut.bytesWritten !== undefined)) return;
    const cuts = this.#families.get(subject.family) ?? new Map();
    this.#families.set(subject.family, cuts);
    const name = path.map(cutRefName).join("+");
    const entry = cuts.get(name) ?? { path, digests: new Map<string, string>() };
    cuts.set(name, entry);
    entry.digests.set(subject.id, digest);
  }

  groups(): GroupTally[] {
    return [...this.#families].flatMap(([family, cuts]) => {
      const comparable = [...cuts.values()].filter(({ digests }) => digests.size > 1);
      if (comparable.length === 0) return [];
      const tally = new GroupTally("backends", this.#scenario.name, family, this.#checkersOff);
      for (const { path, digests } of comparable) tally.judged(this.#judge(path, digests));
      return [tally];
    });
  }

  #judge(path: readonly CutRef[], digests: ReadonlyMap<string, string>): Judgement {
    const id = formatRunId({
      kind: "backends",
      scenario: this.#scenario.name,
      subject: [...digests.keys()].join("="),
      cuts: path,
      seed: this.#seed,
    });
    if (new Set(digests.values()).size === 1) return { id, violations: [] };
    const sides = new Map<string, string[]>();
    for (const [subject, digest] of digests) sides.set(digest, [...(sides.get(digest) ?? []), subject]);
    const message = `the same run recovered differently: ${[...sides.values()].map((side) => side.join(" = ")).join(" ≠ ")}`;
    return { id, violations: [{ checker: "backends-agree", signature: "backends-differ", message }] };
  }
}
