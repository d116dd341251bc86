/**
 * What a death left, and what recovery had to make of it.
 *
 * Both questions need what was durable at the moment of death. A disk that cannot be read there is a finding about the
 * system, and no reason to stop exploring; a cut of which the subject's tables say nothing is a doubt.
 */
import type { Violation } from "../../checkers/index.ts";
import { compareViews, describeDifference, type Known, NotCovered } from "../../checkers/index.ts";
import type { Cut } from "../../faults/index.ts";
import type { RecoveryExpectation, View } from "../../subject/index.ts";
import { violationsOf } from "../checks.ts";
import { doubt, FINE, type Finding, refusal } from "../judgement.ts";
import { type RunContext, type Standing, viewOf } from "../standing.ts";

/** Looks at what a death left, and keeps in mind whether it could be read. */
export class Left {
  readonly #context: RunContext;
  readonly #standing: Standing;
  readonly #seen: Known;
  #refusal: Violation | undefined;
  #view: View | undefined;

  /**
   * @param seen what deaths left before; many leave what reads the same, and what follows from it is computed once.
   * @param earlier that of a death which left the very same: what it has read is not read again.
   */
  constructor(context: RunContext, standing: Standing, seen: Known, earlier?: Left) {
    this.#context = context;
    this.#standing = standing;
    this.#seen = seen;
    this.#view = earlier === undefined ? undefined : earlier.#view;
  }

  /** What was found about the death itself. */
  get finding(): Finding {
    return { violations: this.#refusal === undefined ? [] : [this.#refusal] };
  }

  /**
   * The answer of `question`; undefined if it needs what cannot be read. The view that it is given is right in its
   * canonical text; its exact one may be that of another death that left the same.
   */
  async ask<T>(question: (atCut: () => Promise<View>) => T | Promise<T>): Promise<T | undefined> {
    try {
      return await question(async () => this.#seen.firstLike(await this.#read()));
    } catch (error) {
      if (this.#refusal === undefined) throw error;
      return undefined;
    }
  }

  async #read(): Promise<View> {
    try {
      this.#view ??= await viewOf(this.#context, this.#standing);
      return this.#view;
    } catch (error) {
      this.#refusal = refusal("unreadable", error, "what the death left cannot be read:");
      throw error;
    }
  }
}

/** What recovery must reach; a sentence if the subject's tables say nothing of this cut. */
export async function expectationOf(
  { subject, scenario }: RunContext,
  cut: Cut,
  atCut: () => Promise<View>,
  uninterrupted: View,
): Promise<RecoveryExpectation | string> {
  try {
    return await subject.expect({ scenario, cut, atCut, uninterrupted });
  } catch (error) {
    if (error instanceof NotCovered) return error.message;
    throw error;
  }
}

/** Holds what a recovery reached against what it had to reach; undefined: it did not settle. */
export function recoveryOf(
  expectation: RecoveryExpectation | string | undefined,
  reached: View | undefined,
): Finding {
  if (expectation === undefined) return FINE;
  if (typeof expectation === "string") {
    return doubt("not-covered", expectation);
  }
  return { violations: reached === undefined ? [] : differencesOf(expectation, reached) };
}

/** Recovery did not reach what the specification demands (design §3.5). */
function differencesOf(expectation: RecoveryExpectation, { canonical: found }: View): Violation[] {
  if (reachedBefore.get(expectation) === found) return [];
  const { canonical, demands } = expectation;
  const difference = compareViews(canonical, found);
  if (difference === undefined) {
    reachedBefore.set(expectation, found);
    return [];
  }
  const place = difference.pointer.replaceAll(/\d+/g, "*");
  const demanded =
    demands.length === 0 ? "the run that nobody cut" : `what is demanded there (${demands.join(", ")})`;
  const message = `recovery did not reach ${demanded}: ${describeDifference(difference)}`;
  return [violationsOf("recovery-equality")(`differs:${place}`, message)];
}

/** The last text that was found to be what an expectation demands; patterns are compared once. */
const reachedBefore = new WeakMap<RecoveryExpectation, string>();
