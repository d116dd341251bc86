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
export { firstUnproven, markOf, provenCount } from "./marks.ts";
export {
  type FaultOutcome,
  type FaultyLife,
  MediumFault,
  type MediumFaultKind,
} from "./medium-fault.ts";
export { type MediumStop, stopsIn } from "./medium-stop.ts";
export {
  CALL_LABEL,
  type Elsewhere,
  nameOf,
  OUTSIDE_END,
  type Race,
  type RaceCall,
  type RaceMoment,
  type RaceOrder,
  type ScheduledCall,
  type SettingCall,
  type Story,
  scheduled,
  unscheduled,
} from "./race.ts";
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
  type AskedWith,
  callsAt,
  declaredReplay,
  filledIn,
  isNoting,
  isStructural,
  type LaneScript,
  type MeanwhileCall,
  MODEL_LIMITS,
  type Moment,
  type NotingCall,
  type QueueCall,
  type Scenario,
  type ScenarioSettings,
  type ScriptedCall,
  type ScriptedDecision,
  type ScriptedReply,
  type ScriptedTool,
  type ScriptedToolBehaviour,
  type ScriptedUsage,
  type Stimulus,
  type StructuralCall,
  turnReply,
  turnsOf,
} from "./scenario.ts";
export { Timeline, type TimelineEvent } from "./timeline.ts";
export {
  CANCELLATION_LABEL,
  DECISION_LABEL,
  EFFECT_LABELS,
  MemoryLedger,
  POLL_LABEL,
  REQUEST_LABEL,
  ScriptExhausted,
  type ScriptedToolAnswer,
  SUMMARY_LABEL,
  summaryReply,
  TIMER_LABEL,
  TOOL_LABEL,
  World,
  type WorldAccess,
  type WorldLedger,
} from "./world.ts";
export {
  Disturbance,
  type DisturbanceKind,
  type HookFault,
  type ReplyFault,
  type ReplyPlace,
  type ToolFault,
  type WorldFaultKind,
} from "./world-fault.ts";
export type {
  BillRow,
  CancellationRow,
  DecisionRow,
  EffectRow,
  ShownMessage,
  SummaryRow,
  WorldRow,
} from "./world-row.ts";
export { shortened } from "./world-row.ts";
