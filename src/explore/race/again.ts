/** The run of a race again, by its id: an order, a death in it, or an interleaving. */
import type { Race, RunId } from "../../faults/index.ts";
import { crashAgain, type FoundAgain, NOTHING_FOUND } from "../crash-again.ts";
import type { RunContext } from "../standing.ts";
import { interleavingAgain, isInterleaving } from "./interleavings.ts";
import { exploreOrder, skippedBecause } from "./order.ts";

/** What was found. */
export interface RaceAgain extends FoundAgain {
  /** Why the race cannot be run, if it cannot. */
  readonly reason?: string;
}

/** See the header. The judgement has the id `text`. */
export async function raceAgain(
  context: RunContext,
  race: Race,
  { order: name = "", cuts }: Pick<RunId, "order" | "cuts">,
  text: string,
): Promise<RaceAgain> {
  if (isInterleaving(name)) return stepsAgain(context, race, name, text);
  const order = race.orders.find((one) => one.name === name);
  if (order === undefined) return NOTHING_FOUND;
  const reason = skippedBecause(race, order, context.subject);
  if (reason !== undefined) return { ...NOTHING_FOUND, reason };
  return crashAgain(cuts, text, (plan, sink) => exploreOrder(context, race, order, plan, sink));
}

async function stepsAgain(context: RunContext, race: Race, name: string, text: string): Promise<RaceAgain> {
  let found: RaceAgain = NOTHING_FOUND;
  await interleavingAgain(context, race, name, {
    judged: (judgement) => {
      found = { ...found, judgement: { ...judgement, id: text } };
    },
    proved: () => undefined,
    observed: (events) => {
      found = { ...found, events };
    },
  });
  return found;
}
