/**
 * The scripted world where it misbehaves: answers of a provider and results of tools that are given wrongly, as their
 * scenario says. Each puts its name into the timeline when it happens.
 */
import type { ReplyFault, ScriptedTool, Timeline, ToolFault } from "../../faults/index.ts";
import { absurd } from "../../foundation/index.ts";
import type {
  AgentToolResult,
  AssistantMessage,
  AssistantMessageEvent,
  AssistantMessageProgressEvent,
} from "../../model/index.ts";
import { MALFORMED_MESSAGES, MALFORMED_RESULTS, THROWN } from "./malformed.ts";

/** An answer that no stream of a right provider would give; thrown in the place of its message. */
export abstract class OtherAnswer extends Error {
  /** What the stream brings. */
  abstract events(): AsyncGenerator<AssistantMessageEvent>;
  /** What is said at the end. */
  abstract result(): AssistantMessage;
}

/** An answer that is no message. */
class MalformedAnswer extends OtherAnswer {
  override readonly name = "MalformedAnswer";
  readonly #message: AssistantMessage;

  constructor(message: unknown) {
    super("the answer is no message");
    this.#message = message as AssistantMessage;
  }

  async *events(): AsyncGenerator<AssistantMessageEvent> {
    yield { type: "done", reason: "stop", message: this.#message };
  }

  result(): AssistantMessage {
    return this.#message;
  }
}

/** A stream that breaks off. */
class BrokenStream extends OtherAnswer {
  override readonly name = "BrokenStream";
  readonly #whole: AssistantMessage;
  readonly #fault: Extract<ReplyFault, { kind: "breaks off" }>;
  readonly #timeline: Timeline;

  constructor(
    whole: AssistantMessage,
    fault: Extract<ReplyFault, { kind: "breaks off" }>,
    timeline: Timeline,
  ) {
    super("the connection was closed before the answer was done");
    this.#whole = whole;
    this.#fault = fault;
    this.#timeline = timeline;
  }

  async *events(): AsyncGenerator<AssistantMessageEvent> {
    const events = progressOf(this.#whole).slice(0, this.#fault.afterEvents);
    yield* events;
    this.#timeline.push({ kind: "fault", name: `stream broken off after ${events.length} events` });
    if (this.#fault.how === "throwing") throw this;
  }

  result(): AssistantMessage {
    if (this.#fault.how !== "pending") throw this;
    return partial(this.#whole, this.#fault.afterEvents > 1 ? this.#whole.content : []);
  }
}

function progressOf(message: AssistantMessage): readonly AssistantMessageProgressEvent[] {
  const events: AssistantMessageProgressEvent[] = [{ type: "start", partial: partial(message, []) }];
  for (const [contentIndex, block] of message.content.entries()) {
    const sofar = { contentIndex, partial: partial(message, message.content.slice(0, contentIndex + 1)) };
    if (block.type === "text") {
      events.push(
        { type: "text_start", ...sofar },
        { type: "text_delta", delta: block.text, ...sofar },
        { type: "text_end", content: block.text, ...sofar },
      );
    } else if (block.type === "toolCall") {
      const delta = JSON.stringify(block.arguments);
      events.push(
        { type: "toolcall_start", ...sofar },
        { type: "toolcall_delta", delta, ...sofar },
        { type: "toolcall_end", toolCall: block, ...sofar },
      );
    }
  }
  return events;
}

function partial(message: AssistantMessage, content: AssistantMessage["content"]): AssistantMessage {
  return { ...message, content, stopReason: "pending" };
}

/** Gives an answer wrongly. @param right what it would have been */
export async function misgive(
  fault: ReplyFault,
  right: AssistantMessage,
  { timeline, signal }: Within,
): Promise<AssistantMessage> {
  const happens = (name: string) => timeline.push({ kind: "fault", name });
  switch (fault.kind) {
    case "fails":
      happens("reply fails");
      return { ...right, content: [], stopReason: "error", errorMessage: fault.message };
    case "times out":
      happens("no reply in time");
      throw new Error("the request timed out");
    case "breaks off":
      throw new BrokenStream(right, fault, timeline);
    case "malformed":
      happens(`reply malformed: ${fault.shape}`);
      throw new MalformedAnswer(shaped(MALFORMED_MESSAGES, fault.shape)(right));
    case "hangs":
      happens("no reply until it is cancelled");
      await raised(signal);
      throw new Error("the request was cancelled");
    default:
      return absurd(fault, "fault of a reply");
  }
}

/** What something that misbehaves may touch. */
export interface Within {
  readonly timeline: Timeline;
  readonly signal: AbortSignal | undefined;
}

/** Ends an execution wrongly, if its scenario says so. */
export async function misend(
  tool: ScriptedTool,
  callId: string,
  right: AgentToolResult,
  { timeline, signal }: Within,
): Promise<AgentToolResult> {
  const fault: ToolFault | undefined = tool.faults?.[callId];
  const happens = (name: string) => timeline.push({ kind: "fault", name: `${name} (${callId})` });
  switch (fault?.kind) {
    case undefined:
      return right;
    case "throws":
      happens(`tool throws: ${fault.shape}`);
      throw shaped(THROWN, fault.shape)();
    case "returns":
      happens(`tool returns: ${fault.shape}`);
      return shaped(MALFORMED_RESULTS, fault.shape)(right) as AgentToolResult;
    case "hangs":
      happens("tool hangs until it is cancelled");
      await raised(signal);
      throw new Error("the tool was cancelled");
    default:
      return absurd(fault, "fault of a tool");
  }
}

function shaped<T>(shapes: Readonly<Record<string, T>>, name: string): T {
  const shape = shapes[name];
  if (shape === undefined)
    throw new Error(`no shape is called ${name}; there are: ${Object.keys(shapes).join(", ")}`);
  return shape;
}

function raised(signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));
}
