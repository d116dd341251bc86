/**
 * `crashproof` as a library: `explore(plan, host)` gives a result; reporters are functions of it.
 *
 * The contract for systems of your own is `Subject`; the built-in ones are `builtInSubjects()`. The contract suites for
 * stores are at `crashproof/conformance`, the workloads at `crashproof/scenarios`.
 */
export type { CheckerRun, RunEnd, View, Violation } from "./checkers/index.ts";
export {
  EXPLORER_CHECKS,
  type ExploreHost,
  type ExplorePlan,
  type ExploreResult,
  explore,
  type Failure,
  type GroupResult,
  repro,
  type Verdict,
} from "./explore/index.ts";
export {
  type Cut,
  type CutRef,
  Gate,
  InstrumentedStorage,
  parseRunId,
  type Scenario,
  Timeline,
  type TimelineEvent,
  World,
} from "./faults/index.ts";
export { type Clock, RealClock, VirtualClock } from "./foundation/index.ts";
export { jsonReport, terminalReport, timelineReport } from "./report/index.ts";
export { JsonlStorage, MemoryDisk, MemoryStorage, SqliteStorage, type Storage } from "./storage/index.ts";
export {
  type Boot,
  builtInSubjects,
  type Disk,
  type Grade,
  type Incarnation,
  type Subject,
} from "./subject/index.ts";
export { childProgram, KillPool, openScratch } from "./subprocess/index.ts";
