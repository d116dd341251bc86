/**
 * The promises that only an explorer can judge, because they compare one run with another or with a real process.
 * A subject's own checkers judge within one run; see `checkers/`.
 */
import type { Violation } from "../checkers/index.ts";

export interface ExplorerCheck {
  readonly name: string;
  readonly promise: string;
}

export const EXPLORER_CHECKS = [
  { name: "recovery", promise: "a run that was cut opens again and comes to an end" },
  {
    name: "recovery-equality",
    promise: "recovery reaches what the run that nobody cut reached, but for what the policy table demands",
  },
  {
    name: "backends-agree",
    promise: "the same run, cut at the same place, recovers to the same view on every backend",
  },
  { name: "drives-agree", promise: "automatic and manual drive leave byte-identical durable state" },
  {
    name: "single-writer",
    promise: "an owner whose claim ran out changes nothing, is told, and does nothing more",
  },
  { name: "simulation-agrees", promise: "a process killed for real leaves what the simulated death leaves" },
  {
    name: "torn-bytes",
    promise: "damaged bytes are read as the session before the commit or after it, or refused with a reason",
  },
  {
    name: "failing-storage",
    promise:
      "when storage fails, no confirmed commit is lost, the failed one is whole or absent, and the life ends and says why",
  },
  {
    name: "race-history",
    promise: "each order of a race leaves its one history and is answered so, and a death leaves one of them",
  },
  {
    name: "reference-model",
    promise:
      "whatever befalls it, what was accepted is in one place, calls are answered once and in order, nothing is left under way",
  },
  { name: "reopening", promise: "a session that is opened again, with nothing left to do, stays as it is" },
  {
    name: "misbehaving-world",
    promise:
      "hooks and listeners that fail change nothing that is stored, a hook before a tool keeps it from running, and a clock that steps changes nothing but times",
  },
  { name: "determinism", promise: "the same run, done twice, goes the same way and leaves the same state" },
] as const satisfies readonly ExplorerCheck[];

export type ExplorerCheckName = (typeof EXPLORER_CHECKS)[number]["name"];

/** Says how a promise of that name was broken. */
export function violationsOf(checker: ExplorerCheckName): (signature: string, message: string) => Violation {
  return (signature, message) => ({ checker, signature, message });
}
