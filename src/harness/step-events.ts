/**
 * What a step of a drive tells while it happens (spec §5.5): the life of a response and of a call.
 *
 * `message_start`, `message_update`s and `message_end` come while a response streams; `tool_start`, `tool_update`s and
 * `tool_end` while a tool runs. A settlement that no effect gave tells the same start and end without anything between.
 * All of it comes before the commit, so none of it proves that anything is durable.
 *
 * `recovery`: a call that an earlier process had started is told again, whether it is run again or given up.
 */
import type {
  AgentMessage,
  AgentToolResult,
  AssistantMessage,
  AssistantMessageEvent,
  JsonObject,
  SettledAssistantMessage,
  ToolCallContent,
  ToolResultMessage,
} from "../model/index.ts";
import type { Publisher } from "./publisher.ts";

/** The life of one response, told in order. */
export class ResponseEvents {
  readonly #publisher: Publisher;
  readonly #lane: string;
  readonly #runId: string;
  #isStarted = false;

  constructor(publisher: Publisher, { lane, operationId }: { lane: string; operationId: string }) {
    this.#publisher = publisher;
    this.#lane = lane;
    this.#runId = operationId;
  }

  /** An event of the stream; the last one is told by `end`. */
  stream(event: AssistantMessageEvent): void {
    if (event.type === "done" || event.type === "error") return;
    this.#start(event.partial);
    if (event.type === "start") return;
    const { partial: message } = event;
    this.#publisher.tell(this.#lane, { type: "message_update", runId: this.#runId, message, event });
  }

  /** The response as it will be stored, but for what its classification changes. */
  end(message: SettledAssistantMessage, entryId: string): void {
    this.#start(message);
    this.#publisher.tell(this.#lane, { type: "message_end", runId: this.#runId, message, entryId });
  }

  #start(message: AssistantMessage): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#publisher.tell(this.#lane, { type: "message_start", runId: this.#runId, message });
  }
}

/** Where a call stands. */
export interface CallSite {
  readonly lane: string;
  readonly runId: string;
  readonly turnId: string;
  readonly call: ToolCallContent;
  /** An earlier process had started it. */
  readonly isRecovered: boolean;
}

/** The life of one call, told in order. */
export class CallEvents {
  readonly #publisher: Publisher;
  readonly #site: CallSite;

  constructor(publisher: Publisher, site: CallSite) {
    this.#publisher = publisher;
    this.#site = site;
  }

  start(args: JsonObject): void {
    const { lane, isRecovered } = this.#site;
    this.#publisher.tell(lane, { type: "tool_start", ...this.#tool(), args }, isRecovered);
  }

  update(partialResult: AgentToolResult): void {
    const { lane, isRecovered } = this.#site;
    this.#publisher.tell(lane, { type: "tool_update", ...this.#tool(), partialResult }, isRecovered);
  }

  /** The end of the execution, with what `after_tool` made of it. */
  end(message: ToolResultMessage, terminate: boolean): void {
    const { lane, isRecovered } = this.#site;
    const { content, details, usage, isError } = message;
    const result = { content, details, ...(usage === undefined ? {} : { usage }) };
    this.#publisher.tell(
      lane,
      { type: "tool_end", ...this.#tool(), result, isError, terminate },
      isRecovered,
    );
  }

  /** The result as a message, about to be stored. */
  result(message: AgentMessage, entryId: string): void {
    const { lane, runId } = this.#site;
    this.#publisher.tell(lane, { type: "message_start", runId, message });
    this.#publisher.tell(lane, { type: "message_end", runId, message, entryId });
  }

  #tool() {
    const { runId, turnId, call } = this.#site;
    return { runId, turnId, toolCallId: call.id, toolName: call.name };
  }
}
