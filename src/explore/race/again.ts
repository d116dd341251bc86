/** The run of a race again, by its id: an order, a death in it, or an interleaving. */
import { type CutRef, cutRefName, type Race, type RunId, type TimelineEvent } from "../../faults/index.ts";
import { together } from "../judgement.ts";
import type { Judgement } from "../result.ts";
import type { RunContext } from "../standing.ts";
import { interleavingAgain, isInterleaving } from "./interleavings.ts";
import { exploreOrder, skippedBecause } from "./order.ts";

/** What was found. `judgement` is undefined where the run never came to what the id names. */
export interface RaceAgain {
  readonly judgement: Judgement | undefined;
  readonly events: readonly TimelineEvent[];
  /** Of the canonical view that was reached. */
  readonly digest: string | undefined;
  /** Why the race cannot be run, if it cannot. */
  readonly reason?: string;
}

const NOTHING: RaceAgain = { judgement: undefined, events: [], digest: undefined };

/** See the header. The judgement has the id `text`. */
export async function raceAgain(
  context: RunContext,
  race: Race,
  { order: name = "", cuts }: Pick<RunId, "order" | "cuts">,
  text: string,
): Promise<RaceAgain> {
  if (isInterleaving(name)) return stepsAgain(context, race, name, text);
  const order = race.orders.find((one) => one.name === name);
  if (order === undefined) return NOTHING;
  const reason = skippedBecause(race, order, context.subject);
  if (reason !== undefined) return { ...NOTHING, reason };
  const wanted = cuts.map(cutRefName);
  const isWanted = (path: readonly CutRef[]) => path.length === wanted.length;
  let found = NOTHING;
  const plan = {
    depth: wanted.length + 1,
    wants: (path: readonly CutRef[], cut: CutRef) => cutRefName(cut) === wanted[path.length],
    enough: () => false,
    secondDeaths: false,
    recoverEach: true,
  };
  await exploreOrder(context, race, order, plan, {
    saw: () => undefined,
    judged: (judgement, path, digest) => {
      if (!isWanted(path)) return;
      const known = found.judgement;
      const both = known === undefined ? { ...judgement, id: text } : together(known, judgement);
      found = { ...found, judgement: both, digest: found.digest ?? digest };
    },
    observed: (path, events) => {
      if (isWanted(path)) found = { ...found, events };
    },
  });
  return found;
}

async function stepsAgain(context: RunContext, race: Race, name: string, text: string): Promise<RaceAgain> {
  let found = NOTHING;
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
