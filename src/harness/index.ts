/**
 * `harness`: drives operations over a session. Start with `agent-harness.ts` (what an application uses), then
 * `effects.ts` (the places where a process can die) and `interpreter.ts` (the loop between them).
 */

export type { AgentEventSink, AgentLoopEvent } from "./agent-events.ts";
export { AgentHarness } from "./agent-harness.ts";
export { type AgentLoopConfig, runAgentLoop } from "./agent-loop.ts";
export { type StreamAssistantConfig, streamAssistant } from "./agent-request.ts";
export {
  type ExecutedToolCall,
  executeToolBatch,
  executeToolCall,
  type FinalizedToolCall,
  finalizeToolCall,
  type ImmediateOutcome,
  type PreparedToolCall,
  prepareToolCall,
  type ToolCallbacks,
} from "./agent-tools.ts";
export type {
  BranchSummaryResult,
  CompactResult,
  HookPreparation,
} from "./decision-hooks.ts";
export {
  Closed,
  HarnessClosed,
  HarnessFault,
  InvalidLane,
  InvalidMessage,
  InvalidNavigation,
  LaneBusy,
  LaneExists,
  MissingIdentities,
  NoActiveOperation,
  NoActiveRun,
  NothingToCompact,
  NothingToResume,
  UnknownSkill,
  UnknownTarget,
  UnknownTemplate,
} from "./errors.ts";
export type {
  EventListener,
  Events,
  HarnessEvent,
  HarnessEventType,
  LaneEvent,
  QueuedItem,
  SettingName,
} from "./event-types.ts";
export type {
  BeforeResumePrepared,
  HookHandler,
  HookInvocation,
  HookMap,
  HookName,
  Hooks,
  RequestStep,
} from "./hooks.ts";
export type { HarnessLane } from "./lane.ts";
export type { LaneInfo } from "./lane-creation.ts";
export type { AgentLane } from "./main-lane.ts";
export type { ActionInfo } from "./manual-drive.ts";
export type { AgentHarnessOptions } from "./options.ts";
export type {
  CompactionOutcome,
  CompactionResult,
  NavigationOutcome,
  NavigationResult,
  OptionalFinalAssistant,
  RecordUsageResult,
  ResumeOutcome,
  ResumeResult,
  RunOutcome,
  RunResult,
  SuspendedOperation,
} from "./outcomes.ts";
export { repairForProvider, toProviderMessages } from "./provider-messages.ts";
export type { RecordUsageOptions } from "./record-usage.ts";
export type { PromptTemplate, Resources, Skill } from "./resources.ts";
export { type RestoredLane, restoreLanes } from "./restore.ts";
export type { SettingsOptions } from "./settings.ts";
export type { CompactOptions, NavigateOptions } from "./structural-acceptance.ts";
export type { SpanAttributes, SpanName, TelemetryContext, TelemetrySpan } from "./telemetry.ts";
export type { LaneSnapshot, PendingWrite, SessionSnapshot, WatchHandle } from "./watch.ts";
