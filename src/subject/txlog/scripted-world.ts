/**
 * The scripted world as the transactional session sees it: a model that answers by turn, tools that leave a row.
 *
 * The turn of a request is the number of assistant messages of the session, also of those that a summary stands for now.
 * A failed answer is final in this system, so a turn is asked once, and so is a summary; an answer that was lost in a
 * crash is given again.
 */
import { TOOL_BROKE } from "../../checkers/index.ts";
import {
  type Moment,
  type ReplyFault,
  type Scenario,
  ScriptExhausted,
  type ScriptedReply,
  type ScriptedTool,
  type ScriptedUsage,
  type ShownMessage,
  shortened,
  type ToolFault,
  type World,
  type WorldAccess,
  type WorldFaultKind,
} from "../../faults/index.ts";
import { absurd, type JsonValue } from "../../foundation/index.ts";
import type {
  DeclaredTool,
  Message,
  ModelReply,
  ModelRequest,
  ProcessDeclaration,
  ToolExecution,
  ToolOutcome,
  World as TxlogWorld,
  Usage,
} from "../../txlog/index.ts";

/** What every process of the scripted world says of itself. */
export const ENVIRONMENT = "scripted";
export const MODEL = "scripted-1";

/** What the world has to do with the application that makes it happen. */
export interface Surroundings {
  /** How many answers the session has settled. */
  readonly turn: () => Promise<number>;
  /** How many compactions it has completed. */
  readonly task: () => number;
  /** Called once an effect has happened, before it answers; resolves when the application is done. */
  readonly during: (moment: Moment) => Promise<void>;
}

export class ScriptedTxlogWorld implements TxlogWorld {
  readonly #world: World;
  readonly #access: WorldAccess;
  readonly #around: Surroundings;

  constructor(world: World, access: WorldAccess, around: Surroundings) {
    this.#world = world;
    this.#access = access;
    this.#around = around;
  }

  async request({ purpose, messages }: ModelRequest, signal: AbortSignal): Promise<ModelReply> {
    try {
      const reply = purpose === "compaction" ? await this.#summary() : await this.#answer(messages);
      return reply.fault === undefined
        ? replyOf(reply)
        : await misgiven(reply, reply.fault, { timeline: this.#access.timeline, signal });
    } catch (error) {
      if (!(error instanceof ScriptExhausted)) throw error;
      // The provider fails, as it does for every system that is asked for more than is scripted.
      return { type: "failed", error: { code: "script_exhausted", message: error.message } };
    }
  }

  async #answer(messages: readonly Message[]): Promise<ScriptedReply> {
    const turn = await this.#around.turn();
    const shown = messages.map(shownAs);
    const reply = await this.#world.request(this.#access, turn, 1, undefined, shown);
    await this.#around.during({ turn });
    return reply;
  }

  async #summary(): Promise<ScriptedReply> {
    const task = this.#around.task();
    const reply = await this.#world.requestSummary(this.#access, { task, index: 0, attempt: 1 });
    await this.#around.during({ summary: task });
    return reply;
  }

  async execute(
    { toolName, toolCallId, arguments: args }: ToolExecution,
    signal: AbortSignal,
  ): Promise<ToolOutcome> {
    const tool = this.#world.scenario.tools.find(({ name }) => name === toolName);
    if (tool === undefined) throw new Error(`the scenario has no tool ${toolName}`);
    // Arguments of an intent were read from JSON.
    const outcome = await this.#outcome(tool, toolCallId, args as JsonValue);
    await this.#around.during({ tool: toolCallId });
    const fault = tool.faults?.[toolCallId];
    return fault === undefined
      ? outcome
      : misended(toolCallId, fault, { timeline: this.#access.timeline, signal });
  }

  /** A tool that throws has had its effect too. */
  async #outcome(tool: ScriptedTool, callId: string, args: JsonValue): Promise<ToolOutcome> {
    try {
      const answer = await this.#world.execute(this.#access, tool, callId, args);
      return { type: "success", content: answer.text, ...usageOf(answer.usage) };
    } catch (error) {
      return { type: "error", content: error instanceof Error ? error.message : String(error) };
    }
  }
}

/** An answer that is given wrongly, in the ways of `worldFaults`. */
async function misgiven(
  reply: ScriptedReply,
  fault: ReplyFault,
  { timeline, signal }: Within,
): Promise<ModelReply> {
  const failed = (code: string, message: string): ModelReply => {
    timeline.push({ kind: "fault", name: `reply ${code}` });
    return { type: "failed", error: { code, message }, ...usageOf(reply.usage) };
  };
  switch (fault.kind) {
    case "fails":
      return failed("fails", fault.message);
    case "times out":
      return failed("timed_out", "the request timed out");
    case "hangs":
      await raised(signal);
      return failed("cancelled", "the request was cancelled");
    case "malformed": {
      timeline.push({ kind: "fault", name: `reply malformed: ${fault.shape}` });
      const call = { id: "twice", name: "anything", arguments: "{}" };
      const content = reply.text ?? null;
      return {
        type: "answer",
        stopReason: "toolUse",
        content,
        toolCalls: [call, call],
        ...usageOf(reply.usage),
      };
    }
    case "breaks off":
      throw new Error("an answer of this system does not come in parts");
    default:
      return absurd(fault, "fault of a reply");
  }
}

/** An execution that ends wrongly. */
async function misended(
  callId: string,
  fault: ToolFault,
  { timeline, signal }: Within,
): Promise<ToolOutcome> {
  if (fault.kind === "hangs") await raised(signal);
  timeline.push({ kind: "fault", name: `tool ${fault.kind} (${callId})` });
  return { type: "error", content: TOOL_BROKE, ...usageOf(fault.reports) };
}

interface Within {
  readonly timeline: WorldAccess["timeline"];
  readonly signal: AbortSignal;
}

function raised(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** The ways in which the world around this system misbehaves: its own contract lets nothing else be said. */
export const TXLOG_WORLD_FAULTS: readonly WorldFaultKind[] = [
  {
    name: "reply-refused",
    place: "reply",
    fault: { kind: "fails", message: "the account is closed" },
    of: ["turn", "summary"],
    keepsUsage: true,
  },
  { name: "reply-timeout", place: "reply", fault: { kind: "times out" }, of: ["turn", "summary"] },
  { name: "reply-hangs", place: "reply", fault: { kind: "hangs" }, of: ["turn", "summary"] },
  {
    name: "reply-malformed.calls-alike",
    place: "reply",
    fault: { kind: "malformed", shape: "calls-alike" },
    of: ["turn", "summary"],
    keepsUsage: true,
  },
  { name: "tool-throws.error", place: "tool", fault: { kind: "throws", shape: "error" } },
  { name: "tool-hangs", place: "tool", fault: { kind: "hangs" } },
  { name: "clock-back", place: "clock", stepMs: -30_000 },
  { name: "clock-forward", place: "clock", stepMs: 86_400_000 },
];

/** The process that drives a scenario: the same in every life. */
export function declarationOf(scenario: Scenario): ProcessDeclaration {
  const tools = scenario.tools.map(declared);
  return {
    configuration: {
      model: MODEL,
      systemPromptDigest: NO_DIGEST,
      tools: tools.map(({ name, definitionDigest }) => ({ name, definitionDigest })),
      adapterIdentity: "scripted:v1",
      routingIdentity: `scripted:${MODEL}`,
      outputOptionsDigest: NO_DIGEST,
    },
    environmentIdentity: ENVIRONMENT,
    tools,
  };
}

function declared({ name, replay }: ScriptedTool): DeclaredTool {
  return { name, definitionDigest: NO_DIGEST, replay, replayKey: `scripted:${name}:v1` };
}

/** Nothing stands behind a scripted prompt or definition, so their digests are all the same. */
const NO_DIGEST = `sha256:${"0".repeat(64)}`;

function replyOf(reply: ScriptedReply): ModelReply {
  if (reply.stopReason === "error") {
    const error = { code: "scripted_error", message: reply.errorMessage ?? "scripted error" };
    return { type: "failed", error, ...usageOf(reply.usage) };
  }
  if (reply.stopReason === "deferred") throw new Error("scenarios with a deferred answer are skipped here");
  const toolCalls = (reply.toolCalls ?? []).map((call) => ({
    id: call.id,
    name: call.name,
    arguments: call.argumentsText ?? JSON.stringify(call.arguments),
  }));
  return {
    type: "answer",
    stopReason: reply.stopReason,
    content: reply.text ?? null,
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...usageOf(reply.usage),
  };
}

function usageOf(usage: ScriptedUsage | undefined): { usage?: Usage } {
  return usage === undefined ? {} : { usage: { ...usage, cacheRead: 0, cacheWrite: 0 } };
}

/** A message of a request as the world notes it. */
function shownAs(message: Message): ShownMessage {
  const text = shortened(message.content ?? "");
  if (message.role === "tool") return { by: "tool", text, answers: message.tool_call_id };
  if (message.role === "user") return { by: "user", text };
  const calls = message.tool_calls?.map(({ id }) => id);
  return { by: "model", text, ...(calls === undefined ? {} : { calls }) };
}
