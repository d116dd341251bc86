/**
 * The scripted world as the transactional session sees it: a model that answers by turn, tools that leave a row.
 *
 * The turn of a request is the number of assistant messages in it. A failed answer is final in this system, so a turn is
 * asked once; an answer that was lost in a crash is given again.
 */
import type {
  Scenario,
  ScriptedReply,
  ScriptedTool,
  ScriptedUsage,
  World,
  WorldAccess,
} from "../../faults/index.ts";
import type { JsonValue } from "../../foundation/index.ts";
import type {
  DeclaredTool,
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

export class ScriptedTxlogWorld implements TxlogWorld {
  readonly #world: World;
  readonly #access: WorldAccess;

  constructor(world: World, access: WorldAccess) {
    this.#world = world;
    this.#access = access;
  }

  async request({ messages }: ModelRequest): Promise<ModelReply> {
    const turn = messages.filter((message) => message.role === "assistant").length;
    return replyOf(await this.#world.request(this.#access, turn, 1));
  }

  async execute({ toolName, toolCallId, arguments: args }: ToolExecution): Promise<ToolOutcome> {
    const tool = this.#world.scenario.tools.find(({ name }) => name === toolName);
    if (tool === undefined) throw new Error(`the scenario has no tool ${toolName}`);
    try {
      // Arguments of an intent were read from JSON.
      const answer = await this.#world.execute(this.#access, tool, toolCallId, args as JsonValue);
      return { type: "success", content: answer.text, ...usageOf(answer.usage) };
    } catch (error) {
      return { type: "error", content: error instanceof Error ? error.message : String(error) };
    }
  }
}

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
    arguments: JSON.stringify(call.arguments),
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
