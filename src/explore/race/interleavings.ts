/**
 * All interleavings of the calls of a race with the steps of a run, within a bound of preemptions; and some beyond it.
 *
 * A run cannot be copied in the middle, so each interleaving is executed from the start, along the choices of one that
 * was executed before up to a point, and differently from there on. States are merged: from a state that was seen with as
 * many preemptions left, everything has been or will be tried. What the bound leaves out is sampled by runs in which
 * whoever has the highest priority goes on, and priorities change at a few points (PCT).
 *
 * Every interleaving that is executed to its end must leave a history of the race. Both orders must have happened among
 * them; one that did not was not looked at.
 */
import { formatRunId, type Race, type TimelineEvent } from "../../faults/index.ts";
import { seededRandom } from "../../foundation/index.ts";
import { doubt, findingOf } from "../judgement.ts";
import type { Interleavings, Judgement } from "../result.ts";
import type { RunContext } from "../standing.ts";
import { type ChoicePoint, type Choose, execute } from "./execution.ts";
import { unprovenOf } from "./history.ts";

/** How far to go. */
export interface InterleavingPlan {
  /** The most preemptions of a run that is tried for certain. */
  readonly preemptions: number;
  /** Runs with random priorities. */
  readonly randomRuns: number;
  /** The most runs; more than this would be needed: inconclusive. */
  readonly runsMax: number;
}

/** Takes what is found, as it is found. */
export interface InterleavingSink {
  judged(judgement: Judgement): void;
  /** An order happened in some run. */
  proved(order: string): void;
  observed?(events: readonly TimelineEvent[]): void;
}

/** Tries all interleavings within the bound, then some at random. */
export async function exploreInterleavings(
  context: RunContext,
  race: Race,
  plan: InterleavingPlan,
  sink: InterleavingSink,
): Promise<Interleavings> {
  const search = new Search(plan.preemptions);
  const missing = new Set(race.orders.map(({ name }) => name));
  const telling: InterleavingSink = {
    judged: (judgement) => sink.judged(judgement),
    observed: (events) => sink.observed?.(events),
    proved: (order) => {
      missing.delete(order);
      sink.proved(order);
    },
  };
  let runCount = 0;
  for (let prefix = search.next(); prefix !== undefined; prefix = search.next()) {
    if (runCount++ >= plan.runsMax) {
      sink.judged(capped(context, race, plan.runsMax));
      break;
    }
    await runOnce(context, race, search.along(prefix), search.taken, telling);
  }
  for (let index = 0; index < plan.randomRuns; index++) {
    const chooser = new Priorities(context.seed, index, plan.preemptions + 1, search.longest);
    await runOnce(context, race, chooser.choose, chooser.taken, telling);
  }
  for (const order of missing) sink.judged(neverHappened(context, race, order));
  const { states, transitions, merged } = search;
  return { states, transitions, merged };
}

/** The run of an interleaving again, by the numbers of its choices. */
export async function interleavingAgain(
  context: RunContext,
  race: Race,
  name: string,
  sink: InterleavingSink,
): Promise<void> {
  const choices = name.slice(PREFIX.length).split(".").map(Number);
  const taken: number[] = [];
  const choose: Choose = async () => {
    const chosen = choices[taken.length] ?? 0;
    taken.push(chosen);
    return chosen;
  };
  await runOnce(context, race, choose, () => taken, sink);
}

/** Whether the order in a run id names an interleaving. */
export function isInterleaving(order: string | undefined): boolean {
  return order?.startsWith(PREFIX) === true;
}

const PREFIX = "steps@";

async function runOnce(
  context: RunContext,
  race: Race,
  choose: Choose,
  taken: () => readonly number[],
  sink: InterleavingSink,
): Promise<void> {
  const { end, events } = await execute(context, race, choose);
  if (end === undefined) return;
  const finding =
    end.kind === "stalled"
      ? doubt("stalled", "the interleaving stood still, or its choices do not fit the run")
      : findingOf(end);
  sink.judged({ id: idOf(context, race, taken()), ...finding });
  for (const order of race.orders) if (unprovenOf(order, events) === undefined) sink.proved(order.name);
  sink.observed?.(events);
}

function idOf({ subject, seed }: RunContext, race: Race, choices: readonly number[]): string {
  const last = choices.findLastIndex((choice) => choice > 0);
  const order = `${PREFIX}${last < 0 ? 0 : choices.slice(0, last + 1).join(".")}`;
  return formatRunId({ kind: "race", scenario: race.name, subject: subject.id, cuts: [], seed, order });
}

function neverHappened(context: RunContext, race: Race, order: string): Judgement {
  const message = `the order ${order} happened in no interleaving; take more preemptions`;
  return { id: idOf(context, race, []), ...doubt("order-not-covered", message) };
}

function capped(context: RunContext, race: Race, runsMax: number): Judgement {
  const message = `more than ${runsMax} interleavings; take fewer preemptions, or allow more runs`;
  return { id: idOf(context, race, []), ...doubt("runs-capped", message) };
}

/** Depth first, with merged states. */
class Search {
  readonly #bound: number;
  /** Choices of runs that are still to be made. */
  readonly #ahead: (readonly number[])[] = [[]];
  /** States by key, with the most preemptions that were left in them. */
  readonly #seen = new Map<string, number>();
  #taken: number[] = [];
  transitions = 0;
  merged = 0;
  /** The most steps of a run. */
  longest = 0;

  constructor(bound: number) {
    this.#bound = bound;
  }

  get states(): number {
    return this.#seen.size;
  }

  readonly taken = (): readonly number[] => this.#taken;

  next(): readonly number[] | undefined {
    return this.#ahead.pop();
  }

  /** Chooses along the prefix, and after it the first step at every point. */
  along(prefix: readonly number[]): Choose {
    this.#taken = [];
    let left = this.#bound;
    return async (point) => {
      const at = this.#taken.length;
      let chosen = prefix[at];
      if (chosen === undefined) {
        if (await this.#isKnown(point, left)) return "stop";
        this.#branch(point, left);
        chosen = 0;
      }
      if (at >= prefix.length - 1) this.transitions++;
      if (point.steps[chosen]?.isPreemption) left--;
      this.#taken.push(chosen);
      this.longest = Math.max(this.longest, this.#taken.length);
      return chosen;
    };
  }

  async #isKnown(point: ChoicePoint, left: number): Promise<boolean> {
    const key = await point.key();
    if (key === undefined) return false;
    const before = this.#seen.get(key);
    if (before !== undefined && before >= left) {
      this.merged++;
      return true;
    }
    this.#seen.set(key, left);
    return false;
  }

  #branch({ steps }: ChoicePoint, left: number): void {
    for (let step = steps.length - 1; step > 0; step--) {
      if (steps[step]?.isPreemption && left === 0) continue;
      this.#ahead.push([...this.#taken, step]);
    }
  }
}

/** Whoever has the highest priority goes on; at some points whoever went on last gets the lowest. */
class Priorities {
  readonly #random: ReturnType<typeof seededRandom>;
  readonly #priorities = new Map<string, number>();
  readonly #changes: ReadonlySet<number>;
  readonly #taken: number[] = [];
  #lowest = 0;

  constructor(seed: number, index: number, changeCount: number, length: number) {
    this.#random = seededRandom(seed, "interleavings", index);
    const random = this.#random;
    this.#changes = new Set(Array.from({ length: changeCount }, () => random.nextInt(Math.max(1, length))));
  }

  readonly taken = (): readonly number[] => this.#taken;

  readonly choose: Choose = async ({ steps }) => {
    const [first] = steps;
    if (this.#changes.has(this.#taken.length) && first !== undefined) {
      this.#priorities.set(first.actor, --this.#lowest);
    }
    const priorities = steps.map(({ actor }) => this.#priorityOf(actor));
    const chosen = priorities.indexOf(Math.max(...priorities));
    this.#taken.push(chosen);
    return chosen;
  };

  #priorityOf(actor: string): number {
    const known = this.#priorities.get(actor) ?? 1 + this.#random.nextInt(1_000_000);
    this.#priorities.set(actor, known);
    return known;
  }
}
