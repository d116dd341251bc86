/** What a harness tells, in a few words an event, for tests of its order. */
import type { AgentHarness } from "../agent-harness.ts";
import type { HarnessEvent } from "../event-types.ts";

/** One event in a few words. */
export function inWords(event: HarnessEvent): string {
  const mark = event.recovery ? " (recovery)" : "";
  switch (event.type) {
    case "message_start":
    case "message_end":
      return `${event.type} ${event.message.role}${mark}`;
    case "entry_added":
      return `entry_added ${event.entry.type === "message" ? event.entry.message.role : event.entry.type}${mark}`;
    case "tool_start":
    case "tool_update":
    case "tool_end":
      return `${event.type} ${event.toolCallId}${mark}`;
    case "run_end":
    case "compaction_end":
    case "navigation_end":
      return `${event.type} ${event.outcome}${mark}`;
    case "config_update":
      return `config_update ${event.property}`;
    default:
      return `${event.type}${mark}`;
  }
}

/** Everything that a harness tells from now on. */
export async function listening(harness: AgentHarness): Promise<{ words: string[]; events: HarnessEvent[] }> {
  const events: HarnessEvent[] = [];
  const words: string[] = [];
  const { start } = await harness.watchSession();
  start((event) => {
    events.push(event);
    words.push(inWords(event));
  });
  return { words, events };
}

// What belongs together whatever it is part of: a prompt, a response, the result of a call, a turn without calls.
export const PROMPT = ["run_start", "message_start user", "message_end user", "entry_added user"];
export const RESPONSE = [
  "message_start assistant",
  "message_end assistant",
  "entry_added assistant",
  "usage",
];
export const RESULT = ["message_start toolResult", "message_end toolResult", "entry_added toolResult"];

export const TURN = ["turn_start", ...RESPONSE, "turn_end"];
