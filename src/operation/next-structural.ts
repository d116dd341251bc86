/**
 * What a drive does next with structural work (spec §3.9, §4.5): the part of `nextAction` that compactions and
 * navigations share.
 *
 * What an attempt was answered is not durable, so the planner is told what this process knows: the hook's decision,
 * and the answers of the attempt that it began. An attempt that this process did not begin is one whose outcome is
 * unknown. No attempt is spent while its model is not registered.
 *
 * The end of the work depends on whose it is: inside a run the run goes on, an operation of its own ends with it.
 */
import { absurd } from "../foundation/index.ts";
import type {
  DurableStructuralPreparation,
  OperationError,
  OperationState,
  SettledAssistantMessage,
  StructuralDecision,
  SummaryContext,
  SummaryGeneration,
} from "../model/index.ts";
import type { Action, EffectKey, PlannerInputs } from "./next-action.ts";
import type { Summary } from "./structural.ts";
import { attemptOutcome, type MadeSummary, nextStage, type SummaryStage } from "./summary-attempt.ts";
import { interruptedRequestText, OPERATION_ERROR_CODES } from "./synthetic.ts";

/** What the decision hooks came to: nothing, a refusal, or the summary itself. */
export type StructuralHookDecision =
  | { readonly kind: "generate" }
  | { readonly kind: "decline" }
  | { readonly kind: "supply"; readonly summary: Summary };

/** What this process knows of the structural work of the operation. */
export interface StructuralInputs {
  readonly preparation: DurableStructuralPreparation;
  /** Once the hooks have answered, or when there are none. */
  readonly decision?: StructuralHookDecision | undefined;
  /** The attempt that this process began, with the answers that are settled. */
  readonly attempt?:
    | { readonly attempt: number; readonly responses: readonly SettledAssistantMessage[] }
    | undefined;
}

/** What there is to do at structural work, beside the actions of every operation. */
export type StructuralAction =
  /** Asks the decision hooks. */
  | { readonly kind: "decide" }
  /** Snapshots the lane's configuration and the settings, and commits the ready state. */
  | { readonly kind: "start_summary" }
  | { readonly kind: "start_summary_attempt" }
  /** Commits the intent of the attempt's next request and sends it. */
  | { readonly kind: "request_summary"; readonly stage: SummaryStage }
  | { readonly kind: "retry_summary"; readonly errorMessage: string }
  /** Ends a compaction inside a run. */
  | { readonly kind: "conclude_compaction"; readonly conclusion: Conclusion }
  /** Prepares a compaction; commits that one begins, or that there is nothing to compact. */
  | { readonly kind: "prepare_threshold_compaction" };

/** How structural work ends, before it has ids. */
export type Conclusion =
  | { readonly kind: "declined" }
  | { readonly kind: "failed"; readonly error: OperationError }
  | { readonly kind: "published"; readonly summary: Summary; readonly fromHook: boolean };

/** The key of a nested request. */
export function summaryKey({
  context,
  attempt,
  request,
}: Extract<SummaryGeneration, { status: "effect_pending" }>): EffectKey {
  return `summary:${context.taskId}:${attempt}:${request?.index ?? ""}`;
}

/** See the module header. `structural` is the decision that `state` is in. */
export function nextStructuralAction(
  state: OperationState,
  structural: StructuralDecision,
  inputs: PlannerInputs,
): Action {
  if (structural.status === "deciding") return nextDecisionAction(state, inputs);
  const { generation } = structural;
  switch (generation.status) {
    case "ready":
      return startAttempt(generation.context, inputs);
    case "retry_wait":
      if (inputs.nowMs < generation.notBefore) return { kind: "wait", untilMs: generation.notBefore };
      return startAttempt(generation.context, inputs);
    case "effect_pending":
      return nextAttemptAction(state, generation, inputs);
    default:
      return absurd(generation, "summary generation");
  }
}

/** What a cancelled operation still owes to its structural work: a request that was sent is settled and paid. */
export function owedToStructural(
  structural: StructuralDecision,
  running: PlannerInputs["running"],
): Action | undefined {
  if (structural.status !== "generating" || structural.generation.status !== "effect_pending")
    return undefined;
  const key = summaryKey(structural.generation);
  return running.has(key) ? { kind: "await_effect", key } : undefined;
}

function nextDecisionAction(state: OperationState, inputs: PlannerInputs): Action {
  const { decision } = inputsOf(inputs);
  if (decision === undefined) return { kind: "decide" };
  switch (decision.kind) {
    case "generate":
      return { kind: "start_summary" };
    case "decline":
      return concluded(state, { kind: "declined" });
    case "supply":
      return concluded(state, { kind: "published", summary: decision.summary, fromHook: true });
  }
}

function startAttempt(context: SummaryContext, inputs: PlannerInputs): Action {
  return missingModel(context, inputs) ?? { kind: "start_summary_attempt" };
}

function nextAttemptAction(
  state: OperationState,
  generation: Extract<SummaryGeneration, { status: "effect_pending" }>,
  inputs: PlannerInputs,
): Action {
  const { context, attempt, request } = generation;
  const { preparation, attempt: begun } = inputsOf(inputs);
  const key = summaryKey(generation);
  if (request !== undefined && inputs.running.has(key)) return { kind: "await_effect", key };
  if (begun?.attempt !== attempt || request !== undefined) {
    const { maxAttempts } = context.retryPolicy;
    if (attempt < maxAttempts) return { kind: "advance", event: { kind: "summary_attempt_given_up" } };
    const message = interruptedRequestText(attempt, maxAttempts);
    return concluded(state, { kind: "failed", error: { code: OPERATION_ERROR_CODES.interrupted, message } });
  }
  const stage = nextStage(preparation, begun.responses);
  if (stage !== undefined) return missingModel(context, inputs) ?? { kind: "request_summary", stage };
  const outcome = attemptOutcome(preparation, begun.responses, attempt, context.retryPolicy);
  switch (outcome.kind) {
    case "success":
      return concluded(state, {
        kind: "published",
        summary: generatedSummary(preparation, outcome.made),
        fromHook: false,
      });
    case "retry":
      return { kind: "retry_summary", errorMessage: outcome.error.message };
    case "failure":
      return concluded(state, { kind: "failed", error: outcome.error });
  }
}

function concluded(state: OperationState, conclusion: Conclusion): Action {
  if (state.kind === "run") return { kind: "conclude_compaction", conclusion };
  return { kind: "finish", outcome: conclusion };
}

function generatedSummary(
  preparation: DurableStructuralPreparation,
  { summary, usage, details }: MadeSummary,
): Summary {
  const made = { summary, details: { ...details }, ...(usage === undefined ? {} : { usage }) };
  if (preparation.kind === "branch_summary") return { kind: "branch_summary", ...made };
  const { retainedTail, tokensBefore } = preparation;
  return { kind: "compaction", ...made, retainedTail, tokensBefore };
}

/** A summary is asked for without tools, so only its model must be there. */
function missingModel({ configuration }: SummaryContext, inputs: PlannerInputs): Action | undefined {
  const { provider, modelId } = configuration.model;
  if (inputs.hasModel(provider, modelId)) return undefined;
  const missing = { tools: [], models: [`${provider}/${modelId}`] };
  return { kind: "suspend", reason: "missing_identities", missing };
}

function inputsOf({ structural }: PlannerInputs): StructuralInputs {
  if (structural === undefined)
    throw new Error("the preparation of structural work is loaded before planning");
  return structural;
}
