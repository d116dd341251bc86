/**
 * `model`: every durable shape of the harness, type and runtime schema together, and the validators over them.
 * Start with `operation-state.ts` (the program counter) and `register.ts` (what is stored where).
 */
export {
  type BranchSummaryEntry,
  type CompactionEntry,
  type CustomEntry,
  ENTRY_TYPES,
  type Entry,
  type EntryDraft,
  type EntryStructure,
  type EntryType,
  type MessageEntry,
} from "./entry.ts";
export type {
  Deferred,
  Generation,
  GenerationContext,
  StructuralDecision,
  SummaryContext,
  SummaryGeneration,
} from "./generation.ts";
export { issueOf, type ShapeIssue } from "./issue.ts";
export {
  isJsonObject,
  type JsonObject,
  JsonObjectSchema,
  type JsonValue,
  JsonValueSchema,
} from "./json.ts";
export {
  DEFAULT_THINKING_LEVEL,
  idleLaneState,
  type LaneConfiguration,
  LaneConfigurationSchema,
  type LaneLastResult,
  type LaneState,
  type ModelIdentity,
  type ThinkingLevel,
} from "./lane.ts";
export {
  type AgentMessage,
  AgentMessageSlotSchema,
  type AssistantDiagnostic,
  type AssistantMessage,
  type BashExecutionMessage,
  type BranchSummaryMessage,
  BUILT_IN_MESSAGE_SCHEMAS,
  type CompactionSummaryMessage,
  type CustomAgentMessages,
  type CustomMessage,
  type CustomMessageSchemas,
  type DeferredHandle,
  type ImageContent,
  type Message,
  NO_CUSTOM_SCHEMAS,
  type SettledAssistantMessage,
  type StopReason,
  type TextContent,
  type ThinkingContent,
  type ToolCallContent,
  type ToolResultMessage,
  type UserMessage,
} from "./message.ts";
export type {
  Operation,
  OperationError,
  OperationIntent,
  OperationKind,
} from "./operation.ts";
export {
  type CheckpointPhase,
  type CompactionState,
  type Continuation,
  type Control,
  type FailureProvenance,
  type Inbox,
  InboxSchema,
  type NavigationState,
  type OperationState,
  type RunPhase,
  type RunSettings,
  RunSettingsSchema,
  type RunState,
  type ToolBatch,
  type ToolCall,
} from "./operation-state.ts";
export { placed } from "./placement.ts";
export type {
  DurableFileOperations,
  DurableStructuralPreparation,
} from "./preparation.ts";
export { branchSummaryOf, compactionSummaryOf, isInContext } from "./projection.ts";
export type {
  AssistantMessageEvent,
  AssistantMessageEventStream,
  AssistantMessageProgressEvent,
  AssistantMessageTerminalEvent,
  DeferredFetchOptions,
  Model,
  ModelPrices,
  ModelPriceTier,
  Models,
  Provider,
  ProviderContext,
  ProviderStreamOptions,
} from "./provider.ts";
export {
  isRegisterNamespace,
  type PendingEntry,
  REGISTER_NAMESPACES,
  type Register,
  type RegisterNamespace,
  type RegisterValues,
} from "./register.ts";
export {
  type AgentHarnessStreamOptions,
  type AgentHarnessStreamOptionsPatch,
  AgentHarnessStreamOptionsSchema,
  type CompactionSettings,
  CompactionSettingsSchema,
  DEFAULT_COMPACTION_SETTINGS,
  DEFAULT_QUEUE_MODE,
  DEFAULT_RETRY_POLICY,
  DEFAULT_TOOL_EXECUTION_MODE,
  type DeferredOption,
  type NormalizedRetryPolicy,
  normalizeRetryPolicy,
  type QueueMode,
  QueueModeSchema,
  type RetryPolicy,
  RetryPolicySchema,
  type ToolExecutionMode,
  ToolExecutionModeSchema,
} from "./settings.ts";
export type {
  AgentHarnessTool,
  AgentTool,
  AgentToolResult,
  AgentToolUpdate,
  Tool,
  ToolReplay,
} from "./tool.ts";
export type {
  CommitResult,
  EntryInsertWrite,
  RegisterDeleteWrite,
  RegisterSetWrite,
  Transaction,
  UsageInsertWrite,
  Write,
} from "./transaction.ts";
export {
  addUsage,
  type Usage,
  type UsageCost,
  type UsageRow,
  type UsageRowDraft,
  zeroUsage,
} from "./usage.ts";
export {
  validateEntry,
  validateEntryDraft,
  validateMessage,
  validateOperationState,
  validateRegister,
  validateTransaction,
  validateUsageRow,
  validateUsageRowDraft,
  validateWrites,
} from "./validate.ts";
