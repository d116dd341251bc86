/**
 * `txlog`: the transactional-session system, a durable agent session in one file of transactions (spec §1 to §6).
 *
 * See `README.md` for the map of this room.
 */
export {
  type ConfigurationSnapshot,
  type ConfigurationTool,
  configurationDigest,
} from "./configuration.ts";
export type { Decision, Effect, ProcessDeclaration } from "./driver/decide.ts";
export { type Accepted, type DriverParts, type Rest, SessionDriver } from "./driver/driver.ts";
export type * from "./fact-types.ts";
export { byteOffsetOfLine } from "./framing.ts";
export type { SessionHeader } from "./header.ts";
export { operationsIn, type PastOperation } from "./history.ts";
export { type Inspection, inspectionOf, inspectTxlog } from "./inspect.ts";
export type {
  AssistantMessage,
  Message,
  StopReason,
  ToolCall,
  ToolMessage,
  UserMessage,
} from "./messages.ts";
export type {
  AppendSyntheticPlan,
  BlockedPlan,
  BlockedReason,
  CloseAttemptPlan,
  CurrentProcess,
  DeclaredTool,
  FinishPlan,
  RecoveryPlan,
  StartStepPlan,
  StartToolPlan,
  SyntheticResult,
} from "./plan.ts";
export { planRecovery } from "./planner.ts";
export { recordedProcess } from "./recorded-process.ts";
export { Reduction, reduce } from "./reduction.ts";
export { EXPECTATIONS, type Refusal, type RefusalCode } from "./refusal.ts";
export type {
  CompactionPlan,
  OperationState,
  RecoveryPoint,
  ReplayPolicy,
  RetainedMessage,
  SessionState,
  StepState,
  ToolCallState,
  Usage,
} from "./state.ts";
export { SessionStoreError, type StoreErrorCode } from "./store/errors.ts";
export type { DirectoryEntry, SessionFile, SessionFiles } from "./store/files.ts";
export { sessionDirectory } from "./store/location.ts";
export { MemorySessionFiles } from "./store/memory-files.ts";
export { NodeSessionFiles } from "./store/node-files.ts";
export { createSession, type NewSession, openSession, type SessionHost } from "./store/open.ts";
export { FileSessionStore, type RecoverableStore, type SessionStore } from "./store/store.ts";
export { WriterLocks } from "./store/writer-locks.ts";
export type { SyntheticReason } from "./synthetic.ts";
export { labelOfTransaction, TRANSACTION_LABELS, type TransactionLabel } from "./transaction-label.ts";
export type { ModelReply, ModelRequest, RequestedCall, ToolExecution, ToolOutcome, World } from "./world.ts";
