/**
 * Cases by seed and path: what fast-check draws, and how one of its cases is drawn again.
 *
 * A path says how a case is reached: the number of the draw, and which of the smaller ones was taken, step by step, if it
 * was shrunk: `17`, `17:0:3`. With the seed and the mixture it is the whole of a case.
 */
import fc from "fast-check";
import { casePlans, type Mixture } from "./arbitrary.ts";
import type { CasePlan } from "./plan.ts";
import type { FuzzCase } from "./run-case.ts";
import { scenarioOf } from "./scenario-of.ts";

/** A plan and how it is reached. */
export interface Drawn {
  readonly plan: CasePlan;
  readonly path: string;
}

/** Draws cases, the first of them by its number, until `take` has enough, at most so many. */
export async function draw(
  mixture: Mixture,
  { seed, from, count }: { readonly seed: number; readonly from: number; readonly count: number },
  take: (drawn: Drawn) => Promise<"go on" | "enough">,
): Promise<void> {
  let index = from;
  const property = fc.asyncProperty(casePlans(mixture), async (plan) => {
    const path = String(index++);
    if ((await take({ plan, path })) === "enough") throw new Enough();
  });
  const path = String(from);
  rethrown(await fc.check(property, { seed: seedOf(seed), path, numRuns: count, endOnFailure: true }));
}

/** The case of a path; undefined if there is none. */
export async function drawAgain(mixture: Mixture, seed: number, path: string): Promise<CasePlan | undefined> {
  let found: CasePlan | undefined;
  const property = fc.asyncProperty(casePlans(mixture), async (plan) => {
    found ??= plan;
    throw new Enough();
  });
  try {
    rethrown(await fc.check(property, { seed: seedOf(seed), path, numRuns: 1, endOnFailure: true }));
  } catch (error) {
    if (!leadsNowhere(error)) throw error;
  }
  return found;
}

/** Whether fast-check says that a case has no such smaller one. It has no other way to say so. */
function leadsNowhere(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("Unable to replay");
}

/**
 * The smallest case below a path for which `holds`: fast-check goes through smaller and smaller ones. Whoever has no more
 * time answers false.
 */
export async function shrink(
  mixture: Mixture,
  { seed, path }: { readonly seed: number; readonly path: string },
  holds: (plan: CasePlan) => Promise<boolean>,
): Promise<Drawn | undefined> {
  const property = fc.asyncProperty(casePlans(mixture), async (plan) => {
    if (await holds(plan)) throw new Enough();
  });
  const found = await fc.check(property, { seed: seedOf(seed), path, numRuns: 1 });
  rethrown(found);
  const { counterexample, counterexamplePath } = found;
  if (counterexample === null || counterexamplePath === null) return undefined;
  return { plan: counterexample[0], path: counterexamplePath };
}

/** A plan, ready to be run under a name. */
export function caseOf(plan: CasePlan, name: string): FuzzCase {
  return { scenario: scenarioOf(plan, name), faults: plan.faults, schedule: plan.schedule };
}

/** Ends a search of fast-check. */
class Enough extends Error {
  override readonly name = "Enough";
}

/** What goes wrong in here is no finding of fast-check. */
function rethrown({ errorInstance }: fc.RunDetails<[CasePlan]>): void {
  if (errorInstance !== undefined && errorInstance !== null && !(errorInstance instanceof Enough)) {
    throw errorInstance;
  }
}

/** fast-check takes seeds of 32 bits. */
function seedOf(seed: number): number {
  return seed | 0;
}
