/**
 * Row conformance as a checker: every transaction is exactly one row of the specification's tables.
 *
 * Checks: the set and the order of writes, and the state before and after. Does not check: timing, wording, the world
 * (`recognise.ts` says more), nor the name under which a commit is cut: boundaries take their names from the same
 * recognition, so there is no second opinion to hold against it.
 */
import type { HarnessCheck, HarnessCheckRun } from "../harness-check.ts";

export const rowConformance: HarnessCheck = {
  name: "row-conformance",
  promise: "every transaction is exactly one row of the specification's tables, in its order of writes",
  doesNotCheck: "times, the wording of messages, and what the world did",
  start: () => run,
};

const run: HarnessCheckRun = {
  unreadable: (_writes, report) => {
    report("row: unreadable", "a transaction holds something of no known shape, so it is no row");
  },
  before: ({ found }, _model, report) => {
    if (!found.ok) report(found.signature, found.message);
  },
  fork: () => run,
};
