/**
 * What a drive does next with a deferred job (spec §3.2, §4.6): suspend, poll once, settle, or cancel.
 *
 * 1. A drive polls only with the permit of a `resume()`, and the intent of the poll uses it up. So an answer that is
 *    still pending suspends the operation again, and nothing here waits or loops.
 * 2. A poll of a lost process waits for the next permit like a suspended job. There is no cap on polls.
 * 3. Under a cancelled control nothing is polled any more. The newest source is cancelled once per process, as far as its
 *    model is still known; the outcome of that changes nothing, but the operation does not end before it.
 */
import type { Deferred } from "../model/index.ts";
import type { Action, EffectKey, PlannerInputs } from "./next-action.ts";
import { missingIdentities } from "./next-action.ts";

/** The key of a poll. */
export function pollKey({ stepId, poll }: Pick<Deferred, "stepId" | "poll">): EffectKey {
  return `poll:${stepId}:${poll}`;
}

/** The key of the cancellation of a source. */
export function cancelDeferredKey(sourceEntryId: string): EffectKey {
  return `cancel_deferred:${sourceEntryId}`;
}

/** A cancellation of this process that is under way, whatever the phase is by now; it is awaited before the end. */
export function runningCancellation(inputs: PlannerInputs): EffectKey | undefined {
  const sources = inputs.deferredCancellations ?? [];
  return [...sources].map(cancelDeferredKey).find((key) => inputs.running.has(key));
}

/** See the module header; of a run whose control is running. */
export function nextDeferredAction(deferred: Deferred, inputs: PlannerInputs): Action {
  if (deferred.status === "effect_pending" && inputs.running.has(pollKey(deferred))) {
    return { kind: "await_effect", key: pollKey(deferred) };
  }
  if (inputs.deferredPollsRemaining === 0) return { kind: "suspend", reason: "deferred" };
  const missing = missingIdentities(deferred.configuration, inputs);
  return missing ? { kind: "suspend", reason: "missing_identities", missing } : { kind: "poll_deferred" };
}

/** What a cancelled run still owes to its deferred job; undefined: nothing. */
export function owedToDeferred(deferred: Deferred, inputs: PlannerInputs): Action | undefined {
  const { provider, modelId } = deferred.configuration.model;
  const isAsked = inputs.deferredCancellations?.has(deferred.sourceEntryId) === true;
  if (!isAsked && inputs.hasModel(provider, modelId)) {
    return { kind: "cancel_deferred", sourceEntryId: deferred.sourceEntryId };
  }
  if (deferred.status === "suspended") return undefined;
  const key = pollKey(deferred);
  return inputs.running.has(key)
    ? { kind: "await_effect", key }
    : { kind: "settle_poll", reason: "cancelled" };
}
