/**
 * A loop of an agent without a session (spec §5.7): requests and batches of calls by turns, until a response asks for no call,
 * every call of a batch ends the loop, a response failed, or the signal is up.
 *
 * Told as: `agent_start`; per turn `turn_start`, the new messages of the caller in the first, the response, the executions and
 * results of its calls, `turn_end`; `agent_end` with every message that the loop added.
 *
 * Decided here: the specification has a loop stay compatible that it does not show, so this one has the events that are
 * listed (message-types §8), and the configuration of its stages.
 */
import type { AgentMessage, AgentTool, ToolExecutionMode, ToolResultMessage } from "../model/index.ts";
import type { AgentEventSink } from "./agent-events.ts";
import { type StreamAssistantConfig, streamAssistant } from "./agent-request.ts";
import { executeToolBatch, type ToolCallbacks } from "./agent-tools.ts";

export interface AgentLoopConfig extends StreamAssistantConfig {
  readonly tools?: readonly AgentTool[];
  /** Parallel if absent. */
  readonly toolExecution?: ToolExecutionMode;
  readonly callbacks?: ToolCallbacks;
  /** Unix ms, for the messages of the results. */
  nowMs(): number;
}

/** Runs the loop after `history`, with new messages; answers everything that it added, those included. */
export async function runAgentLoop(
  prompts: readonly AgentMessage[],
  history: readonly AgentMessage[],
  config: AgentLoopConfig,
  emit: AgentEventSink,
): Promise<AgentMessage[]> {
  const added: AgentMessage[] = [];
  await emit({ type: "agent_start" });
  for (let isOver = false; !isOver; ) {
    const isFirst = added.length === 0;
    await emit({ type: "turn_start" });
    for (const message of isFirst ? prompts : []) {
      added.push(message);
      await emit({ type: "message_start", message });
      await emit({ type: "message_end", message });
    }
    const message = await streamAssistant([...history, ...added], config, emit);
    added.push(message);
    const hasFailed = message.stopReason === "error" || message.stopReason === "aborted";
    const { messages: toolResults, terminate } = hasFailed
      ? NO_BATCH
      : await executeToolBatch(message, config.tools ?? [], {
          mode: config.toolExecution ?? "parallel",
          callbacks: config.callbacks ?? {},
          emit,
          telemetryContext: config.telemetryContext,
          signal: config.signal,
          nowMs: () => config.nowMs(),
        });
    added.push(...toolResults);
    await emit({ type: "turn_end", message, toolResults });
    isOver = toolResults.length === 0 || terminate || config.signal.aborted;
  }
  await emit({ type: "agent_end", messages: added });
  return added;
}

const NO_BATCH: { readonly messages: ToolResultMessage[]; readonly terminate: boolean } = {
  messages: [],
  terminate: false,
};
