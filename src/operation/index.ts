/**
 * `operation`: the state machine of an operation, pure. `next-action.ts` says what comes next, `transition.ts` what
 * each event makes of the state and what is written for it, `validity.ts` which stored states may be executed.
 */
export { type BranchInput, type BranchPreparation, prepareBranch } from "./branch-preparation.ts";
export {
  type Classification,
  type ClassifiedAttempt,
  classify,
  normalizeForStorage,
  toolCallsOf,
} from "./classification.ts";
export {
  type CompactionInput,
  type CompactionPreparation,
  prepareCompaction,
} from "./compaction-preparation.ts";
export {
  estimateContextTokens,
  estimateTokens,
  shouldCompact,
  usageTokens,
  wholeTokens,
} from "./context-size.ts";
export { CORRUPTION_REASONS, type CorruptionReason } from "./corruption-reasons.ts";
export {
  type CurrentOperation,
  describeState,
  IllegalTransition,
  type Transition,
  toolArgumentsKey,
} from "./current.ts";
export { checkLastResult } from "./last-result.ts";
export {
  type Action,
  type EffectKey,
  generationKey,
  type MissingIdentities,
  missingIdentities,
  nextAction,
  type PlannerInputs,
  type ToolDeclaration,
  toolKey,
} from "./next-action.ts";
export { cancelDeferredKey, pollKey, runningCancellation } from "./next-deferred-action.ts";
export {
  type Conclusion,
  type StructuralHookDecision,
  type StructuralInputs,
  summaryKey,
} from "./next-structural.ts";
export { isOverflowMessage } from "./overflow-patterns.ts";
export { classifyPoll, type PollClassification } from "./poll-classification.ts";
export { type EntryReference, type References, referencesOf } from "./references.ts";
export { retryDelayMs, retryNotBefore } from "./retry.ts";
export { isRetryableMessage } from "./retryable-patterns.ts";
export {
  capturedConfiguration,
  customInstructionsOf,
  preparationKey,
  type Summary,
  structuralOf,
  structuralReason,
  summaryGenerationOf,
} from "./structural.ts";
export { type SummaryStage, stagesOf } from "./summary-attempt.ts";
export {
  CANCELLED_POLL_TEXT,
  cancelledRequestText,
  errorToolResult,
  interruptedRequestText,
  OPERATION_ERROR_CODES,
  type SyntheticToolReason,
  syntheticResponse,
  syntheticToolText,
} from "./synthetic.ts";
export { isRun, type OperationEvent, transition } from "./transition.ts";
export {
  type AcceptedRun,
  acceptRun,
  type CapturedItem,
  type NewMessage,
  type RunAcceptance,
} from "./transition-acceptance.ts";
export { drainedIds } from "./transition-control.ts";
export type { PollIntended, PollSettled } from "./transition-deferred.ts";
export type { GenerationSettled } from "./transition-generation.ts";
export {
  admitsItem,
  dueItems,
  type InboxConsumed,
  type ItemQueued,
  type ItemWithdrawn,
  type QueueName,
  queueNextRun,
  queueOf,
  withdrawNextRun,
} from "./transition-queues.ts";
export type { CompactionConclusion, Publication, StructuralEvent } from "./transition-structural.ts";
export {
  type AcceptedStructural,
  acceptCompaction,
  acceptNavigation,
  type NavigationRequest,
  type StructuralAcceptance,
} from "./transition-structural-acceptance.ts";
export { resultOf, type TerminalOutcome, type TerminalReads } from "./transition-terminal.ts";
export { isLastCall, type ToolCleared, type ToolSettled } from "./transition-tools.ts";
export { type AgreeingRegisters, checkRegisters, type LaneRegisters } from "./validity.ts";
export { checkReferences, type LoadedReferences } from "./validity-references.ts";
