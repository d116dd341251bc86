/**
 * The transcript check (spec §4): every call is answered before the next user or assistant message.
 *
 * The check is a fold over the transcript, so a check that goes on where the last one stopped decides as one that starts
 * at the first message would. Answers may come in any order, and calls may be open at the end.
 */
import { callsOf, type Message } from "./messages.ts";
import type { FactCode } from "./refusal.ts";
import type { SessionTables } from "./tables.ts";

/** Checks the messages that the transaction appended; runs after its last fact. */
export function checkNewMessages(tables: SessionTables): FactCode | undefined {
  const { openCalls, transcript, undo } = tables;
  for (let index = tables.checkedCount; index < transcript.length; index++) {
    const message = transcript[index];
    if (message === undefined) continue;
    if (!accepts(openCalls, message)) return "INVALID_TRANSCRIPT";
    if (message.role === "tool") undo.remove(openCalls, message.tool_call_id);
    else for (const call of callsOf(message)) undo.put(openCalls, call.id, true);
  }
  tables.checkedCount = transcript.length;
  return undefined;
}

/** Whether a list of messages is a transcript by itself. */
export function isTranscript(messages: readonly Message[]): boolean {
  const openCalls = new Map<string, true>();
  for (const message of messages) {
    if (!accepts(openCalls, message)) return false;
    if (message.role === "tool") openCalls.delete(message.tool_call_id);
    else for (const call of callsOf(message)) openCalls.set(call.id, true);
  }
  return true;
}

function accepts(openCalls: ReadonlyMap<string, true>, message: Message): boolean {
  return message.role === "tool" ? openCalls.has(message.tool_call_id) : openCalls.size === 0;
}
