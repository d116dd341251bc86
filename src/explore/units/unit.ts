/**
 * Units: what an exploration is put together from.
 *
 * Terms. *Unit*: a part of a plan that is explored by itself, such as the deaths of one scenario on one subject. *Record*:
 * what came of a unit, a plain JSON-safe value. *Family*: the units of one kind of run; a new kind of run is a family in
 * `families.ts`.
 *
 * Invariants.
 * 1. The units of a plan, their names and their order follow from the plan alone, in every process.
 * 2. A record follows from the plan and the unit alone, but for times: not from what is explored beside it, before it,
 *    by which process, or how often it was begun. So the same result is put together from the same records, whoever
 *    made them: one process, several workers, shards on several machines, an explorer that was killed and begun again.
 * 3. What can only be said of several units together (stores agree) is said of their records, when they are put together.
 */
import { type CutRef, cutRefName, type Scenario } from "../../faults/index.ts";
import { seededRandom } from "../../foundation/index.ts";
import type { Subject } from "../../subject/index.ts";
import { type ExploreHost, type ExplorePlan, runContext } from "../plan.ts";
import type { GroupKind, Kills } from "../result.ts";
import type { RunContext } from "../standing.ts";
import { type GroupRecord, GroupTally } from "../tally.ts";
import type { Watchdog } from "../watchdog.ts";
import type { Reached } from "./agreement.ts";

/** See the module header. */
export interface Unit {
  /** Of letters, digits and the signs of run ids: `crash/two-tools/jsonl`. */
  readonly id: string;
  run(work: UnitWork): Promise<UnitFinding>;
}

/** What came of a unit. */
export interface UnitFinding {
  readonly groups: readonly GroupRecord[];
  /** What runs recovered to, to be held against what they recovered to elsewhere. */
  readonly reached?: Reached;
  /** Real processes that were killed. */
  readonly kills?: Kills;
}

/** See the module header. */
export interface UnitRecord extends UnitFinding {
  readonly id: string;
  /** Of the boundaries that the plan leaves out, those that a run came by. */
  readonly skipsReached: readonly string[];
  /** Host milliseconds. */
  readonly elapsedMs: number;
}

/** The units of one kind of run. */
export interface UnitFamily {
  /** In the order in which a result shows them. */
  units(plan: ExplorePlan): readonly Unit[];
  /** The groups of its units as a result shows them, where a unit is but a part of a group. */
  merged?(groups: readonly GroupRecord[]): readonly GroupRecord[];
  /** What is said of the records of its units together; shown behind them. */
  together?(plan: ExplorePlan, records: readonly UnitRecord[]): readonly GroupRecord[];
}

/** What a unit works with. */
export interface UnitWork {
  readonly host: ExploreHost;
  readonly watchdog: Watchdog;
  readonly skips: Skips;
  /** Tells the host that one more run is over. */
  told(group: string): void;
}

/** A scenario on a subject that can run it. */
export interface Pair {
  readonly scenario: Scenario;
  readonly subject: Subject;
}

/** Every scenario of a plan on every subject that can run it; `only` names some scenarios. */
export function pairsOf({ scenarios, subjects }: ExplorePlan, only?: readonly string[]): readonly Pair[] {
  return scenarios
    .filter(({ name }) => only === undefined || only.includes(name))
    .flatMap((scenario) =>
      subjects
        .filter((subject) => subject.skips?.(scenario) === undefined)
        .map((subject) => ({ scenario, subject })),
    );
}

/** A unit of that kind for each pair. */
export function unitsOfPairs(
  kind: GroupKind,
  pairs: readonly Pair[],
  run: (pair: Pair, work: UnitWork) => Promise<UnitFinding>,
): readonly Unit[] {
  return pairs.map((pair) => ({
    id: `${kind}/${pair.scenario.name}/${pair.subject.id}`,
    run: (work) => run(pair, work),
  }));
}

/** Whether only a sample of the pair's boundaries is part of the plan. */
export function isSampled({ sampled }: ExplorePlan, { scenario, subject }: Pair): boolean {
  if (sampled === undefined) return false;
  return sampled.scenarios.includes(scenario.name) && sampled.subjects.includes(subject.id);
}

/** Whether a boundary of the pair is part of the plan; a commit that is torn at several places is one. */
export function isPlanned(plan: ExplorePlan, pair: Pair, { label, occurrence, position }: CutRef): boolean {
  if (!isSampled(plan, pair)) return true;
  const boundary = cutRefName({ label, occurrence, position });
  return (
    seededRandom(plan.seed, "sampled", pair.scenario.name, boundary).nextInt(plan.sampled?.oneIn ?? 1) === 0
  );
}

/** The context of the runs of a unit. */
export function contextOf(
  { seed, checkersOff }: ExplorePlan,
  { scenario, subject }: Pair,
  { host, watchdog }: UnitWork,
): RunContext {
  return runContext(scenario, subject, seed, host, watchdog, checkersOff);
}

/** Explores one group of a pair. */
export async function exploreGroup(
  kind: GroupKind,
  plan: ExplorePlan,
  pair: Pair,
  work: UnitWork,
  explore: (context: RunContext, tally: GroupTally) => Promise<void>,
): Promise<GroupTally> {
  const tally = new GroupTally(kind, pair.scenario.name, pair.subject.id, plan.checkersOff);
  await timed(work, tally, () => explore(contextOf(plan, pair, work), tally));
  return tally;
}

/** Runs `work` and adds the time that it took to the group. */
export async function timed<T>({ host }: UnitWork, tally: GroupTally, work: () => Promise<T>): Promise<T> {
  const startMs = host.clock.now();
  const done = await work();
  tally.elapsedMs += host.clock.now() - startMs;
  return done;
}

/** The boundaries that a plan leaves out. One that no run comes by was not left out: it may be misspelt. */
export class Skips {
  readonly #names: readonly string[];
  readonly #reached = new Set<string>();

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  has({ label, occurrence }: CutRef): boolean {
    const found = this.#names.filter((name) => name === label || name === `${label}#${occurrence}`);
    for (const name of found) this.#reached.add(name);
    return found.length > 0;
  }

  get reached(): readonly string[] {
    return [...this.#reached];
  }
}
