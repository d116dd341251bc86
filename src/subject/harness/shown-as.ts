/** A message of a request as the world notes it. */
import { type ShownMessage, shortened } from "../../faults/index.ts";
import type { Message } from "../../model/index.ts";

/** See the module header. */
export function shownAs(message: Message): ShownMessage {
  const text = shortened(wordsIn(message.content));
  switch (message.role) {
    case "user":
      return { by: "user", text };
    case "assistant": {
      const calls = message.content?.flatMap((block) => (block.type === "toolCall" ? block.id : [])) ?? [];
      return { by: "model", text, ...(calls.length === 0 ? {} : { calls }) };
    }
    case "toolResult":
      return { by: "tool", text, answers: message.toolCallId };
  }
}

/** The text of a content. */
export function wordsIn(content: Message["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? []).flatMap((block) => (block.type === "text" ? block.text : [])).join("\n");
}
