/**
 * The numbered invariants of the specification (§9.1) as one checker: after every commit, at the cost of the commit.
 *
 * Checks: 1-4, 7, 9, 11-21. Does not check: 5 (how reads are made) and 10 (a private index; conformance checks it);
 * 6 and 8 are held by `stored-state.ts` and by the entry schema of 7.
 */
import type { Write } from "../../model/index.ts";
import type { HarnessCheck, HarnessCheckRun, Report } from "../harness-check.ts";
import { type FormSet, formsIn } from "../write-form.ts";
import { CURRENT_STATE_INVARIANT } from "./current-state.ts";
import { type Breaks, type Invariant, isAbout } from "./invariant.ts";
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
    for (const invariant of INVARIANTS) invariant.unreadable?.(writes, inTheNameOf(invariant, report));
  },
  before: (commit, model, report) => {
    for (const invariant of concerned(commit.writes).before) {
      invariant.before?.check(commit, model, inTheNameOf(invariant, report));
    }
  },
  after: (commit, model, report) => {
    for (const invariant of concerned(commit.writes).after) {
      invariant.after?.check(commit, model, inTheNameOf(invariant, report));
    }
  },
  fork: () => run,
};

function inTheNameOf({ number, says }: Invariant, report: Report): Breaks {
  return (how, message) => report(`invariant ${number}: ${how}`, `invariant ${number} (${says}): ${message}`);
}

/** The invariants that a transaction can break, by its check before it is folded and by the one after. */
interface Concerned {
  readonly before: readonly Invariant[];
  readonly after: readonly Invariant[];
}

function concerned(writes: readonly Write[]): Concerned {
  const forms = formsIn(writes);
  let found = concernedBy.get(forms);
  if (found === undefined) {
    found = {
      before: INVARIANTS.filter(({ before }) => before !== undefined && isAbout(before, forms)),
      after: INVARIANTS.filter(({ after }) => after !== undefined && isAbout(after, forms)),
    };
    concernedBy.set(forms, found);
  }
  return found;
}

/** By the forms of a transaction: there are as many as rows, and as defects. */
const concernedBy = new Map<FormSet, Concerned>();
