/**
 * `crashproof` as a library: `explore(plan, host)` gives a result; reporters are functions of it.
 *
 * The contract for systems of your own is `Subject`; the built-in ones are `builtInSubjects()`. A store of your own under
 * the harness that is here is a `Medium`; `harnessSubject(medium)` makes a subject of it. The contract suites for
 * stores are at `crashproof/conformance`, the workloads at `crashproof/scenarios`, the races at `crashproof/races`.
 */
export {
  type CheckerRun,
  NotCovered,
  type RecoveryExpectation,
  type RecoveryQuestion,
  type RunEnd,
  type View,
  type ViewReading,
  type Violation,
} from "./checkers/index.ts";
export {
  Checkpoint,
  CheckpointRefused,
  EXPLORER_CHECKS,
  type ExploreHost,
  type ExplorePlan,
  type ExploreResult,
  explore,
  type Failure,
  fingerprintOf,
  type GroupResult,
  MergeRefused,
  mergeShards,
  repro,
  type Shard,
  type Verdict,
} from "./explore/index.ts";
export {
  type Cut,
  type CutRef,
  Gate,
  InstrumentedStorage,
  parseRunId,
  type Race,
  type RaceCall,
  type RaceOrder,
  type Scenario,
  Timeline,
  type TimelineEvent,
  World,
} from "./faults/index.ts";
export {
  type Clock,
  Corruption,
  hostRepeatingTimer,
  NotJson,
  RealClock,
  VirtualClock,
} from "./foundation/index.ts";
export { INSPECT_SCHEMA, type Inspection, inspectionText, inspectPath } from "./inspect/index.ts";
export type { Transaction, Write } from "./model/index.ts";
export { jsonReport, terminalReport, timelineReport } from "./report/index.ts";
export {
  admitTransaction,
  CURRENT_STORAGE_VERSION,
  InvalidTransaction,
  JsonlStorage,
  LeaseLost,
  MemoryDisk,
  MemoryStorage,
  type SessionDump,
  type SessionMetadata,
  SqliteStorage,
  type Storage,
  StorageClosed,
  StorageFault,
  UnknownEntry,
} from "./storage/index.ts";
export {
  type Boot,
  builtInSubjects,
  type Disk,
  type Grade,
  harnessSubject,
  type Incarnation,
  type JudgeContext,
  type Medium,
  type OpenStore,
  type StoreLife,
  type Subject,
  type TornDisk,
} from "./subject/index.ts";
export { childProgram, KillPool, openScratch } from "./subprocess/index.ts";
