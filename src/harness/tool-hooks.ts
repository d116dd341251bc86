/**
 * The hooks around a tool call: before it is cleared, and after it was executed (spec §5.6, §3.8).
 *
 * `before_tool` fails closed: a handler that throws, or replaces the arguments by ones that the tool refuses, blocks the
 * call. The first block is final. `after_tool` patches whole fields; a patch that cannot be stored is passed over.
 */
import type { JsonObject, ToolCallContent } from "../model/index.ts";
import type { SyntheticToolReason } from "../operation/index.ts";
import type { Environment, ToolRegistry } from "./environment.ts";
import { messageOf } from "./errors.ts";
import { type HookSite, InvalidHookOutput, runHooks, startedHooks } from "./hook-pipeline.ts";
import type { HookMap } from "./hooks.ts";
import { checkArguments } from "./tool-call.ts";
import type { Clearance, StoredResult } from "./tools.ts";

type Cleared = Extract<Clearance, { kind: "cleared" }>;

/** A cleared call as the hooks leave it: cleared, perhaps with other arguments, or blocked. */
export function beforeTool(
  environment: Environment,
  tools: ToolRegistry,
  site: HookSite,
  call: ToolCallContent,
  cleared: Cleared,
): Promise<Clearance> {
  let { arguments: args } = cleared;
  return runHooks<"before_tool", Clearance>(environment, site, "before_tool", cleared, {
    event: () => ({ toolCallId: call.id, toolName: call.name, args }),
    apply: (state, answer) => {
      if (answer.block) return blocked(messageOf(answer.block.reason), answer.block.terminate === true);
      if (answer.args === undefined) return state;
      args = checkedAgain(tools, call.name, answer.args);
      return { ...cleared, arguments: args };
    },
    failed: (error) => blocked(messageOf(error), false),
    isFinal: ({ kind }) => kind === "refused",
  });
}

/** A result as the hooks leave it; undefined if there are none, or a cancellation came first. */
export function afterTool(
  environment: Environment,
  site: HookSite,
  call: ToolCallContent,
  args: JsonObject,
  result: StoredResult,
): Promise<StoredResult | undefined> {
  const states = { initial: result, notStarted: undefined };
  return startedHooks<"after_tool", StoredResult, undefined>(environment, site, "after_tool", states, {
    event: ({ message: { content, details, isError, usage } }) => ({
      toolCallId: call.id,
      toolName: call.name,
      args,
      content,
      ...(details === undefined ? {} : { details }),
      isError,
      ...(usage === undefined ? {} : { usage }),
    }),
    apply: (state, patch) => patched(environment, state, patch),
  });
}

function patched(
  environment: Environment,
  { message, terminate, usage }: StoredResult,
  patch: NonNullable<HookMap["after_tool"]["result"]>,
): StoredResult {
  const { terminate: asks, ...fields } = patch;
  const given = Object.fromEntries(
    Object.entries(fields).filter(([key, value]) => FIELDS.has(key) && value !== undefined),
  );
  const admitted = environment.session.admitMessage({ ...message, ...given });
  if (!admitted.ok) {
    const { path, expected, found } = admitted.error;
    throw new InvalidHookOutput("after_tool", `${path || "the result"} should be ${expected}, is ${found}`);
  }
  const reported = admitted.value.usage ?? usage;
  return {
    message: admitted.value,
    terminate: typeof asks === "boolean" ? asks : terminate,
    ...(reported === undefined ? {} : { usage: reported }),
  };
}

const FIELDS: ReadonlySet<string> = new Set(["content", "details", "isError", "usage"]);

function checkedAgain(tools: ToolRegistry, toolName: string, args: unknown): JsonObject {
  const tool = tools.get(toolName);
  if (tool === undefined) throw new Error(`${toolName} is not registered any more`);
  const checked = checkArguments(tool.parameters, args);
  if ("refusal" in checked)
    throw new InvalidHookOutput("before_tool", `arguments that ${toolName} refuses: ${checked.refusal}`);
  return checked.arguments;
}

function blocked(message: string, terminate: boolean): Clearance {
  const reason: SyntheticToolReason = { kind: "blocked", message, terminate };
  return { kind: "refused", reason };
}
