/** Every checker by name, for `crashproof list` and for switching one off. */
import type { Checker } from "./checker.ts";
import { HARNESS_CHECKS } from "./judge.ts";

/** What a reader is told of a checker. */
export type CheckerInfo = Pick<Checker<never, never>, "name" | "promise" | "doesNotCheck">;

/** The checkers of the harness: over the timeline, over recovery, over several runs. */
export const CHECKERS: readonly CheckerInfo[] = [
  ...HARNESS_CHECKS.map(({ name, promise, doesNotCheck }) => ({ name, promise, doesNotCheck })),
  {
    name: "recovery-equality",
    promise:
      "after crash, reopen and resume the session is that of the uninterrupted run, but for what §4.5 demands there",
    doesNotCheck: "how recovery got there, and phases for which nothing is computed yet",
  },
  {
    name: "recovery-restartable",
    promise: "a recovery that is cut again reaches what the recovery that was not cut reaches",
    doesNotCheck: "more cuts in a row than the depth that was asked for",
  },
  {
    name: "reopen-agrees",
    promise: "closed and opened again, a session is what it was",
    doesNotCheck: "whether it was right before",
  },
  {
    name: "backends-agree",
    promise: "one scenario under the same faults leaves the same canonical view on every backend",
    doesNotCheck: "whether the common view is right",
  },
  {
    name: "drives-agree",
    promise: "automatic and manual drive leave byte-identical durable state",
    doesNotCheck: "whether the common state is right",
  },
  {
    name: "simulation-agrees",
    promise: "what a real kill leaves at a boundary is what the simulated crash leaves there",
    doesNotCheck: "boundaries at which nothing was really killed",
  },
];
