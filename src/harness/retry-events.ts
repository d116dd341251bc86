/**
 * What is told of the attempts of a step (spec §5.5): pure, from the state before and after a commit.
 *
 * A *step* is a generation, named by its step id, or the making of a summary, named by its task id. A poll is none: it has
 * no attempts. A step that is right at once tells nothing; otherwise
 *
 * - `retry_scheduled` when an attempt has failed and the next one waits;
 * - `retry_start` when the next one begins, also where the one before was lost with its process;
 * - `retry_end` when the step is over that had more than one attempt, or was cancelled while one waited.
 */
import { absurd } from "../foundation/index.ts";
import type { LaneLastResult, NormalizedRetryPolicy, OperationState } from "../model/index.ts";
import { retryDelayMs, summaryGenerationOf } from "../operation/index.ts";
import type { LaneEvent } from "./event-types.ts";

/** A step that may be tried again, as a state has it. */
interface Step {
  readonly step: string;
  readonly policy: NormalizedRetryPolicy;
  readonly status: "ready" | "effect_pending" | "retry_wait";
  /** The attempt that runs, or the one that is next. */
  readonly attempt: number;
  /** While it waits. */
  readonly wait: { readonly notBefore: number; readonly errorMessage: string } | undefined;
}

/** The states around a commit. */
export interface StatesAround {
  readonly before: OperationState | undefined;
  readonly after: OperationState | undefined;
  /** Of an operation that ended with the commit. */
  readonly result: LaneLastResult | undefined;
}

/** Told before a turn ends: that an attempt failed and another follows, or that none does any more. */
export function retriesEnded(runId: string, { before, after, result }: StatesAround): LaneEvent[] {
  if (before === undefined) return [];
  const was = stepOf(before);
  if (was === undefined) return [];
  const is = after && stepOf(after);
  const { step, attempt } = was;
  if (is?.step === step) {
    if (was.status !== "effect_pending" || is.wait === undefined) return [];
    const { maxAttempts, baseDelayMs } = is.policy;
    const delayMs = retryDelayMs(baseDelayMs, attempt);
    const { errorMessage } = is.wait;
    return [
      { type: "retry_scheduled", runId, step, attempt: is.attempt, maxAttempts, delayMs, errorMessage },
    ];
  }
  if (attempt === 1) return [];
  const finalError = failureOf(before, after, result);
  const success = finalError === undefined;
  return [{ type: "retry_end", runId, step, attempt, success, ...(success ? {} : { finalError }) }];
}

/** Told last: that another attempt begins. */
export function retryStarted(runId: string, { before, after }: StatesAround): LaneEvent[] {
  const was = before && stepOf(before);
  const is = after && stepOf(after);
  if (was?.step !== is?.step || was?.status === "effect_pending") return [];
  if (is?.status !== "effect_pending" || is.attempt === 1) return [];
  return [{ type: "retry_start", runId, step: is.step, attempt: is.attempt }];
}

/** The retry that a state waits for, as watchers see it. */
export function waitingRetry(
  state: OperationState | undefined,
): { attempt: number; maxAttempts: number; nextAttemptAt: number } | undefined {
  const step = state && stepOf(state);
  if (step?.wait === undefined) return undefined;
  const { attempt, policy, wait } = step;
  return { attempt, maxAttempts: policy.maxAttempts, nextAttemptAt: wait.notBefore };
}

function stepOf(state: OperationState): Step | undefined {
  if (state.kind === "run" && state.phase.kind === "assistant") {
    const { generation } = state.phase;
    const { stepId: step, retryPolicy: policy } = generation.context;
    return { step, policy, ...attemptOf(generation) };
  }
  const generation = summaryGenerationOf(state);
  if (generation === undefined) return undefined;
  const { taskId: step, retryPolicy: policy } = generation.context;
  return { step, policy, ...attemptOf(generation) };
}

type Attempt =
  | { readonly status: "ready"; readonly nextAttempt: number }
  | { readonly status: "effect_pending"; readonly attempt: number }
  | {
      readonly status: "retry_wait";
      readonly nextAttempt: number;
      readonly notBefore: number;
      readonly errorMessage: string;
    };

function attemptOf(generation: Attempt): Pick<Step, "status" | "attempt" | "wait"> {
  switch (generation.status) {
    case "ready":
      return { status: "ready", attempt: generation.nextAttempt, wait: undefined };
    case "effect_pending":
      return { status: "effect_pending", attempt: generation.attempt, wait: undefined };
    case "retry_wait": {
      const { nextAttempt: attempt, notBefore, errorMessage } = generation;
      return { status: "retry_wait", attempt, wait: { notBefore, errorMessage } };
    }
    default:
      return absurd(generation, "generation");
  }
}

/** Why a step ended badly; undefined: it did not. */
function failureOf(
  before: OperationState,
  after: OperationState | undefined,
  result: LaneLastResult | undefined,
): string | undefined {
  if (before.control.status === "cancel_requested") return "aborted";
  if (after?.kind === "run" && after.phase.kind === "failure_drain") return after.phase.error.message;
  return result?.outcome === "failed" ? result.error.message : undefined;
}
