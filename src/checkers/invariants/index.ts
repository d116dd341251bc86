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

const checksBefore = INVARIANTS.flatMap((invariant) =>
  invariant.before === undefined ? [] : [{ ...invariant, check: invariant.before }],
);
const checksAfter = INVARIANTS.flatMap((invariant) =>
  invariant.after === undefined ? [] : [{ ...invariant, check: invariant.after }],
);

const checksUnreadable = INVARIANTS.flatMap((invariant) =>
  invariant.unreadable === undefined ? [] : [{ ...invariant, check: invariant.unreadable }],
);

const run: HarnessCheckRun = {
  unreadable: (writes, report) => {
    for (const invariant of checksUnreadable) invariant.check(writes, breaking(invariant, report));
  },
  before: (commit, model, report) => {
    for (const invariant of checksBefore) invariant.check(commit, model, breaking(invariant, report));
  },
  after: (commit, model, report) => {
    for (const invariant of checksAfter) invariant.check(commit, model, breaking(invariant, report));
  },
  fork: () => run,
};

function breaking({ number, says }: Invariant, report: Report): Breaks {
  return (how, message) => report(`invariant ${number}: ${how}`, `invariant ${number} (${says}): ${message}`);
}
