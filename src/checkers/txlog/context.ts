/**
 * The active context of a transactional session, folded from its facts: what the model is to be shown next.
 *
 * Every message goes to its end; a compaction makes it the summary, said by the user, with the messages that were kept.
 */
import { type ShownMessage, shortened } from "../../faults/index.ts";
import type { CommittedFact } from "../../txlog/index.ts";

type EntryFact = Extract<CommittedFact, { kind: "entry" }>["entry"];
type Message = Extract<EntryFact, { type: "message" }>["message"];

/** The context after one more entry. */
export function contextAfter(context: readonly ShownMessage[], entry: EntryFact): readonly ShownMessage[] {
  if (entry.type === "message") return [...context, saidBy(entry.message)];
  const summary: ShownMessage = { by: "user", text: shortened(`${SUMMARY_PREFIX}${entry.summary}`) };
  return [summary, ...(entry.retainedTail ?? []).map(({ message }) => saidBy(message))];
}

/** Stands before a summary (specification of the transactional session, §3.4). */
const SUMMARY_PREFIX = "[Compacted history]\n";

/** A message as the world notes it. */
function saidBy(message: Message): ShownMessage {
  const text = shortened(message.content ?? "");
  switch (message.role) {
    case "user":
      return { by: "user", text };
    case "assistant": {
      const calls = message.tool_calls?.map(({ id }) => id);
      return { by: "model", text, ...(calls === undefined ? {} : { calls }) };
    }
    case "tool":
      return { by: "tool", text, answers: message.tool_call_id };
  }
}
