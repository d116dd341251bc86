/**
 * What an id can name (spec §3.2). All ids of a session but the header's live in one space, so a file never uses one id
 * for two things.
 *
 * An id is named by the fact that carries it (`plainFact`, `message`, `summary`, `startedTool`), or by the fact that
 * mentions it first: `run`, `compaction` and `attempt` for good, `toolResult` and `compactionResult` until the entry comes
 * that carries the id. An attempt is named twice, by its own id and, if it is the first, by the id of its step.
 */
import type { DigestedConfiguration } from "./configuration.ts";
import type { Message, StopReason } from "./messages.ts";
import type { StepKind, ToolCallState } from "./state.ts";

/** A record or usage fact to which nothing but usage can refer. */
export interface PlainFact {
  readonly kind: "plainFact";
}

export interface MessageEntry {
  readonly kind: "message";
  readonly entryId: string;
  readonly message: Message;
  /** How many message entries the file holds up to and including this entry. */
  readonly messagesThrough: number;
  /** The attempt that settled with this entry; assistant messages only. Nothing asks who owns the others. */
  readonly attempt: Attempt | undefined;
  /** For each call whether it was started, or answered without a start. */
  readonly usedCalls: boolean[];
}

/** The entry of a compaction. */
export interface SummaryEntry {
  readonly kind: "summary";
  readonly entryId: string;
  /** How many message entries stand before it. */
  readonly messagesThrough: number;
  readonly attempt: Attempt;
}

/** One attempt. It is open until it settles, fails, or is repeated by the second attempt of its step. */
export interface Attempt {
  readonly kind: "attempt";
  readonly operationId: string;
  readonly stepId: string;
  readonly attemptId: string;
  readonly attempt: number;
  readonly stepKind: StepKind;
  readonly contextThroughEntryId: string;
  readonly configuration: DigestedConfiguration;
  isOpen: boolean;
  status: "attempting" | "settled" | "failed";
  settledEntryId: string | undefined;
  stopReason: StopReason | undefined;
}

export interface RunOperation {
  readonly kind: "run";
  readonly operationId: string;
  readonly inputEntryId: string;
  readonly toolCalls: StartedCall[];
  pendingCount: number;
  step: Attempt | undefined;
  abortRequested: boolean;
  finished: boolean;
}

export interface CompactionOperation {
  readonly kind: "compaction";
  readonly operationId: string;
  readonly inputThroughEntryId: string;
  readonly resultEntryId: string;
  readonly compactedEntryIds: readonly string[];
  step: Attempt | undefined;
  abortRequested: boolean;
  finished: boolean;
}

export type Operation = RunOperation | CompactionOperation;

/** A started call: its state stands in the list of the run that started it, and changes once. */
export interface StartedTool {
  readonly kind: "startedTool";
  readonly run: RunOperation;
  readonly call: StartedCall;
}

type StartedCall = Omit<ToolCallState, "status"> & { status: ToolCallState["status"] };

/** An id that was promised to the entry of a result. */
export interface Reservation {
  readonly kind: "toolResult" | "compactionResult";
}

export type FactNamed = PlainFact | MessageEntry | SummaryEntry | StartedTool;
export type Named = FactNamed | Attempt | Operation | Reservation;

export const PLAIN_FACT: PlainFact = { kind: "plainFact" };
export const TOOL_RESULT: Reservation = { kind: "toolResult" };
export const COMPACTION_RESULT: Reservation = { kind: "compactionResult" };

/** Whether an id is the id of a fact, not a reservation. */
export function isFact(named: Named | undefined): boolean {
  switch (named?.kind) {
    case "plainFact":
    case "message":
    case "summary":
    case "startedTool":
      return true;
    default:
      return false;
  }
}
