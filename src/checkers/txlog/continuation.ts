/**
 * How a transactional session goes on from what was durable at a death, read from its specification (§5.3) and the
 * scenario: the state that it comes to rest in. It shares nothing with the planner that is judged.
 *
 * Terms. A call of the application is *accepted* once its operation is in the file; the application makes those that are
 * not, in their order. It cancels in a moment of the world, and again when the moment comes again. *Aborting*: the
 * request to end is durable; from there on only closure is written.
 *
 * What differs from the run that nobody cut is demanded by name:
 * 1. A request whose outcome is unknown is made once more, and its moment comes again; where it was cancelled, it is
 *    closed and what it cost is lost.
 * 2. A call whose outcome is unknown is run again, and its moment comes again, if its intent says `safe` and the run is
 *    not aborting. Otherwise it is answered as interrupted and what it cost is lost; where it was to be cancelled
 *    meanwhile and was not yet, its moment never comes again and the run goes on.
 */
import {
  callsAt,
  type Moment,
  type Scenario,
  type ScriptedReply,
  type ScriptedTool,
} from "../../faults/index.ts";
import { absurd, canonicalJson, type JsonValue } from "../../foundation/index.ts";
import type { Message, OperationState, PastOperation } from "../../txlog/index.ts";
import type { VisibleState } from "./view.ts";

type RunState = Extract<OperationState, { kind: "run" }>;
type CompactionState = Extract<OperationState, { kind: "compaction" }>;
type StepState = NonNullable<RunState["step"]>;
type Outcome = NonNullable<PastOperation["outcome"]>;
type Call = NonNullable<Extract<Message, { role: "assistant" }>["tool_calls"]>[number];

/** How many of the last messages the scripted application asks a compaction to keep. */
export const RETAINED_MESSAGES = 2;

/** See the module header. */
export class Continuation {
  readonly demands: string[] = [];
  readonly #scenario: Scenario;
  readonly #transcript: Message[];
  readonly #operations: PastOperation[];
  #context: readonly Message[];
  #usage: VisibleState["usage"];

  private constructor(scenario: Scenario, { transcript, activeContext, usage, operations }: VisibleState) {
    this.#scenario = scenario;
    this.#transcript = [...transcript];
    this.#context = activeContext;
    this.#usage = usage;
    this.#operations = [...operations];
  }

  /** From a state that is not blocked, to the end of the scenario. */
  static from(scenario: Scenario, atCut: VisibleState): Continuation {
    const continuation = new Continuation(scenario, atCut);
    const { operation } = atCut;
    if (operation.kind !== "idle") {
      continuation.#operations.pop();
      continuation.#ended(operation.kind, continuation.#goOn(operation));
    }
    const accepted = continuation.#operations.length;
    for (const stimulus of scenario.stimuli.slice(accepted)) {
      if (stimulus.call === "compact") continuation.#ended("compaction", continuation.#summarize());
      else if (stimulus.call === "prompt") continuation.#ended("run", continuation.#prompt(stimulus.text));
      else throw new Error(`this system has no call ${stimulus.call}`);
    }
    return continuation;
  }

  /** What is visible at rest. */
  get state(): VisibleState {
    return {
      transcript: this.#transcript,
      activeContext: this.#context,
      usage: this.#usage,
      operation: { kind: "idle" },
      operations: this.#operations,
    };
  }

  #ended(kind: PastOperation["kind"], outcome: Outcome): void {
    this.#operations.push({ kind, outcome });
  }

  #goOn(operation: RunState | CompactionState): Outcome {
    const { step, abortRequested } = operation;
    if (step?.status === "settled") {
      if (operation.kind === "run") return this.#goOnWithCalls(operation, step);
      return abortRequested ? "aborted" : "completed";
    }
    if (abortRequested) {
      if (step?.status === "attempting") this.demands.push("cancelled request: closed, its cost is unknown");
      return "aborted";
    }
    if (step?.status === "failed") return "failed";
    return operation.kind === "run" ? this.#ask() : this.#summarize();
  }

  #goOnWithCalls({ abortRequested, toolCalls }: RunState, { stopReason }: StepState): Outcome {
    const last = this.#transcript.findLastIndex(({ role }) => role === "assistant");
    const answered = new Set<string>();
    for (const message of this.#transcript.slice(last + 1)) {
      if (message.role === "tool") answered.add(message.tool_call_id);
    }
    const answer = this.#transcript[last];
    const calls = answer?.role === "assistant" ? (answer.tool_calls ?? []) : [];
    const open = calls.filter(({ id }) => !answered.has(id));
    const pending = toolCalls.filter(({ status }) => status === "pending");
    const isUnknown = (callId: string): boolean => {
      return pending.some(({ toolCallId, replay }) => {
        return toolCallId === callId && (abortRequested || replay === "never");
      });
    };
    if (abortRequested) return this.#abort(open, isUnknown);
    return this.#settled(answer?.content ?? null, calls.length, open, stopReason, isUnknown);
  }

  #prompt(text: string): Outcome {
    this.#say({ role: "user", content: text });
    return this.#ask();
  }

  /** Asks until an answer ends the run. */
  #ask(): Outcome {
    const turn = this.#transcript.filter(({ role }) => role === "assistant").length;
    const reply = this.#scenario.turns[turn]?.[0];
    if (reply === undefined) return "failed";
    this.#pay(reply.usage);
    if (this.#isCancelledAt({ turn })) return "aborted";
    if (reply.fault !== undefined || reply.stopReason === "error" || reply.stopReason === "deferred")
      return "failed";
    const calls = callsOf(reply);
    const content = reply.text ?? null;
    this.#say({ role: "assistant", content, ...(calls.length === 0 ? {} : { tool_calls: calls }) });
    return this.#settled(content, calls.length, calls, reply.stopReason);
  }

  /** Answers the open calls of an answer, or ends the run with it. */
  #settled(
    content: string | null,
    callCount: number,
    open: readonly Call[],
    stopReason: StepState["stopReason"],
    isUnknown: (callId: string) => boolean = () => false,
  ): Outcome {
    switch (stopReason) {
      case "stop":
        return isBlank(content) ? "failed" : "completed";
      case "length":
        for (const { id } of open) this.#answer(id, TRUNCATED);
        return callCount === 0 ? "failed" : "completed";
      case "toolUse":
        for (const [index, call] of open.entries()) {
          if (isUnknown(call.id)) this.#interrupt(call.id);
          else if (this.#execute(call)) return this.#abort(open.slice(index + 1), () => false);
        }
        return this.#ask();
      case undefined:
        throw new Error("a settled step of a run has a stop reason");
      default:
        return absurd(stopReason, "stop reason");
    }
  }

  /** Answers a call; whether the run was cancelled meanwhile. */
  #execute({ id, function: { name, arguments: text } }: Call): boolean {
    const tool = this.#scenario.tools.find((one) => one.name === name);
    const args = objectOf(text);
    if (tool === undefined || args === undefined) {
      this.#answer(id, tool === undefined ? UNKNOWN_TOOL : INVALID_ARGUMENTS);
      return false;
    }
    const fault = tool.faults?.[id];
    const usage = fault === undefined ? tool.does.kind === "answers" && tool.does.usage : fault.reports;
    if (usage) this.#pay(usage);
    this.#answer(id, fault === undefined ? textOf(tool, canonicalJson(args)) : TOOL_BROKE);
    return this.#isCancelledAt({ tool: id });
  }

  #abort(open: readonly Call[], isUnknown: (callId: string) => boolean): Outcome {
    for (const { id } of open) {
      if (isUnknown(id)) this.#interrupt(id);
      else this.#answer(id, ABORTED);
    }
    return "aborted";
  }

  #interrupt(callId: string): void {
    this.demands.push(`interrupted: ${callId}`);
    this.#answer(callId, INTERRUPTED);
  }

  /** One request stands for everything but the end of the conversation. */
  #summarize(): Outcome {
    const task = this.#operations.filter(({ kind, outcome }) => {
      return kind === "compaction" && outcome === "completed";
    }).length;
    const reply = this.#scenario.summaries?.[task]?.[0]?.[0];
    if (reply === undefined) return "failed";
    this.#pay(reply.usage);
    if (this.#isCancelledAt({ summary: task })) return "aborted";
    if (reply.fault !== undefined || reply.stopReason !== "stop" || isBlank(reply.text ?? null))
      return "failed";
    const wanted = Math.max(1, this.#transcript.length - RETAINED_MESSAGES);
    // A result is never cut off from its call.
    const kept = this.#transcript.findIndex(({ role }, index) => index >= wanted && role !== "tool");
    const tail = kept === -1 ? [] : this.#transcript.slice(kept);
    this.#context = [{ role: "user", content: `[Compacted history]\n${reply.text}` }, ...tail];
    return "completed";
  }

  #isCancelledAt(moment: Moment): boolean {
    return callsAt(this.#scenario, moment).some(({ call }) => call === "abort");
  }

  #answer(callId: string, content: string): void {
    this.#say({ role: "tool", content, tool_call_id: callId });
  }

  #say(message: Message): void {
    this.#transcript.push(message);
    this.#context = [...this.#context, message];
  }

  #pay({ input, output }: ScriptedReply["usage"]): void {
    this.#usage = {
      ...this.#usage,
      input: this.#usage.input + input,
      output: this.#usage.output + output,
    };
  }
}

function callsOf({ toolCalls }: ScriptedReply): Call[] {
  return (toolCalls ?? []).map(({ id, name, arguments: args, argumentsText }) => {
    return { id, type: "function", function: { name, arguments: argumentsText ?? JSON.stringify(args) } };
  });
}

/** What is stored of an execution that ends wrongly, in the words of the scripted world. */
export const TOOL_BROKE = "the tool broke";

/** Arguments are a JSON object. */
function objectOf(text: string): JsonValue | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function textOf({ does }: ScriptedTool, argumentsText: string): string {
  switch (does.kind) {
    case "answers":
      return does.text.replaceAll("{arguments}", () => argumentsText);
    case "answersBytes":
      return "x".repeat(does.byteCount);
    case "throws":
      return does.message;
    default:
      return absurd(does, "tool behaviour");
  }
}

function isBlank(content: string | null): boolean {
  return (content ?? "").trim() === "";
}

/** Written out from the specification (§5.2), not taken from the system that is judged. */
const INVALID_ARGUMENTS = "Error: Tool arguments were invalid; the tool was not executed.";
const UNKNOWN_TOOL = "Error: Unknown tool; the tool was not executed.";
const TRUNCATED =
  "Error: Tool call arguments were truncated by the model token limit; the tool was not executed.";
const ABORTED = "Operation aborted before execution.";
const INTERRUPTED = "Operation interrupted after execution status became unknown; the tool was not replayed.";
