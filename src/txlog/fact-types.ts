/**
 * Facts as a writer makes them (spec §3). The store adds `seq` and `timestamp`, and an `id` where none is given; a caller
 * gives one where another fact of the same transaction refers to it, or where an intent reserved it.
 */
import type { ConfigurationSnapshot } from "./configuration.ts";
import type { AssistantMessage, StopReason, ToolMessage, UserMessage } from "./messages.ts";
import type { ReplayPolicy, RetainedMessage, StepKind, Usage } from "./state.ts";
import type { PreExecutionReason } from "./synthetic.ts";
import type { StoredError } from "./values.ts";

export interface UserEntry {
  readonly type: "message";
  readonly message: UserMessage;
}

export interface AssistantEntry {
  readonly type: "message";
  readonly stepId: string;
  readonly attemptId: string;
  readonly stopReason: StopReason;
  readonly message: AssistantMessage;
}

/** The result of a started call; its fact has the id that the intent reserved. */
export interface ToolResultEntry {
  readonly type: "message";
  readonly stepId: string;
  readonly message: ToolMessage;
  readonly toolName: string;
  readonly toolStartedId: string;
  readonly result:
    | { readonly type: "success" | "error" }
    | { readonly type: "synthetic"; readonly reason: "interrupted" };
}

/** The answer to a call that was never started. */
export interface PreExecutionEntry {
  readonly type: "message";
  readonly stepId: string;
  readonly assistantEntryId: string;
  readonly toolIndex: number;
  readonly message: ToolMessage;
  readonly toolName: string;
  readonly result: { readonly type: "synthetic"; readonly reason: PreExecutionReason };
}

export interface CompactionSummaryEntry {
  readonly type: "compaction";
  readonly operationId: string;
  readonly summary: string;
  readonly compactedThroughEntryId: string;
  readonly retainedTail: readonly RetainedMessage[];
}

export type EntryBody =
  | UserEntry
  | AssistantEntry
  | ToolResultEntry
  | PreExecutionEntry
  | CompactionSummaryEntry;

export interface RunStarted {
  readonly type: "runStarted";
  readonly operationId: string;
  readonly operationKind: "run";
  readonly inputEntryId: string;
}

export interface CompactionStarted {
  readonly type: "compactionStarted";
  readonly operationId: string;
  readonly operationKind: "compaction";
  readonly inputThroughEntryId: string;
  readonly resultEntryId: string;
  readonly compactedEntryIds: readonly string[];
  readonly retainedEntryIds: readonly string[];
  readonly sourceDigest: string;
}

export interface StepAttempt {
  readonly type: "stepAttempt";
  readonly operationId: string;
  readonly stepId: string;
  readonly attemptId: string;
  readonly stepKind: StepKind;
  readonly attempt: number;
  readonly contextThroughEntryId: string;
  readonly configurationSnapshot: ConfigurationSnapshot;
  readonly configurationDigest: string;
}

export interface StepFailed {
  readonly type: "stepFailed";
  readonly operationId: string;
  readonly stepId: string;
  readonly attemptId: string;
  readonly error: StoredError;
}

export interface ToolStarted {
  readonly type: "toolStarted";
  readonly operationId: string;
  readonly stepId: string;
  readonly assistantEntryId: string;
  readonly toolIndex: number;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly arguments: { readonly [key: string]: unknown };
  readonly replay: ReplayPolicy;
  readonly replayKey: string;
  readonly environmentIdentity: string;
  readonly resultEntryId: string;
}

export interface AbortRequested {
  readonly type: "abortRequested";
  readonly operationId: string;
  readonly operationKind: "run" | "compaction";
  readonly phase: "model" | "tool" | "compact";
  readonly toolCallId?: string;
  readonly reason: "escape";
}

export interface OperationFinished {
  readonly type: "operationFinished";
  readonly operationId: string;
  readonly operationKind: "run" | "compaction";
  readonly outcome: "completed" | "aborted" | "failed";
  readonly completion?: "normal" | "truncated";
  readonly finalEntryId?: string;
  readonly error?: StoredError;
}

export type RecordBody =
  | RunStarted
  | CompactionStarted
  | StepAttempt
  | StepFailed
  | ToolStarted
  | AbortRequested
  | OperationFinished;

export interface NewEntry {
  readonly kind: "entry";
  readonly id?: string;
  readonly entry: EntryBody;
}

export interface NewRecord {
  readonly kind: "record";
  readonly id?: string;
  readonly record: RecordBody;
}

/** What one request or one tool cost; exactly one owner. */
export type NewUsage = {
  readonly kind: "usage";
  readonly id?: string;
  readonly operationId: string;
  readonly usage: Usage;
} & ({ readonly attemptId: string } | { readonly toolStartedId: string });

export type NewFact = NewEntry | NewRecord | NewUsage;

/** A fact as it stands in the file. `timestamp` is in Unix milliseconds. */
export type CommittedFact = NewFact & {
  readonly seq: number;
  readonly id: string;
  readonly timestamp: number;
};
