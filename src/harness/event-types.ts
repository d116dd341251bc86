/**
 * What a harness tells (spec §5.5): one flat stream of events, each with its type.
 *
 * Terms. *Durable event*: says that something is committed and can be read; it comes after the commit, in the order of
 * the writes. *Lifecycle event*: says what this process is doing; nothing durable stands behind it. `recovery` marks
 * lifecycle events that `resume()` gives again in a new process; an event about a new entry never has it.
 *
 * Every event names its lane but those of the whole session: facts, faults and the settings of the harness. Events hold
 * what was said and done; who passes them on decides who may see them.
 */
import type {
  AgentMessage,
  AgentToolResult,
  AssistantMessage,
  AssistantMessageEvent,
  BranchSummaryEntry,
  CompactionEntry,
  DeferredHandle,
  Entry,
  EntryType,
  JsonValue,
  ModelIdentity,
  OperationError,
  ThinkingLevel,
  ToolResultMessage,
  Usage,
  UsageRow,
} from "../model/index.ts";
import type { MissingIdentities } from "../operation/index.ts";
import type { OptionalFinalAssistant } from "./outcomes.ts";

/** A message that waits in a queue, under the id of the entry that it becomes. */
export interface QueuedItem {
  readonly entryId: string;
  readonly message: AgentMessage;
}

export type RunEvent =
  | { type: "run_start"; runId: string }
  | { type: "run_resume"; runId: string }
  | { type: "run_suspend"; runId: string; reason: "deferred"; deferred: DeferredHandle }
  | { type: "run_suspend"; runId: string; reason: "missing_identities"; missing: MissingIdentities }
  | { type: "run_abort"; runId: string; steer: AgentMessage[]; followUp: AgentMessage[] }
  | ({ type: "run_end"; runId: string; leafId: string | null } & (
      | ({ outcome: "completed" | "aborted" } & OptionalFinalAssistant)
      | ({ outcome: "failed"; error: OperationError } & OptionalFinalAssistant)
    ));

export type TurnEvent =
  | { type: "turn_start"; runId: string; turnId: string }
  | {
      type: "turn_end";
      runId: string;
      turnId: string;
      message: AssistantMessage;
      toolResults: ToolResultMessage[];
    }
  | {
      type: "retry_scheduled";
      runId: string;
      step: string;
      attempt: number;
      maxAttempts: number;
      delayMs: number;
      errorMessage: string;
    }
  | { type: "retry_start"; runId: string; step: string; attempt: number }
  | {
      type: "retry_end";
      runId: string;
      step: string;
      attempt: number;
      success: boolean;
      finalError?: string;
    };

export type MessageEvent =
  | { type: "message_start"; runId?: string; message: AgentMessage }
  | { type: "message_update"; runId: string; message: AgentMessage; event: AssistantMessageEvent }
  | { type: "message_end"; runId?: string; message: AgentMessage; entryId?: string };

interface ToolSite {
  runId: string;
  turnId: string;
  toolCallId: string;
  toolName: string;
}

export type ToolEvent =
  | ({ type: "tool_start"; args: unknown } & ToolSite)
  | ({ type: "tool_update"; partialResult: AgentToolResult } & ToolSite)
  | ({ type: "tool_end"; result: AgentToolResult; isError: boolean; terminate: boolean } & ToolSite);

export type TreeEvent =
  | { type: "entry_added"; entry: Entry }
  | { type: "write_pending"; runId: string; entryId: string; entryType: EntryType }
  | { type: "queue_update"; steer: QueuedItem[]; followUp: QueuedItem[]; nextRun: QueuedItem[] };

type CompactionReason = "manual" | "threshold" | "overflow";

export type StructuralEvent =
  | { type: "compaction_start"; runId: string; reason: CompactionReason }
  | ({ type: "compaction_end"; runId: string; reason: CompactionReason } & (
      | { outcome: "completed"; entry: CompactionEntry; fromHook: boolean }
      | { outcome: "declined" | "aborted" }
      | { outcome: "failed"; error: OperationError }
    ))
  | { type: "navigation_start"; runId: string; targetId: string | null }
  | ({
      type: "navigation_end";
      runId: string;
      oldLeafId: string | null;
      newLeafId: string | null;
    } & (
      | { outcome: "completed"; summaryEntry?: BranchSummaryEntry }
      | { outcome: "declined" | "aborted" }
      | { outcome: "failed"; error: OperationError }
    ));

export type LaneConfigurationEvent = { type: "config_update" } & (
  | { property: "model"; value: ModelIdentity; previous: ModelIdentity }
  | { property: "thinkingLevel"; value: ThinkingLevel; previous: ThinkingLevel }
  | { property: "activeTools"; value: string[]; previous: string[] }
);

/** The settings of the harness; their values are read through its getters. */
export type SettingName =
  | "tools"
  | "resources"
  | "streamOptions"
  | "retryPolicy"
  | "compactionSettings"
  | "steeringMode"
  | "followUpMode";

export type FactEvent = { type: "fact_update" } & (
  | { fact: "name"; name: string | undefined }
  | { fact: "label"; targetId: string; label: string | undefined }
  | { fact: "custom"; key: string; value: JsonValue | undefined }
);

/** A handler or a listener of the application failed; the work goes on without it. */
export type HandlerErrorEvent = { type: "handler_error"; error: string; stack?: string } & (
  | { kind: "hook"; hook: string }
  | { kind: "event"; event: string }
);

/** What belongs to one lane. */
export type LaneEvent =
  | RunEvent
  | TurnEvent
  | MessageEvent
  | ToolEvent
  | TreeEvent
  | StructuralEvent
  | LaneConfigurationEvent
  | { type: "lane_created"; at: string | null };

/** What belongs to no lane. */
export type SessionEvent =
  | FactEvent
  | { type: "fault"; code: string; message: string }
  | { type: "config_update"; property: SettingName };

/** See the module header. `usage` names the lane that it comes from, and is told to everybody, for its totals. */
export type HarnessEvent =
  | (LaneEvent & { lane: string; recovery?: true })
  | (SessionEvent & { lane?: never; recovery?: never })
  | { type: "usage"; lane: string; row: UsageRow; totals: Usage; recovery?: never }
  | (HandlerErrorEvent & ({ lane: string; recovery?: true } | { lane?: never; recovery?: never }));

export type HarnessEventType = HarnessEvent["type"];

/** Takes events; whatever it does, and whether it fails, changes nothing. */
export type EventListener<E extends HarnessEvent = HarnessEvent> = (event: E) => void | Promise<void>;

/** Listening to a whole harness. */
export interface Events {
  /** Calls the listener for every event of a type from now on. Returns the way to take it back. */
  on<T extends HarnessEventType>(
    type: T,
    listener: EventListener<Extract<HarnessEvent, { type: T }>>,
  ): () => void;
}
