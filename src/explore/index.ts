/** `explore`: plan, run, collect. Knows no system by name; asks the Subject contract only. */

export { EXPLORER_CHECKS, type ExplorerCheck, type ExplorerCheckName } from "./checks.ts";
export type { DeterminismPlan } from "./determinism/determinism.ts";
export type { DiskFaultsPlan } from "./disk-faults/disk-faults.ts";
export { explore } from "./explore.ts";
export type { Fired } from "./fired.ts";
export { MIXTURES, type Mixture } from "./fuzz/arbitrary.ts";
export type { CorpusCase, FuzzPlan } from "./fuzz/fuzz.ts";
export { type SimulatedDeath, simulateDeaths } from "./kill/deaths.ts";
export { exploreKills, type KillTarget } from "./kill/kill.ts";
export { exploreLeases, type LeasesPlan } from "./lease/leases.ts";
export { Checkpoint, type CheckpointRefusalCode, CheckpointRefused } from "./parts/checkpoint.ts";
export { type MergeRefusalCode, MergeRefused, mergeShards, type NamedResult } from "./parts/merge.ts";
export { fingerprintOf, type Shard, type ShardPart } from "./parts/shard.ts";
export { type ExploreHost, type ExplorePlan, type Progress, runContext } from "./plan.ts";
export type { RacesPlan } from "./race/races.ts";
export { type ReproResult, repro } from "./repro.ts";
export { expectedOf, type ReproParts } from "./repro-parts.ts";
export {
  type Coverage,
  type Decisive,
  type ExploreResult,
  type Failure,
  type Faults,
  type GroupKind,
  type GroupResult,
  type Judgement,
  type Limit,
  overallVerdict,
  RESULT_SCHEMA,
  type Recoveries,
  type Tally,
  type Verdict,
  verdictOf,
} from "./result.ts";
export type { TornPlan } from "./torn/torn.ts";
export { Watchdog } from "./watchdog.ts";
export { newKillPool, serveUnits } from "./workers/worker.ts";
export type { WorkersOptions } from "./workers/workers.ts";
export type { WorldFaultsPlan } from "./world-faults/world-faults.ts";
