/**
 * The public state of a session: what a reader knows after the last committed line (spec §4).
 *
 * The state is closed: an absent member is missing, not undefined. It shows what was accepted, attempted and possibly
 * executed; what to do next is the planner's decision (`planner.ts`).
 */
import type { ConfigurationSnapshot } from "./configuration.ts";
import type { ToolStarted } from "./fact-types.ts";
import type { SessionHeader } from "./header.ts";
import type { Message, StopReason } from "./messages.ts";

/** Token counts; running totals stay within 2^53−1. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export type StepKind = "assistant" | "compaction";

/** The latest attempt of the operation's latest step. */
export interface StepState {
  readonly operationId: string;
  readonly stepId: string;
  readonly attemptId: string;
  readonly attempt: number;
  readonly stepKind: StepKind;
  readonly status: "attempting" | "settled" | "failed";
  readonly contextThroughEntryId: string;
  readonly configurationSnapshot: ConfigurationSnapshot;
  readonly configurationDigest: string;
  readonly settledEntryId?: string;
  readonly stopReason?: StopReason;
}

export type ReplayPolicy = "safe" | "never";

/** One started call: the durable intent, and whether its result has come. */
export interface ToolCallState extends Omit<ToolStarted, "type"> {
  readonly toolStartedId: string;
  readonly status: "pending" | "completed";
}

export interface IdleState {
  readonly kind: "idle";
}

export interface RunState {
  readonly kind: "run";
  readonly operationId: string;
  readonly inputEntryId: string;
  readonly step?: StepState;
  readonly toolCalls: readonly ToolCallState[];
  readonly abortRequested: boolean;
}

export interface CompactionState {
  readonly kind: "compaction";
  readonly operationId: string;
  readonly inputThroughEntryId: string;
  readonly resultEntryId: string;
  readonly step?: StepState;
  readonly abortRequested: boolean;
}

export type OperationState = IdleState | RunState | CompactionState;

export interface SessionState {
  readonly header: SessionHeader;
  /** Every message since the start of the file. */
  readonly transcript: readonly Message[];
  /** What the model is shown: the transcript, or the last summary with what was kept and what came after. */
  readonly activeContext: readonly Message[];
  readonly usage: Usage;
  readonly operation: OperationState;
  /** The length of the committed region in bytes; what stands after it in the file is a torn tail. */
  readonly repairedLength: number;
}

/** One message with the id of its entry, as a compaction keeps it. */
export interface RetainedMessage {
  readonly sourceEntryId: string;
  readonly message: Message;
}

/** What the entry of an unfinished compaction must say; fixed when the compaction started. */
export interface CompactionPlan {
  /** How many messages from the start of the file the summary stands for. */
  readonly compactedCount: number;
  readonly compactedThroughEntryId: string;
  readonly retainedTail: readonly RetainedMessage[];
}

/** The state with what recovery needs beside it and the public state does not show (spec §5.3, last paragraph). */
export interface RecoveryPoint {
  readonly state: SessionState;
  /** The entry that the next step continues from; absent before the first message. */
  readonly boundary?: string;
  /** Present while a compaction is unfinished. */
  readonly compaction?: CompactionPlan;
  /** Every message since the start of the file with the id of its entry; made when asked for. */
  sources(): readonly RetainedMessage[];
}
