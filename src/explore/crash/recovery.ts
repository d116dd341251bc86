/**
 * What a death left, and what recovery had to make of it.
 *
 * Both questions need what was durable at the moment of death. A disk that cannot be read there is a finding about the
 * system, and no reason to stop exploring; a cut of which the subject's tables say nothing is a doubt.
 */
import type { Violation } from "../../checkers/index.ts";
import { compareViews, describeDifference, NotCovered } from "../../checkers/index.ts";
import type { Cut } from "../../faults/index.ts";
import type { RecoveryExpectation, View } from "../../subject/index.ts";
import { type Finding, refusal } from "../judgement.ts";
import { type LifeEnd, type RunContext, type Standing, viewOf } from "../standing.ts";

/** Looks at what a death left, and keeps in mind whether it could be read. */
export class Left {
  readonly #context: RunContext;
  readonly #standing: Standing;
  #refusal: Violation | undefined;

  constructor(context: RunContext, standing: Standing) {
    this.#context = context;
    this.#standing = standing;
  }

  /** What was found about the death itself. */
  get finding(): Finding {
    return { violations: this.#refusal === undefined ? [] : [this.#refusal] };
  }

  /** The answer of `question`; undefined if it needs what cannot be read. */
  async ask<T>(question: (atCut: () => Promise<View>) => T | Promise<T>): Promise<T | undefined> {
    try {
      return await question(() => this.#read());
    } catch (error) {
      if (this.#refusal === undefined) throw error;
      return undefined;
    }
  }

  async #read(): Promise<View> {
    try {
      return await viewOf(this.#context, this.#standing);
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

/** Holds the end of a recovery against what it had to reach. */
export function recoveryOf(expectation: RecoveryExpectation | string | undefined, end: LifeEnd): Finding {
  if (expectation === undefined) return { violations: [] };
  if (typeof expectation === "string") {
    return { violations: [], inconclusive: { signature: "not-covered", message: expectation } };
  }
  return { violations: end.kind === "settled" ? differencesOf(expectation, end.view) : [] };
}

/** Recovery did not reach what the specification demands (design §3.5). */
function differencesOf({ canonical, demands }: RecoveryExpectation, { canonical: found }: View): Violation[] {
  const difference = compareViews(canonical, found);
  if (difference === undefined) return [];
  const place = difference.pointer.replaceAll(/\d+/g, "*");
  const demanded =
    demands.length === 0 ? "the run that nobody cut" : `what is demanded there (${demands.join(", ")})`;
  return [
    {
      checker: "recovery-equality",
      signature: `differs:${place}`,
      message: `recovery did not reach ${demanded}: ${describeDifference(difference)}`,
    },
  ];
}
