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
    askEach(report, ASKED_UNREADABLE, ({ unreadable }, breaks) => unreadable?.(writes, breaks));
  },
  before: (commit, model, report) => {
    askEach(report, ASKED_BEFORE, ({ before }, breaks) => before?.(commit, model, breaks));
  },
  after: (commit, model, report) => {
    askEach(report, ASKED_AFTER, ({ after }, breaks) => after?.(commit, model, breaks));
  },
  fork: () => run,
};

const ASKED_UNREADABLE = INVARIANTS.filter(({ unreadable }) => unreadable !== undefined);
const ASKED_BEFORE = INVARIANTS.filter(({ before }) => before !== undefined);
const ASKED_AFTER = INVARIANTS.filter(({ after }) => after !== undefined);

/** Asks one invariant after another; what is broken is said in the name of the one that is asked. */
function askEach(
  report: Report,
  asked: readonly Invariant[],
  ask: (invariant: Invariant, breaks: Breaks) => void,
): void {
  let index = 0;
  const breaks: Breaks = (how, message) => {
    const { number, says } = asked[index] as Invariant;
    report(`invariant ${number}: ${how}`, `invariant ${number} (${says}): ${message}`);
  };
  for (; index < asked.length; index++) ask(asked[index] as Invariant, breaks);
}
