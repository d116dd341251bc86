/**
 * What to explore, and what that needs from the host. A plan decides what is found; the host only how it is done: where
 * disks are, how many units at once, which of them (`units/unit.ts`).
 */
import type { Scenario } from "../faults/index.ts";
import type { Clock } from "../foundation/index.ts";
import type { Subject } from "../subject/index.ts";
import type { ChildProgram, KillPool } from "../subprocess/index.ts";
import type { DeterminismPlan } from "./determinism/determinism.ts";
import type { DiskFaultsPlan } from "./disk-faults/disk-faults.ts";
import type { FuzzPlan } from "./fuzz/fuzz.ts";
import type { LeasesPlan } from "./lease/leases.ts";
import type { Checkpoint } from "./parts/checkpoint.ts";
import type { Shard } from "./parts/shard.ts";
import type { RacesPlan } from "./race/races.ts";
import type { RunContext } from "./standing.ts";
import type { TornPlan } from "./torn/torn.ts";
import type { Watchdog } from "./watchdog.ts";
import type { WorkersOptions } from "./workers/workers.ts";
import type { WorldFaultsPlan } from "./world-faults/world-faults.ts";

/** What to explore. */
export interface ExplorePlan {
  readonly scenarios: readonly Scenario[];
  readonly subjects: readonly Subject[];
  readonly seed: number;
  /** Deaths in one run. */
  readonly depth: number;
  /** Of third and later deaths one in this many is died, drawn by the seed; all of them if absent. */
  readonly deeperOneIn?: number;
  /** Boundaries to leave out, by label and occurrence. They stay uncovered, and the result inconclusive. */
  readonly skip: readonly string[];
  readonly checkersOff: readonly string[];
  /** Whether a recovery is executed for every death, also where several left the very same; see `crash/recoveries.ts`. */
  readonly recoverEach?: boolean;
  /** Where not every boundary is cut, but a sample; see {@link SampledPlan}. */
  readonly sampled?: SampledPlan;
  /** Which real processes to kill; see `kill/`. */
  readonly kill: "none" | "sample" | "all";
  /** Whether boundaries are cut at all: yes, unless only something else is to be looked at. */
  readonly cuts?: boolean;
  /** How much of what commits leave is damaged, if anything; see `torn/`. */
  readonly torn?: TornPlan;
  /** How much of what a medium does is made to fail, if anything; see `disk-faults/`. */
  readonly diskFaults?: DiskFaultsPlan;
  /** How much of the world misbehaves, if anything; see `world-faults/`. */
  readonly worldFaults?: WorldFaultsPlan;
  /** How many rounds of real processes want one session, if any; see `lease/`. */
  readonly leases?: LeasesPlan;
  /** How much is executed twice, if anything; see `determinism/`. */
  readonly determinism?: DeterminismPlan;
  /** Which races are run in both orders, if any; see `race/`. */
  readonly races?: RacesPlan;
  /** How many generated workloads are run under generated faults, if any; see `fuzz/`. */
  readonly fuzz?: FuzzPlan;
  /** For the head of the result. */
  readonly version: string;
  readonly command: string;
}

/**
 * A sample of boundaries: of these scenarios on these subjects one in `oneIn`, chosen by a hash of its name and the seed,
 * the same on each subject. The others are not part of the plan, and are counted as that.
 */
export interface SampledPlan {
  readonly scenarios: readonly string[];
  readonly subjects: readonly string[];
  readonly oneIn: number;
}

/** What an exploration needs from the host. */
export interface ExploreHost {
  readonly clock: Clock;
  /** An empty folder for disks that need files. */
  readonly folder: string;
  /** Children to kill, if the plan kills; see {@link ExplorePlan.kill}. */
  readonly killPool?: KillPool;
  /** Which part of the plan to explore; absent: all of it. `code` stands for the program, see `parts/shard.ts`. */
  readonly shard?: Shard & { readonly code: string };
  /** Where records are kept, and those that are there already; see `parts/checkpoint.ts`. */
  readonly checkpoint?: Pick<Checkpoint, "records" | "keep">;
  /** What processes run that want one session, if the plan has any; the package's own program if absent. */
  readonly contenderProgram?: ChildProgram;
  /** Threads to explore in; absent: this one. */
  readonly workers?: Omit<WorkersOptions, "folder">;
  /** Told after each run. */
  progress?(done: Progress): void;
}

export interface Progress {
  readonly group: string;
  readonly runCount: number;
  /** That was the last one of the group. */
  readonly isOver?: true;
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
