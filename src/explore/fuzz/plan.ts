/**
 * The plan of a fuzz case: what is drawn, before it has words. Small numbers and kinds, so that a smaller plan is a smaller
 * case; `scenario-of.ts` puts texts, ids and costs to it.
 *
 * A number under `which`, `when` or `at` picks from what there is when the case is made, so every plan makes a case, also
 * one that was shrunk.
 */
import type { Position } from "../../faults/index.ts";

/** One case: a workload, and what befalls it. */
export interface CasePlan {
  readonly settings: SettingsPlan;
  /** At least one. */
  readonly tools: readonly ToolPlan[];
  /** What the application does on its first lane, in order. */
  readonly acts: readonly ActPlan[];
  /** What it does on each further lane meanwhile: prompts, and calls to queues. */
  readonly lanes: readonly (readonly ActPlan[])[];
  readonly summaries: readonly SummaryPlan[];
  /** Whether a hook lets the last run go on. */
  readonly goesOn: boolean;
  /** In order, one for each life but the last. */
  readonly faults: readonly FaultPlan[];
  /** Which of the boundaries that wait goes next, over and over; empty: the one that came first. */
  readonly schedule: readonly number[];
}

export interface SettingsPlan {
  readonly parallelTools: boolean;
  readonly steersAll: boolean;
  readonly followsUpAll: boolean;
  readonly retriesMax: number;
  /** Contexts are small, and are compacted when they outgrow their window. */
  readonly isTight: boolean;
}

export interface ToolPlan {
  readonly replay: "never" | "safe";
  readonly does: "answers" | "costs" | "ends" | "throws" | "requires";
  /** Declares the other replay in every life but the first. */
  readonly isRedeployed: boolean;
}

export type ActPlan =
  | { readonly act: "prompt"; readonly turns: readonly TurnPlan[] }
  | { readonly act: "say"; readonly call: "nextRun" | "appendMessage" | "appendCustom" }
  | { readonly act: "withdraw"; readonly which: number }
  | { readonly act: "note"; readonly call: "setThinkingLevel" | "setName" | "recordUsage" }
  | { readonly act: "compact" }
  | { readonly act: "navigate"; readonly which: number; readonly summarize: boolean };

/** A turn of the model: what goes wrong first, then its answer. */
export interface TurnPlan {
  readonly first: readonly ("busy" | "refused" | "overflow" | "deferred" | "mismatched")[];
  readonly answer: "stop" | "length" | "error";
  /** Tools that the answer calls, by their place in the plan; with `error` none. */
  readonly calls: readonly number[];
  /** Whether its context fills the window. */
  readonly isLarge: boolean;
  readonly meanwhile: readonly MeanwhilePlan[];
}

export interface MeanwhilePlan {
  readonly call: "steer" | "followUp" | "nextRun" | "appendMessage" | "appendCustom" | "withdraw" | "abort";
  /** Picks from the moments of the turn. */
  readonly when: number;
  /** With `withdraw`: picks from what was said until then. */
  readonly which: number;
}

/** What is said of the n-th work on the tree. */
export interface SummaryPlan {
  readonly decision: "none" | "decline" | "supply";
  /** Failures before the answer, of the first request. */
  readonly failures: number;
  readonly meanwhile: readonly MeanwhilePlan[];
}

/** Places are in thousandths: of the boundaries, or of the calls of the medium, that the life has left. */
export type FaultPlan =
  | { readonly fault: "death"; readonly at: number; readonly position: Position }
  | { readonly fault: "disk"; readonly which: number; readonly at: number; readonly isLasting: boolean };
