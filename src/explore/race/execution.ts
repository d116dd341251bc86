/**
 * One interleaving: a life that drives itself, and calls from outside, let on one step at a time by somebody who chooses.
 *
 * Terms. *Actor*: the life, or one of the calls; what an actor makes arrives at the gate under its name. *Step*: a call is
 * made, or one boundary is crossed that an actor is parked before. *Preemption*: a step of another actor while the one
 * that went on last could go on.
 *
 * Invariants.
 * 1. The steps at a point come in a fixed order, and the first of them is no preemption: those of the actor that went on
 *    last, then those of the life, then those of the calls in their order.
 * 2. Nothing happens between two points that nobody chose: the gate is closed all the time.
 * 3. The same choices make the same run.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import {
  type Boundary,
  boundaryName,
  nameOf,
  provenCount,
  type Race,
  type TimelineEvent,
  unscheduled,
} from "../../faults/index.ts";
import { readable, unlessUnreadable } from "../readable.ts";
import {
  boot,
  endOf,
  firstStanding,
  type Life,
  type LifeEnd,
  quiet,
  type RunContext,
  type Standing,
} from "../standing.ts";
import { judged } from "./order.ts";

/** Where somebody chooses. */
export interface ChoicePoint {
  readonly steps: readonly Step[];
  /**
   * What can be seen of the run here, as a digest: what is durable, what happened outside, who is parked where, who was
   * answered what, who went on last, and how much of each order has happened. Two runs with one key are taken to have the
   * same rest. Undefined where what is durable cannot be read: such a run is like no other.
   */
  key(): Promise<string | undefined>;
}

/** See the module header. */
export interface Step {
  readonly actor: string;
  /** Undefined: the call is made. */
  readonly boundary?: Boundary;
  readonly isPreemption: boolean;
}

/** The number of a step, or that the run is of no interest any more. */
export type Choose = (point: ChoicePoint) => Promise<number | "stop">;

/** How an interleaving ended. `end` is undefined where it was stopped. */
export interface Execution {
  readonly end: LifeEnd | undefined;
  readonly events: readonly TimelineEvent[];
}

const LIFE = "life";

/** Who is acting, wherever its promises lead. One for all runs: each further one would slow every promise down. */
const ACTORS = new AsyncLocalStorage<string>();

/** Runs a race once. Its calls are those of its first order; when each is made is chosen. */
export async function execute(base: RunContext, race: Race, choose: Choose): Promise<Execution> {
  const context: RunContext = {
    ...base,
    subject: judged(base.subject, race, undefined),
    scenario: { ...unscheduled(race), schedule: [] },
    drive: "automatic",
    isNamed: true,
  };
  const standing = await firstStanding(context);
  const run = new Run(context, standing, race);
  try {
    return await run.toTheEnd(choose);
  } finally {
    run.drop();
    ACTORS.disable();
    standing.disk.dispose();
  }
}

class Run {
  readonly #context: RunContext;
  readonly #standing: Standing;
  readonly #race: Race;
  readonly #life: Life;
  /** Calls that were made, with their answers as far as they are known. */
  readonly #made = new Map<string, { readonly answer: Promise<string>; text?: string }>();
  #current = LIFE;

  constructor(context: RunContext, standing: Standing, race: Race) {
    this.#context = context;
    this.#standing = standing;
    this.#race = race;
    const actorOf = () => ACTORS.getStore() ?? LIFE;
    this.#life = boot(context, standing, { open: false, actorOf });
  }

  async toTheEnd(choose: Choose): Promise<Execution> {
    const { timeline } = this.#life;
    for (;;) {
      if ((await this.#settled()) === "stalled") return this.#stalled();
      const steps = this.#steps();
      if (steps.length === 0) {
        const end = await endOf(this.#context, this.#standing, this.#life);
        return { end, events: timeline.events };
      }
      const chosen = await choose({ steps, key: () => this.#key() });
      if (chosen === "stop") return { end: undefined, events: timeline.events };
      const step = steps[chosen];
      if (step === undefined) return this.#stalled();
      this.#take(step);
    }
  }

  drop(): void {
    this.#life.gate.drop();
    this.#life.incarnation.drop();
  }

  #stalled(): Execution {
    const { events } = this.#life.timeline;
    return { end: { kind: "stalled", events }, events };
  }

  /** Waits until everybody is parked, answered, or at an end. */
  #settled(): Promise<"stalled" | undefined> {
    const answers = [...this.#made.values()].map(({ answer }) => answer);
    return quiet(this.#context, this.#life, ...answers);
  }

  /** See invariant 1. */
  #steps(): readonly Step[] {
    const { gate } = this.#life;
    const names = this.#race.orders[0].schedule.map(nameOf);
    const actors = [this.#current, LIFE, ...names].filter((name, at, all) => all.indexOf(name) === at);
    const steps = actors.flatMap((actor): Omit<Step, "isPreemption">[] => {
      const parked = gate.waiting.filter((one) => one.actor === actor);
      if (parked.length > 0) return parked.map(({ boundary }) => ({ actor, boundary }));
      return this.#canBeMade(actor) ? [{ actor }] : [];
    });
    const canGoOn = steps.some(({ actor }) => actor === this.#current);
    return steps.map((step) => ({ ...step, isPreemption: canGoOn && step.actor !== this.#current }));
  }

  /** A life takes calls once it has opened its session, which is its first commit. */
  #canBeMade(actor: string): boolean {
    return actor !== LIFE && !this.#made.has(actor) && this.#life.gate.crossedCount > 0;
  }

  #take({ actor, boundary }: Step): void {
    this.#current = actor;
    if (boundary !== undefined) {
      this.#life.gate.release(boundary);
      return;
    }
    const scheduled = this.#race.orders[0].schedule.find((one) => nameOf(one) === actor);
    if (scheduled === undefined) throw new Error(`the race ${this.#race.name} has no call ${actor}`);
    const answer = ACTORS.run(actor, () => this.#life.incarnation.call?.(scheduled.call, actor));
    if (answer === undefined) throw new Error("a life that has opened its session takes calls");
    const made: { readonly answer: Promise<string>; text?: string } = { answer };
    this.#made.set(actor, made);
    answer.then(
      (text) => {
        made.text = text;
      },
      () => undefined,
    );
  }

  async #key(): Promise<string | undefined> {
    const { gate, timeline } = this.#life;
    const view = await unlessUnreadable(() => readable(this.#context, this.#standing));
    if (view === undefined) return undefined;
    const seen = {
      view: view.canonical,
      rows: this.#standing.world.rows,
      parked: gate.waiting.map(({ actor, boundary }) => [actor, boundaryName(boundary)]),
      answers: [...this.#made].map(([name, { text }]) => [name, text ?? null]).sort(),
      current: this.#current,
      proven: this.#race.orders.map(({ proof }) => provenCount(proof, timeline.events)),
    };
    return createHash("sha256").update(JSON.stringify(seen)).digest("base64");
  }
}
