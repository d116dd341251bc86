/**
 * Phases as names: where an operation stands, down to the state of its effect. Rows are found by the pair of names
 * before and after a transaction.
 */
import type { OperationState, StructuralDecision } from "../../model/index.ts";

/** Where the operation stands; `none`: it does not exist yet; `gone`: its state is deleted; `untouched`: no operation. */
export type PhaseName =
  | "none"
  | "gone"
  | "untouched"
  | "checkpoint"
  | "assistant.ready"
  | "assistant.effect_pending"
  | "assistant.retry_wait"
  | "tools"
  | "deferred.suspended"
  | "deferred.effect_pending"
  | "failure_drain"
  | `${"compaction" | "manual" | "navigation"}.${StructuralStatus}`
  | "navigation.ready_to_commit";

/** `compaction` is a phase of a run, `manual` an operation of its own. */
export type StructuralStatus = "deciding" | "ready" | "effect_pending" | "retry_wait";

/** The phases of structural work, by owner. */
export function structural(owner: "compaction" | "manual" | "navigation"): readonly PhaseName[] {
  return [`${owner}.deciding`, `${owner}.ready`, `${owner}.effect_pending`, `${owner}.retry_wait`];
}

/** Every phase of a run. */
export const RUN_PHASES: readonly PhaseName[] = [
  "checkpoint",
  "assistant.ready",
  "assistant.effect_pending",
  "assistant.retry_wait",
  "tools",
  "deferred.suspended",
  "deferred.effect_pending",
  "failure_drain",
  ...structural("compaction"),
];

/** The name of a state's phase. */
export function phaseOf(state: OperationState): PhaseName {
  switch (state.kind) {
    case "compaction":
      return `manual.${statusOf(state.structural)}`;
    case "navigation":
      return state.summarize
        ? `navigation.${statusOf(state.phase.structural)}`
        : "navigation.ready_to_commit";
    case "run":
      switch (state.phase.kind) {
        case "assistant":
          return `assistant.${state.phase.generation.status}`;
        case "compaction":
          return `compaction.${statusOf(state.phase.structural)}`;
        case "deferred":
          return `deferred.${state.phase.deferred.status}`;
        case "checkpoint":
        case "tools":
        case "failure_drain":
          return state.phase.kind;
      }
  }
}

function statusOf(decision: StructuralDecision): StructuralStatus {
  return decision.status === "deciding" ? "deciding" : decision.generation.status;
}
