/**
 * The library: what the world answers, in the words of the run that nobody cut.
 *
 * An answer depends on its turn and ask, a tool result on its turn and call. What the uninterrupted run has stored of
 * it is taken from there, so that an expectation differs from that run only where something is demanded. What that run
 * never asked for is made from the scenario.
 */

import {
  MODEL_LIMITS,
  type Scenario,
  type ScriptedReply,
  type ScriptedTool,
  type ScriptedUsage,
  turnReply,
} from "../../faults/index.ts";
import { canonicalJson, type JsonValue, jsonEquals } from "../../foundation/index.ts";
import { type Usage, zeroUsage } from "../../model/index.ts";
import type { Pattern } from "../compare-views.ts";
import { isInContext } from "../in-context.ts";
import { isOverflowMessage } from "../rows/error-text.ts";
import {
  callsOf,
  type ParsedEntry,
  type ParsedHandle,
  type ParsedMessage,
  type ToolCallSource,
} from "./parsed-view.ts";

/** An answer of the model: what is stored of it, and what it means. */
export interface LibraryReply {
  readonly message: Omit<ParsedMessage, "timestamp">;
  readonly usage: Usage;
  readonly stopReason: string;
  readonly errorMessage: string | undefined;
  /** With a handle: how long the job takes that it names. */
  readonly takesMs: number;
  /** The request did not fit, whatever the answer calls it. */
  readonly isOverflow: boolean;
}

/** A result of a tool call. */
export interface LibraryResult {
  readonly message: Omit<ParsedMessage, "timestamp">;
  readonly usage: Usage | undefined;
  readonly terminate: boolean;
}

/** See the module header. */
export class Library {
  readonly #scenario: Scenario;
  readonly #replies = new Map<string, ParsedMessage>();
  readonly #results = new Map<string, ParsedEntry>();
  #template: ParsedMessage | undefined;

  /** @param entries those of the uninterrupted run. */
  constructor(scenario: Scenario, entries: readonly ParsedEntry[]) {
    this.#scenario = scenario;
    const count = new TurnCount();
    for (const entry of entries) {
      const { message } = entry;
      if (message?.role === "assistant") {
        const isAnswered = !isSynthetic(message);
        // Of an answer that is given wrongly, what stands in for it is what is stored.
        const isFaulty = turnReply(scenario, count, 0)?.fault !== undefined;
        if (isAnswered || isFaulty) this.#replies.set(`${count.turn}:${count.ask}`, message);
        if (isAnswered && !isFaulty) this.#template ??= message;
      }
      if (message?.role === "toolResult") this.#results.set(`${count.turn - 1}:${message.toolCallId}`, entry);
      count.take(entry);
    }
  }

  /** The answer to the how-manieth ask of a turn. */
  reply(turn: number, ask: number): LibraryReply {
    const scripted = turnReply(this.#scenario, { turn, ask }, 0);
    const known = this.#replies.get(`${turn}:${ask}`);
    if (known !== undefined && known.stopReason !== "aborted") {
      const { timestamp: _timestamp, ...message } = known;
      const { errorMessage } = message as { errorMessage?: string };
      return {
        message,
        usage: known.usage ?? zeroUsage(),
        stopReason: known.stopReason ?? "stop",
        errorMessage: errorMessage ?? scripted?.errorMessage,
        takesMs: scripted?.job?.takesMs ?? 0,
        isOverflow: isOverflow(scripted),
      };
    }
    return scripted === undefined ? this.#exhausted() : this.#made(scripted, turn);
  }

  /** The answer to a request that is cancelled while it is under way: what it cost stands, and its reason is `aborted`. */
  aborted(turn: number, ask: number): LibraryReply {
    const known = this.#replies.get(`${turn}:${ask}`);
    const reply = this.reply(turn, ask);
    if (known?.stopReason !== "aborted") {
      const message = { ...reply.message, stopReason: "aborted", ...{ errorMessage: ANY_TEXT } };
      return { ...reply, message, stopReason: "aborted" };
    }
    const { timestamp: _timestamp, ...message } = known;
    return { ...reply, message, usage: known.usage ?? zeroUsage(), stopReason: "aborted" };
  }

  /** Whether a call is executed at all: its response is whole, its tool exists, and has what it requires. */
  isExecuted({ id, name, arguments: args }: ToolCallSource): boolean {
    const isTruncated = this.#scenario.turns
      .flat()
      .some(
        ({ stopReason, toolCalls }) => stopReason === "length" && toolCalls?.some((call) => call.id === id),
      );
    const tool = this.#scenario.tools.find((scripted) => scripted.name === name);
    const isBlocked = this.#scenario.failingToolHook?.call === id;
    return !isTruncated && !isBlocked && tool !== undefined && hasRequired(tool, args);
  }

  /** The result of a call that runs to its end. */
  result(turn: number, call: ToolCallSource): LibraryResult {
    const known = this.#results.get(`${turn}:${call.id}`);
    const tool = this.#scenario.tools.find(({ name }) => name === call.name);
    if (known?.message === undefined || !this.#isOwn(known.message, call, tool)) {
      return this.isExecuted(call) ? resultOf(tool, call) : syntheticResult(call);
    }
    const { timestamp: _timestamp, ...message } = known.message;
    const terminate = known.terminate === true || (this.isExecuted(call) && terminates(tool));
    return { message, usage: message.usage, terminate };
  }

  /** Whether a stored result is that of the call: a cancelled run answers calls that it does not execute. */
  #isOwn(message: ParsedMessage, call: ToolCallSource, tool: ScriptedTool | undefined): boolean {
    if (!this.isExecuted(call)) return true;
    const { isError, content } = message as ParsedMessage & { isError?: boolean };
    if (tool?.faults?.[call.id] !== undefined) return isError === true;
    if (tool?.does.kind !== "throws") return isError !== true;
    return jsonEquals(content, [{ type: "text", text: tool.does.message }]);
  }

  #made(
    { text, toolCalls, stopReason, errorMessage, usage, job }: ScriptedReply,
    turn: number,
  ): LibraryReply {
    const content = [
      ...(text === undefined ? [] : [{ type: "text", text }]),
      ...(toolCalls ?? []).map(({ argumentsText: _, ...call }) => ({ type: "toolCall", ...call })),
    ];
    const billed = usageOf(usage);
    // A request that did not fit is stored as an error, in the runtime's own words if the world said something else.
    const isShort = stopReason === "length" && isOverflow({ stopReason, errorMessage, usage });
    return {
      message: {
        ...this.#envelope(),
        content,
        stopReason: isShort ? "error" : stopReason,
        usage: billed,
        ...(isShort ? { errorMessage: ANY_TEXT } : errorMessage === undefined ? {} : { errorMessage }),
        ...(job === undefined ? {} : { deferred: this.#handle(job, turn) }),
      },
      usage: billed,
      stopReason,
      errorMessage,
      takesMs: job?.takesMs ?? 0,
      isOverflow: isOverflow({ stopReason, errorMessage, usage }),
    };
  }

  /** Its time is that of the answer, and stands in there. */
  #handle({ id }: NonNullable<ScriptedReply["job"]>, turn: number): ParsedHandle {
    const { api, provider, model } = this.#envelope() as {
      api?: unknown;
      provider?: unknown;
      model?: unknown;
    };
    const origin = { api, provider, modelId: model };
    return { ...origin, id, data: { turn, notBefore: 0 } };
  }

  /** The scenario has no answer: an error in the world's own words. */
  #exhausted(): LibraryReply {
    return {
      message: {
        ...this.#envelope(),
        content: [],
        stopReason: "error",
        usage: zeroUsage(),
        ...{ errorMessage: ANY_TEXT },
      },
      usage: zeroUsage(),
      stopReason: "error",
      errorMessage: undefined,
      takesMs: 0,
      isOverflow: false,
    };
  }

  /** The members of an answer that say where it came from. */
  #envelope(): Omit<ParsedMessage, "timestamp"> {
    if (this.#template === undefined) {
      const any = { api: ANY_TEXT, provider: ANY_TEXT, model: ANY_TEXT, responseId: ANY_OPTIONAL as never };
      return { role: "assistant", ...any };
    }
    const { timestamp: _timestamp, ...rest } = this.#template;
    const {
      errorMessage: _error,
      deferred: _handle,
      ...envelope
    } = rest as typeof rest & {
      errorMessage?: string;
    };
    return envelope;
  }
}

/**
 * Turns and asks, counted over a conversation: an answer that failed or was deferred leaves the turn where it is, and the
 * next ask of the turn is one more. So does one that was cancelled, known or not: its own run never asks again.
 */
export class TurnCount {
  turn = 0;
  /** The next ask of the turn, from 1. */
  ask = 1;

  take({ message }: Pick<ParsedEntry, "message">): void {
    if (message?.role !== "assistant") return;
    if (isInContext(message)) {
      this.turn++;
      this.ask = 1;
    } else if (message.stopReason === "aborted" || !isSynthetic(message)) this.ask++;
  }
}

/** The turn in which a conversation stands. */
export function turnOf(entries: readonly ParsedEntry[]): TurnCount {
  const count = new TurnCount();
  for (const entry of entries) count.take(entry);
  return count;
}

/** Whether a response was made up: it bears no mark of a provider and cost nothing. */
export function isSynthetic({ responseId, usage }: ParsedMessage): boolean {
  return responseId === undefined && (usage?.totalTokens ?? 0) === 0;
}

/** Whether an answer says, in whatever way, that its request did not fit (spec §3.7). */
function isOverflow(
  reply:
    | { [Member in "stopReason" | "errorMessage" | "usage" | "fault"]?: ScriptedReply[Member] | undefined }
    | undefined,
): boolean {
  if (reply?.fault !== undefined) return false;
  if (reply?.stopReason === "length") return (reply.usage?.output ?? 0) < MODEL_LIMITS.outputTokens;
  return reply?.stopReason === "error" && isOverflowMessage(reply.errorMessage);
}

export const ANY_TEXT: Pattern = { $any: "text" };
export const ANY_OPTIONAL: Pattern = { $any: "optional" };

/** A synthetic error result: the wording is the runtime's own. */
export function syntheticResult({ id, name }: { id: string; name: string }): LibraryResult {
  return {
    message: {
      role: "toolResult",
      toolCallId: id,
      ...{ toolName: name, details: ANY_OPTIONAL, isError: true },
      content: [{ type: "text", text: ANY_TEXT }],
    },
    usage: undefined,
    terminate: false,
  };
}

/** A synthetic response: the wording is the runtime's own, its cost is zero. */
export function syntheticResponse(
  stopReason: "error" | "aborted",
  model: { provider: string; modelId: string },
): LibraryReply {
  return {
    message: {
      role: "assistant",
      content: [],
      stopReason,
      usage: zeroUsage(),
      ...{ api: ANY_TEXT, provider: model.provider, model: model.modelId, errorMessage: ANY_TEXT },
    },
    usage: zeroUsage(),
    stopReason,
    errorMessage: undefined,
    takesMs: 0,
    isOverflow: false,
  };
}

function resultOf(tool: ScriptedTool | undefined, call: ToolCallSource): LibraryResult {
  if (tool === undefined || !hasRequired(tool, call.arguments)) return syntheticResult(call);
  const fault = tool.faults?.[call.id];
  if (fault !== undefined)
    return { ...syntheticResult(call), usage: fault.reports && usageOf(fault.reports) };
  const { does } = tool;
  const answered = (text: string, isError: boolean, usage?: ScriptedUsage): LibraryResult["message"] => ({
    role: "toolResult",
    toolCallId: call.id,
    ...{ toolName: call.name, details: ANY_OPTIONAL, isError },
    content: [{ type: "text", text }],
    ...(usage === undefined ? {} : { usage: usageOf(usage) }),
  });
  switch (does.kind) {
    case "answers": {
      const text = does.text.replaceAll("{arguments}", () => canonicalJson(call.arguments));
      return {
        message: answered(text, false, does.usage),
        usage: does.usage && usageOf(does.usage),
        terminate: does.terminate === true,
      };
    }
    case "answersBytes":
      return { message: answered("x".repeat(does.byteCount), false), usage: undefined, terminate: false };
    case "throws":
      return { message: answered(does.message, true), usage: undefined, terminate: false };
  }
}

/** Whether a tool asks for the end of the run; a result of a cancelled run does not say so. */
function terminates(tool: ScriptedTool | undefined): boolean {
  return tool?.does.kind === "answers" && tool.does.terminate === true;
}

function hasRequired({ requires }: ScriptedTool, args: JsonValue): boolean {
  if (requires === undefined) return true;
  if (typeof args !== "object" || args === null || Array.isArray(args)) return false;
  return requires.every((name) => typeof args[name] === "string");
}

/** Tokens of the script as a usage: a millionth of a dollar a token. */
export function usageOf({ input, output }: ScriptedUsage): Usage {
  const usd = (tokens: number) => tokens / 1e6;
  return {
    ...zeroUsage(),
    input,
    output,
    totalTokens: input + output,
    cost: { ...zeroUsage().cost, input: usd(input), output: usd(output), total: usd(input + output) },
  };
}

/** The calls of an answer, for whoever plans its batch. */
export function plannedCalls({ message }: LibraryReply) {
  return callsOf({ ...message, timestamp: 0 });
}
