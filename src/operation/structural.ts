/**
 * Structural work, wherever it stands: as an operation of its own (`compact`, `navigateTree`) or as a phase of a run
 * (spec §3.9). What reads or changes the decision itself need not know which.
 */
import type {
  AgentMessage,
  JsonValue,
  LaneConfiguration,
  NavigationState,
  OperationState,
  StructuralDecision,
  SummaryGeneration,
  Usage,
} from "../model/index.ts";

/** The decision that an operation is in; undefined: it is not at structural work. */
export function structuralOf(state: OperationState): StructuralDecision | undefined {
  switch (state.kind) {
    case "compaction":
      return state.structural;
    case "navigation":
      return state.summarize ? state.phase.structural : undefined;
    case "run":
      return state.phase.kind === "compaction" ? state.phase.structural : undefined;
  }
}

/** The state with another decision and everything else as it is. */
export function withStructural(state: OperationState, structural: StructuralDecision): OperationState {
  switch (state.kind) {
    case "compaction":
      return { ...state, structural };
    case "navigation":
      if (!state.summarize) break;
      return { ...state, phase: { kind: "summary", structural } } satisfies NavigationState;
    case "run":
      if (state.phase.kind !== "compaction") break;
      return { ...state, phase: { ...state.phase, structural } };
  }
  throw new Error("the operation is not at structural work");
}

/** The generation of a summary that an operation is in. */
export function summaryGenerationOf(state: OperationState): SummaryGeneration | undefined {
  const structural = structuralOf(state);
  return structural?.status === "generating" ? structural.generation : undefined;
}

/** What the step or the batch that an operation stands in has captured; undefined: the next one will capture anew. */
export function capturedConfiguration(state: OperationState): LaneConfiguration | undefined {
  if (state.kind === "run") {
    const { phase } = state;
    if (phase.kind === "assistant") return phase.generation.context.configuration;
    if (phase.kind === "tools") return phase.batch.configuration;
    if (phase.kind === "deferred") return phase.deferred.configuration;
  }
  return summaryGenerationOf(state)?.context.configuration;
}

/** Why a context is compacted; absent for the summary of a branch. */
export function structuralReason(state: OperationState): "manual" | "threshold" | "overflow" | undefined {
  if (state.kind === "compaction") return "manual";
  return state.kind === "run" && state.phase.kind === "compaction" ? state.phase.reason : undefined;
}

/** What the caller asked the summarizer to mind. */
export function customInstructionsOf(state: OperationState): string | undefined {
  if (state.kind === "compaction") return state.customInstructions;
  return state.kind === "navigation" && state.summarize ? state.customInstructions : undefined;
}

/** The key of the preparation of a task (spec §1.3). */
export function preparationKey(operationId: string, taskId: string): string {
  return `${operationId}:${taskId}`;
}

/** A summary that is about to be an entry: generated, or supplied by a hook. */
export type Summary = {
  readonly summary: string;
  readonly details?: JsonValue;
  readonly usage?: Usage;
} & (
  | { readonly kind: "branch_summary" }
  | {
      readonly kind: "compaction";
      readonly retainedTail: readonly AgentMessage[];
      /** Tokens. */
      readonly tokensBefore: number;
    }
);
