/** The decision hooks of a scenario as a harness takes them: each asking is an effect of the scripted world. */
import type { ScriptedDecision, World } from "../../faults/index.ts";
import type { DecisionHooks } from "../../harness/index.ts";
import type { Storage } from "../../storage/index.ts";
import { type LifeAccess, taskOf, usageOf } from "./scripted-models.ts";

/** The hooks, bound to a world and to one life; a scenario that decides nothing has none. */
export function scriptedHooks(world: World, access: LifeAccess, store: Storage): Partial<DecisionHooks> {
  if (world.scenario.decisions === undefined) return {};
  const decide = async () => {
    const task = taskOf(await store.scanEntries({}));
    const decision = await world.decide(access, task);
    await access.during?.({ decision: task });
    return decision;
  };
  return {
    before_compaction: [
      async ({ preparation: { tokensBefore, retainedTail } }) => {
        const decision = await decide();
        if (decision?.kind !== "supply") return declined(decision);
        return { compaction: { ...supplied(decision), tokensBefore, retainedTail } };
      },
    ],
    before_navigation: [
      async () => {
        const decision = await decide();
        if (decision?.kind !== "supply") return declined(decision);
        return { summary: { ...supplied(decision), readFiles: [], modifiedFiles: [] } };
      },
    ],
  };
}

function declined(decision: ScriptedDecision | null): { decline: true } | undefined {
  return decision === null ? undefined : { decline: true };
}

function supplied({ summary, usage }: Extract<ScriptedDecision, { kind: "supply" }>) {
  return { summary, ...(usage === undefined ? {} : { usage: usageOf(usage) }) };
}
