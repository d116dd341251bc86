/**
 * The calls of the message that the run's step settled with (spec §5.3, before the table).
 *
 * Terms. *A*: the last assistant message of the transcript. A call of A is *answered* if a tool message after A has its
 * id, *started* if the run has an intent for it, *open* if it is unanswered.
 *
 * A is the last assistant message and not the last one that has calls: after a final answer there is nothing left to
 * execute, whatever was executed before it. And a call is answered by what stands in the transcript, not by an intent: an
 * answer without a start leaves no intent.
 *
 * Looking costs what stands after A, never what stands before it.
 */
import { type AssistantMessage, callsOf, type ToolCall } from "./messages.ts";
import type { SessionState, ToolCallState } from "./state.ts";

/** One unanswered call of A. */
export interface OpenCall {
  readonly toolIndex: number;
  readonly call: ToolCall;
  /** Present if the call was started. */
  readonly started?: ToolCallState;
}

export interface SettledAnswer {
  readonly entryId: string;
  readonly message: AssistantMessage;
  /** Ascending by index. */
  readonly open: readonly OpenCall[];
}

/** The answer that the current run's step settled with; nothing if the step is not settled. */
export function settledAnswer(state: SessionState): SettledAnswer | undefined {
  const { operation, transcript } = state;
  if (operation.kind !== "run" || operation.step?.status !== "settled") return undefined;
  const entryId = operation.step.settledEntryId;
  const answered = new Set<string>();
  for (let index = transcript.length - 1; index >= 0 && entryId !== undefined; index--) {
    const message = transcript[index];
    if (message?.role === "tool") answered.add(message.tool_call_id);
    if (message?.role !== "assistant") continue;
    return { entryId, message, open: openCalls(message, answered, startsOf(operation.toolCalls, entryId)) };
  }
  return undefined;
}

function openCalls(
  message: AssistantMessage,
  answered: ReadonlySet<string>,
  starts: ReadonlyMap<number, ToolCallState>,
): OpenCall[] {
  const open: OpenCall[] = [];
  for (const [toolIndex, call] of callsOf(message).entries()) {
    if (answered.has(call.id)) continue;
    const started = starts.get(toolIndex);
    open.push(started === undefined ? { toolIndex, call } : { toolIndex, call, started });
  }
  return open;
}

/** The intents of one answer. They are the run's last ones, because an answer comes after all calls before it. */
function startsOf(
  toolCalls: readonly ToolCallState[],
  assistantEntryId: string,
): ReadonlyMap<number, ToolCallState> {
  const starts = new Map<number, ToolCallState>();
  for (let index = toolCalls.length - 1; index >= 0; index--) {
    const call = toolCalls[index];
    if (call?.assistantEntryId !== assistantEntryId) break;
    starts.set(call.toolIndex, call);
  }
  return starts;
}
