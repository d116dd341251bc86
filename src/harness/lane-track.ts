/**
 * What a harness remembers of a lane for those who watch it: the newest durable state, and what this process is doing.
 *
 * The durable part follows the commits, and is there because an event says what a commit changed. The other part is
 * lost with the process: a message that streams, tools that run. Nothing here decides anything.
 */
import type {
  AgentToolResult,
  AssistantMessage,
  LaneConfiguration,
  Operation,
  OperationState,
  ToolResultMessage,
} from "../model/index.ts";
import type { HarnessEvent } from "./event-types.ts";
import type { TelemetryContext } from "./telemetry.ts";

/** A turn that is open: a generation or a poll, and the tools that it asks for. */
export interface OpenTurn {
  readonly turnId: string;
  /** The response, once it is settled. */
  message: AssistantMessage | undefined;
  /** Results that are placed, by whatever process, in source order. */
  readonly toolResults: ToolResultMessage[];
}

export interface RunningTool {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: unknown;
  partialResult?: AgentToolResult;
}

/** See the module header. */
export interface LaneTrack {
  readonly lane: string;
  configuration: LaneConfiguration | undefined;
  pendingNextRun: readonly string[];
  operation: Operation | undefined;
  state: OperationState | undefined;
  turn: OpenTurn | undefined;
  /** The newest response of the operation. */
  latestAssistant: { readonly entryId: string; readonly message: AssistantMessage } | undefined;
  /** The operation was found open when the harness was made. */
  isRestored: boolean;
  /** A run that this process stopped driving: it waits for a `resume()`. */
  isSuspended: boolean;
  streamingMessage: AssistantMessage | undefined;
  readonly runningTools: Map<string, RunningTool>;
  /** In which span its drive is now, while there is one. */
  spanNow: (() => TelemetryContext) | undefined;
}

export function newLaneTrack(lane: string): LaneTrack {
  return {
    lane,
    configuration: undefined,
    pendingNextRun: [],
    operation: undefined,
    state: undefined,
    turn: undefined,
    latestAssistant: undefined,
    isRestored: false,
    isSuspended: false,
    streamingMessage: undefined,
    runningTools: new Map(),
    spanNow: undefined,
  };
}

/** Forgets everything about the operation. */
export function forgetOperation(track: LaneTrack): void {
  track.operation = undefined;
  track.state = undefined;
  track.turn = undefined;
  track.latestAssistant = undefined;
  track.isRestored = false;
  track.isSuspended = false;
  track.streamingMessage = undefined;
  track.runningTools.clear();
}

/** Follows what this process is doing, event by event. */
export function followActivity(track: LaneTrack, event: HarnessEvent): void {
  switch (event.type) {
    case "message_start":
    case "message_update":
    case "message_end":
      // Only a response streams; a message that is simply said is in the transcript at once.
      if (event.message.role === "assistant" && event.runId !== undefined) {
        track.streamingMessage = event.message as AssistantMessage;
      }
      return;
    case "entry_added":
      if (event.entry.type === "message" && event.entry.message.role === "assistant") {
        track.streamingMessage = undefined;
      }
      return;
    case "tool_start":
      track.runningTools.set(event.toolCallId, {
        toolCallId: event.toolCallId,
        toolName: event.toolName,
        args: event.args,
      });
      return;
    case "tool_update": {
      const running = track.runningTools.get(event.toolCallId);
      if (running !== undefined) running.partialResult = event.partialResult;
      return;
    }
    case "tool_end":
      track.runningTools.delete(event.toolCallId);
      return;
    default:
      return;
  }
}
