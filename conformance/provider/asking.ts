/** Asking a provider, and what every answer must be. */
import assert from "node:assert/strict";
import {
  type AssistantMessage,
  type AssistantMessageEvent,
  type ProviderContext,
  type ProviderStreamOptions,
  validateMessage,
} from "../../src/model/index.ts";
import type { ProviderHandle } from "./factory.ts";

export const context = (): ProviderContext => ({
  systemPrompt: "Answer.",
  messages: [{ role: "user", content: [{ type: "text", text: "Hello?" }], timestamp: 1_700_000_000_000 }],
});

/** The events of a request, and its result. Fails where the stream throws. */
export async function ask(
  { models, model }: ProviderHandle,
  options: ProviderStreamOptions = {},
  asked = context(),
): Promise<{ events: AssistantMessageEvent[]; message: AssistantMessage }> {
  const stream = models.streamSimple(model, asked, options);
  const events: AssistantMessageEvent[] = [];
  try {
    for await (const event of stream) events.push(event);
  } catch (error) {
    assert.fail(`the stream threw instead of ending with an error event: ${String(error)}`);
  }
  return { events, message: await stream.result() };
}

/** The terminal events among these. */
export function terminalsOf(events: readonly AssistantMessageEvent[]) {
  return events.filter((event) => event.type === "done" || event.type === "error");
}

/** Proves that a message may be stored: an assistant's, settled, JSON, whole. */
export function assertStorable(message: AssistantMessage): void {
  assert.equal(message?.role, "assistant", "the role");
  assert.notEqual(message.stopReason, "pending", "a final message is settled");
  const issue = validateMessage(JSON.parse(JSON.stringify(message)));
  assert.equal(
    issue,
    undefined,
    `the message at ${issue?.path}: ${issue?.expected} expected, ${issue?.found} found`,
  );
}
