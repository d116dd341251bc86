/**
 * Recovery equals uninterrupted: what crash, reopen and resume must reach (spec §4.5).
 *
 * Checks: the canonical view after recovery is that of the run that nobody cut, changed exactly where the policy table
 * demands it for what was pending at the cut. It is computed, not tolerated: a recovery that should have differed and
 * did not is found like one that should not have and did. Does not check: how recovery got there (the judge does), and
 * what the table says nothing of (`NotCovered`).
 */
import type { Cut, Scenario } from "../../faults/index.ts";
import type { RecoveryExpectation, RecoveryQuestion, View } from "../contract.ts";
import { renamedJson } from "../ids-and-times.ts";
import { continueFrom, type Reference } from "./continuation.ts";
import { defers } from "./deferred.ts";
import { Library } from "./library.ts";
import { NotCovered, parseView } from "./parsed-view.ts";

/** The view that recovery must reach; see the header. @throws NotCovered */
export async function expectRecovery(question: RecoveryQuestion): Promise<RecoveryExpectation> {
  const { scenario, cut, uninterrupted } = question;
  if (scenario.lanes !== undefined) throw new NotCovered("several lanes at once");
  // Whether a context has outgrown its window depends on which of its messages are younger than others, and a restart makes
  // some younger. Scenarios that were written keep clear of that.
  if (scenario.isGenerated && scenario.settings.compaction?.enabled === true) {
    throw new NotCovered("a generated workload whose context is compacted");
  }
  if (leavesNothingPending(cut) && !defers(scenario))
    return { canonical: uninterrupted.canonical, demands: [] };
  const atCut = await question.atCut();
  const before = computed.get(atCut);
  if (before?.scenario === scenario && before.uninterrupted === uninterrupted) return before.expectation;
  const reference = referenceOf(scenario, uninterrupted);
  const { view, demands } = continueFrom(scenario, parseView(atCut.canonical), reference);
  const expectation = { canonical: renamedJson(view), demands };
  computed.set(atCut, { scenario, uninterrupted, expectation });
  return expectation;
}

/** What was computed for a view at a cut. An explorer hands in one view for all cuts that left the same. */
const computed = new WeakMap<View, Computed>();

interface Computed {
  readonly scenario: RecoveryQuestion["scenario"];
  readonly uninterrupted: View;
  readonly expectation: RecoveryExpectation;
}

/** What the uninterrupted run lends. It is read once and asked at every cut; nobody changes it. */
function referenceOf(scenario: Scenario, uninterrupted: View): Reference {
  const known = references.get(uninterrupted);
  if (known?.scenario === scenario) return known;
  const view = parseView(uninterrupted.canonical);
  const reference = { scenario, view, library: new Library(scenario, view.entries) };
  references.set(uninterrupted, reference);
  return reference;
}

const references = new WeakMap<View, Reference & { readonly scenario: Scenario }>();

/** Cuts after which no effect is pending and no wait is running: nothing can be demanded, unless the scenario defers. */
export function leavesNothingPending({ boundary, position }: Pick<Cut, "boundary" | "position">): boolean {
  if (boundary.kind !== "commit") return false;
  return (position === "after" ? QUIET_AFTER : QUIET_BEFORE).has(boundary.label);
}

/** Rows after which nothing is pending. */
const QUIET_AFTER: ReadonlySet<string> = new Set([
  "lane.seed",
  "acceptance.prompt",
  "generation.ready",
  "generation.retry-due",
  "generation.retry-unknown",
  "generation.settle.tools",
  "generation.settle.finish",
  "generation.settle.failed",
  "generation.settle.synthetic-error",
  "tool.settle.last",
  "tool.synthetic.last",
  "tool.interrupted.last",
  "terminal.completed",
  "terminal.failed",
]);

/** Rows before which nothing is pending. A torn commit leaves what was before it. */
const QUIET_BEFORE: ReadonlySet<string> = new Set([
  "lane.seed",
  "acceptance.prompt",
  "generation.ready",
  "generation.intent",
  "terminal.completed",
  "terminal.failed",
]);
