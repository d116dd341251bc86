/**
 * The numbered invariants of the specification (§9.1) as one checker: after every commit, at the cost of the commit.
 *
 * Checks: 1-4, 7, 9, 11-21. Does not check: 5 (how reads are made) and 10 (a private index; conformance checks it);
 * 6 and 8 are held by `stored-state.ts` and by the entry schema of 7.
 */
import type { HarnessCheck, HarnessCheckRun, Report } from "../harness-check.ts";
import { CURRENT_STATE_INVARIANT } from "./current-state.ts";
import type { Breaks, Invariant } from "./invariant.ts";
import { OPERATION_INVARIANTS } from "./operation.ts";
import { SETTLEMENT_INVARIANTS } from "./settlement.ts";
import { STORAGE_INVARIANTS } from "./storage.ts";
import { TREE_INVARIANTS } from "./tree.ts";

/** By number. */
export const INVARIANTS: readonly Invariant[] = [
  ...STORAGE_INVARIANTS,
  ...TREE_INVARIANTS,
  ...OPERATION_INVARIANTS,
  ...SETTLEMENT_INVARIANTS,
  CURRENT_STATE_INVARIANT,
].sort((left, right) => left.number - right.number);

export const invariants: HarnessCheck = {
  name: "invariants",
  promise: "the numbered invariants of the specification (§9.1) hold after every commit",
  doesNotCheck:
    "invariants 5 and 10, which are about how a backend reads, and 6 and 8 beyond what is committed",
  start: () => run,
};

const run: HarnessCheckRun = {
  unreadable: (writes, report) => {
    for (const { unreadable, breaks } of bound(report)) unreadable?.(writes, breaks);
  },
  before: (commit, model, report) => {
    for (const { before, breaks } of bound(report)) before?.(commit, model, breaks);
  },
  after: (commit, model, report) => {
    for (const { after, breaks } of bound(report)) after?.(commit, model, breaks);
  },
  fork: () => run,
};

type Bound = Invariant & { readonly breaks: Breaks };

/** The invariants with their way to speak, once per listener: they are asked twice for every commit. */
const boundTo = new WeakMap<Report, readonly Bound[]>();

function bound(report: Report): readonly Bound[] {
  const known = boundTo.get(report);
  if (known !== undefined) return known;
  const made = INVARIANTS.map((invariant) => ({ ...invariant, breaks: breaking(invariant, report) }));
  boundTo.set(report, made);
  return made;
}

function breaking({ number, says }: Invariant, report: Report): Breaks {
  return (how, message) => report(`invariant ${number}: ${how}`, `invariant ${number} (${says}): ${message}`);
}
