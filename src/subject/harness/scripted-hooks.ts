/**
 * The hooks of a scenario as a harness takes them. Each asking for a decision is an effect of the scripted world; what is
 * asked before a run ends reads what is durable, and is none.
 */
import type { Scenario, ScriptedDecision, World, WorldAccess } from "../../faults/index.ts";
import type { Hooks } from "../../harness/index.ts";
import type { AgentMessage } from "../../model/index.ts";
import type { Storage } from "../../storage/index.ts";
import { type LifeAccess, taskOf, usageOf } from "./scripted-models.ts";

/** Lets a scenario decide about work on the tree, in one life; one that decides nothing has no hooks. */
export function decideByScript(hooks: Hooks, world: World, access: LifeAccess, store: Storage): void {
  if (world.scenario.decisions === undefined) return;
  const decide = async () => {
    const task = taskOf(await store.scanEntries({}));
    const decision = await world.decide(access, task);
    await access.during?.({ decision: task });
    return decision;
  };
  hooks.on("before_compaction", async ({ preparation: { tokensBefore, retainedTail } }) => {
    const decision = await decide();
    if (decision?.kind !== "supply") return declined(decision);
    return { compaction: { ...supplied(decision), tokensBefore, retainedTail } };
  });
  hooks.on("before_navigation", async () => {
    const decision = await decide();
    if (decision?.kind !== "supply") return declined(decision);
    return { summary: { ...supplied(decision), readFiles: [], modifiedFiles: [] } };
  });
}

function declined(decision: ScriptedDecision | null): { decline: true } | undefined {
  return decision === null ? undefined : { decline: true };
}

function supplied({ summary, usage }: Extract<ScriptedDecision, { kind: "supply" }>) {
  return { summary, ...(usage === undefined ? {} : { usage: usageOf(usage) }) };
}

/** The hook that is asked before a run ends: it wants its message said, and knows what is durable. */
export function askForRunEnd(hooks: Hooks, { runEnd }: Scenario, store: Storage): void {
  if (runEnd === undefined) return;
  hooks.on("before_run_end", async () => {
    const entries = await store.scanEntries({ type: "message" });
    const isSaid = entries.some((entry) => entry.type === "message" && isText(entry.message, runEnd));
    return isSaid ? undefined : { followUp: runEnd };
  });
}

function isText(message: AgentMessage, text: string): boolean {
  if (message.role !== "user" || typeof message.content === "string") return false;
  return message.content.some((block) => block.type === "text" && block.text === text);
}

/**
 * The hooks that have the last word on responses and results: they put their own text in the place of what was said. They
 * touch nothing outside, and take their time: whoever lets a run go on step by step sees them as a step.
 */
export function rewriteByScript(hooks: Hooks, { rewrites }: Scenario, { gate, timeline }: WorldAccess): void {
  const { response, result } = rewrites ?? {};
  const asked = (name: string) => {
    timeline.push({ kind: "asked", name });
    return gate.pass("effect", `hook.${name.replaceAll("_", "-")}`, () => undefined);
  };
  if (response !== undefined) {
    hooks.on("after_response", async ({ message }) => {
      await asked("after_response");
      return { message: { ...message, content: [{ type: "text", text: response }] } };
    });
  }
  if (result === undefined) return;
  hooks.on("after_tool", async () => {
    await asked("after_tool");
    return { content: [{ type: "text", text: result }] };
  });
}
