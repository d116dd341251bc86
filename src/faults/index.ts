/**
 * `faults`: the gate, the scripted world, boundaries and cuts, scenarios as data, the timeline. Of the
 * systems under test it knows the Storage contract alone. */
export {
  type Boundary,
  BoundaryCounter,
  type BoundaryKind,
  boundaryName,
  type Cut,
  cutName,
  type Position,
} from "./boundary.ts";
export { FileLedger, readLedger } from "./file-ledger.ts";
export { Gate } from "./gate.ts";
export {
  InstrumentedStorage,
  type Instruments,
  type RecordedCommit,
  type RecordedFailure,
} from "./instrumented-storage.ts";
export { type MediumStop, stopsIn } from "./medium-stop.ts";
export {
  type CutRef,
  cutRefName,
  DEFAULT_SEED,
  type FaultyKind,
  formatRunId,
  InvalidRunId,
  parseCut,
  parseRunId,
  type RunId,
  type RunKind,
  refOf,
} from "./run-id.ts";
export {
  callsAt,
  declaredReplay,
  type MeanwhileCall,
  type Moment,
  type QueueCall,
  type Scenario,
  type ScenarioSettings,
  type ScriptedCall,
  type ScriptedReply,
  type ScriptedTool,
  type ScriptedToolBehaviour,
  type ScriptedUsage,
  type Stimulus,
} from "./scenario.ts";
export { Timeline, type TimelineEvent } from "./timeline.ts";
export {
  CANCELLATION_LABEL,
  EFFECT_LABELS,
  MemoryLedger,
  POLL_LABEL,
  REQUEST_LABEL,
  ScriptExhausted,
  type ScriptedToolAnswer,
  TIMER_LABEL,
  TOOL_LABEL,
  World,
  type WorldAccess,
  type WorldLedger,
} from "./world.ts";
export type { BillRow, CancellationRow, EffectRow, WorldRow } from "./world-row.ts";
