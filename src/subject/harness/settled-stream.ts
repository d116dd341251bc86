/** The stream of an answer that is known as a whole, or that is none that a right provider would give. */
import type {
  AssistantMessage,
  AssistantMessageEvent,
  AssistantMessageEventStream,
} from "../../model/index.ts";
import { OtherAnswer } from "./misbehaviour.ts";

/** A message, or what is said in its place. */
export function said(message: Promise<AssistantMessage>): Promise<AssistantMessage> {
  return message.catch((error: unknown) => {
    if (error instanceof OtherAnswer) return error.result();
    throw error;
  });
}

/** A stream whose events are made from the final message. */
export class SettledStream implements AssistantMessageEventStream {
  readonly #message: Promise<AssistantMessage>;

  constructor(message: Promise<AssistantMessage>) {
    this.#message = message;
    // Whoever reads the stream sees the rejection; a stream that nobody reads must not end the process.
    message.catch(() => undefined);
  }

  result(): Promise<AssistantMessage> {
    return said(this.#message);
  }

  async *[Symbol.asyncIterator](): AsyncIterator<AssistantMessageEvent> {
    let message: AssistantMessage;
    try {
      message = await this.#message;
    } catch (error) {
      if (!(error instanceof OtherAnswer)) throw error;
      yield* error.events();
      return;
    }
    yield { type: "start", partial: { ...message, content: [], stopReason: "pending" } };
    switch (message.stopReason) {
      case "error":
      case "aborted":
        yield { type: "error", reason: message.stopReason, error: message };
        return;
      case "pending":
        return;
      default:
        yield { type: "done", reason: message.stopReason, message };
    }
  }
}
