/** What the building blocks of an agent loop tell (message-types §8). */
import type {
  AgentMessage,
  AgentToolResult,
  AssistantMessage,
  AssistantMessageEvent,
  JsonObject,
  ToolResultMessage,
} from "../model/index.ts";

/** What a loop tells while it goes. */
export type AgentLoopEvent =
  | { type: "agent_start" | "turn_start" }
  | { type: "agent_end"; messages: AgentMessage[] }
  | { type: "turn_end"; message: AssistantMessage; toolResults: ToolResultMessage[] }
  | { type: "message_start" | "message_end"; message: AgentMessage }
  | { type: "message_update"; message: AgentMessage; assistantMessageEvent: AssistantMessageEvent }
  | { type: "tool_execution_start"; toolCallId: string; toolName: string; args: JsonObject }
  | {
      type: "tool_execution_update";
      toolCallId: string;
      toolName: string;
      args: JsonObject;
      partialResult: AgentToolResult;
    }
  | {
      type: "tool_execution_end";
      toolCallId: string;
      toolName: string;
      result: AgentToolResult;
      isError: boolean;
    };

/** Takes the events of a loop, and is waited for. */
export type AgentEventSink = (event: AgentLoopEvent) => void | Promise<void>;
