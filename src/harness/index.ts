/**
 * `harness`: drives operations over a session. Start with `agent-harness.ts` (what an application uses), then
 * `effects.ts` (the places where a process can die) and `interpreter.ts` (the loop between them).
 */
export { AgentHarness, type AgentHarnessOptions } from "./agent-harness.ts";
export type {
  BeforeCompaction,
  BeforeNavigation,
  BranchSummaryResult,
  CompactResult,
  DecisionHooks,
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
  NotImplemented,
  UnknownSkill,
  UnknownTarget,
  UnknownTemplate,
} from "./errors.ts";
export type { HarnessLane } from "./lane.ts";
export type { ActionInfo } from "./manual-drive.ts";
export type {
  CompactionOutcome,
  CompactionResult,
  NavigationOutcome,
  NavigationResult,
  OptionalFinalAssistant,
  ResumeOutcome,
  ResumeResult,
  RunOutcome,
  RunResult,
  SuspendedOperation,
} from "./outcomes.ts";
export { repairForProvider, toProviderMessages } from "./provider-messages.ts";
export type { CompactOptions, NavigateOptions } from "./structural-acceptance.ts";
