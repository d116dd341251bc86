/** The tools of a scenario as a harness takes them: each execution is an effect of the scripted world. */
import { type TSchema, Type } from "typebox";
import { declaredReplay, type Scenario, type ScriptedTool, type World } from "../../faults/index.ts";
import type { AgentHarnessTool, AgentToolResult } from "../../model/index.ts";
import { misend } from "./misbehaviour.ts";
import { type LifeAccess, usageOf } from "./scripted-models.ts";

/** The tools, bound to a world and to one life, counted from 0. */
export function scriptedTools(
  scenario: Scenario,
  world: World,
  access: LifeAccess,
  life: number,
): AgentHarnessTool[] {
  return scenario.tools.map((tool) => ({
    name: tool.name,
    label: tool.name,
    description: `scripted tool ${tool.name}`,
    parameters: parametersOf(tool),
    replay: declaredReplay(tool, life),
    ...(tool.preparesByLife ? { prepareArguments: (args) => ({ ...(args as object), life }) } : {}),
    ...(tool.executionMode === undefined ? {} : { executionMode: tool.executionMode }),
    execute: async (toolCallId, params, signal): Promise<AgentToolResult> => {
      const execution = world.execute(access, tool, toolCallId, params as never);
      // A tool that throws has had its effect too.
      await execution.catch(() => undefined);
      await access.during?.({ tool: toolCallId });
      const answer = await execution;
      const result: AgentToolResult = {
        content: [{ type: "text", text: answer.text }],
        details: {},
        ...(answer.usage === undefined ? {} : { usage: usageOf(answer.usage) }),
        ...(answer.terminate ? { terminate: true } : {}),
      };
      return misend(tool, toolCallId, result, { timeline: access.timeline, signal });
    },
  }));
}

/** One schema object per scripted tool: a runtime caches its validators by schema, and boots thousands of times. */
const schemas = new WeakMap<ScriptedTool, TSchema>();

function parametersOf(tool: ScriptedTool): TSchema {
  const known = schemas.get(tool);
  if (known !== undefined) return known;
  const required = (tool.requires ?? []).map((name) => [name, Type.String()] as const);
  const schema = Type.Object(Object.fromEntries(required), { additionalProperties: true });
  schemas.set(tool, schema);
  return schema;
}
