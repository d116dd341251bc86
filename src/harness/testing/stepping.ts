/** Stepping a manual drive to a place by its name. */
import type { AgentHarness } from "../agent-harness.ts";

/** Executes actions until the next one is of this kind; `about` is in its description: an event, an effect, a hook. */
export async function stepTo(harness: AgentHarness, kind: string, about = ""): Promise<void> {
  for (let steps = 0; steps < 60; steps++) {
    const next = await harness.peekAction();
    if (next === undefined) break;
    if (next.kind === kind && next.description.includes(about)) return;
    await harness.executeAction();
  }
  throw new Error(`there is no ${kind} ${about}`);
}
