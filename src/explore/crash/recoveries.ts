/**
 * The recoveries from the deaths of one walk: one is executed for all deaths that left the very same.
 *
 * After a commit, before the effect that follows it, inside an effect whose answer is lost and after it: neighbours often
 * leave the same disk and the same world, and a recovery costs many times what comparing them costs.
 *
 * Invariants.
 * 1. Only a recovery that settled and that no judge complained of is shared: what is broken is looked at by itself, at
 *    every death.
 * 2. Sharing believes that the system is deterministic, so of the recoveries that could be shared one in
 *    `REPEATED_SHARE` is executed all the same and held against the first, event for event (design §3.11).
 * 3. What was executed, what was shared and what was repeated is counted, by the one who is told.
 */
import { isExactlySame } from "../../checkers/index.ts";
import { jsonEquals } from "../../foundation/index.ts";
import { violationsOf } from "../checks.ts";
import { FINE, type Finding } from "../judgement.ts";
import type { HowRecovered } from "../result.ts";
import { type LifeEnd, type RunContext, runToEnd } from "../standing.ts";
import { type Death, type Imprint, isSame } from "./death.ts";
import type { Left } from "./recovery.ts";

/** Of the recoveries that could be shared, one in this many is repeated. */
export const REPEATED_SHARE = 10;

/** How many recoveries of a walk are kept: deaths that left the same come close to each other. */
const KEPT_MAX = 4;

/** A recovery that others may share. */
interface Kept {
  readonly imprint: Imprint;
  readonly left: Left;
  readonly end: LifeEnd;
}

/** What is known of a death before it is recovered from. */
export interface Likeness {
  /** Undefined: it is like no other. */
  readonly imprint: Imprint | undefined;
  /** The recovery from an earlier death that left the very same. */
  readonly earlier: Kept | undefined;
}

/** How a recovery ended. */
export interface Recovered {
  readonly end: LifeEnd;
  readonly how: HowRecovered;
  /** What was found by repeating it. */
  readonly finding: Finding;
}

/** Which of the recoveries that could be shared is to be repeated; one count for a whole exploration. */
export class RepeatedSample {
  #count = 0;

  isNext(): boolean {
    return this.#count++ % REPEATED_SHARE === 0;
  }
}

/** See the module header. One object serves one walk. */
export class Recoveries {
  readonly #context: RunContext;
  readonly #sample: RepeatedSample | undefined;
  readonly #kept: Kept[] = [];

  /** @param sample undefined: nothing is shared. */
  constructor(context: RunContext, sample: RepeatedSample | undefined) {
    this.#context = context;
    this.#sample = sample;
  }

  /** Whether an earlier death left the very same. */
  like(death: Death): Likeness {
    const imprint = this.#sample === undefined ? undefined : death.imprint();
    const earlier =
      imprint === undefined ? undefined : this.#kept.find((kept) => isSame(kept.imprint, imprint));
    return { imprint, earlier };
  }

  /** The recovery from a death, executed or known. `left` is what it left, for the deaths that will be like it. */
  async from(death: Death, { imprint, earlier }: Likeness, left: Left): Promise<Recovered> {
    const known = earlier?.end;
    if (known !== undefined && !this.#sample?.isNext()) return { end: known, how: "shared", finding: FINE };
    const end = await this.#execute(death);
    if (known !== undefined) return { end, how: "repeated", finding: differenceOf(known, end) };
    if (imprint !== undefined && end.kind === "settled" && end.violations.length === 0) {
      this.#kept.unshift({ imprint, left, end });
      if (this.#kept.length > KEPT_MAX) this.#kept.pop();
    }
    return { end, how: "executed", finding: FINE };
  }

  async #execute(death: Death): Promise<LifeEnd> {
    const standing = death.fork();
    const end = await runToEnd(this.#context, standing);
    standing.disk.dispose();
    return end;
  }
}

/** A recovery from the very same did something else. */
function differenceOf(first: LifeEnd, again: LifeEnd): Finding {
  const { length } = again.events;
  const at = first.events.findIndex((event, index) => !jsonEquals(event, again.events[index]));
  const isSameEnd =
    first.kind === "settled" && again.kind === "settled" && isExactlySame(first.view, again.view);
  if (at < 0 && length === first.events.length && isSameEnd) return FINE;
  const where =
    at < 0 && length === first.events.length
      ? `after the same ${length} events it ended as ${again.kind} and left something else`
      : `event ${at < 0 ? first.events.length : at} was another: ${describe(first, at)}, then ${describe(again, at)}`;
  const message = `a recovery from the very same state, executed again, went another way: ${where}; something undeclared decides what happens`;
  return { violations: [violationsOf("determinism")("recovery-differs", message)] };
}

function describe({ events }: LifeEnd, at: number): string {
  const event = at < 0 ? events.at(-1) : events[at];
  if (event === undefined) return "none";
  return "boundary" in event ? `${event.kind} ${event.boundary.label}` : event.kind;
}
