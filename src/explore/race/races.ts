/**
 * Races of a plan: both orders of each, on each subject that can run them; `units/races.ts` runs them.
 *
 * A race that a subject cannot have is named with the reason. An order that did not happen, as its timeline shows, is
 * inconclusive and stays uncovered.
 */
import type { Race, RaceOrder } from "../../faults/index.ts";
import type { Subject } from "../../subject/index.ts";
import type { Skipped } from "../result.ts";
import type { InterleavingPlan } from "./interleavings.ts";
import { skippedBecause } from "./order.ts";

/** Which races to run, and how far. */
export interface RacesPlan {
  readonly races: readonly Race[];
  /** Ids of the subjects, where not all of the plan's. */
  readonly subjects?: readonly string[];
  /** Whether every boundary of each order is cut. */
  readonly cuts: boolean;
  /** How far the interleavings of each are explored, if they are. */
  readonly interleavings?: InterleavingPlan;
}

/** One order of a race on a subject; `reason` says why it cannot be run, if it cannot. */
export interface RacePair {
  readonly race: Race;
  readonly order: RaceOrder;
  readonly subject: Subject;
  readonly reason: string | undefined;
}

/** What cannot be run, with the reason. */
export function skippedRaces(plan: RacesPlan | undefined, subjects: readonly Subject[]): Skipped[] {
  if (plan === undefined) return [];
  const skipped = new Map<string, Skipped>();
  for (const { race, subject, reason } of racePairs(plan, subjects)) {
    if (reason === undefined) continue;
    skipped.set(`${race.name} ${subject.id}`, { scenario: race.name, subject: subject.id, reason });
  }
  return [...skipped.values()];
}

/** Every order of every race on every subject. */
export function racePairs(plan: RacesPlan, subjects: readonly Subject[]): readonly RacePair[] {
  const wanted = subjects.filter(({ id }) => plan.subjects?.includes(id) ?? true);
  return plan.races.flatMap((race) =>
    wanted.flatMap((subject) =>
      race.orders.map((order) => ({ race, order, subject, reason: skippedBecause(race, order, subject) })),
    ),
  );
}
