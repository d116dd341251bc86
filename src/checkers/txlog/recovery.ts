/**
 * What recovery of a transactional session must reach after a cut (its specification, §5.3 and §8).
 *
 * Everything goes on as if nothing had happened, unless something is unknown that cannot be made up for;
 * `continuation.ts` says what then, from what was durable. A second request whose outcome is unknown exhausts the
 * attempts of its step, and recovery writes nothing, unless the operation is to end anyway.
 */
import type { OperationState } from "../../txlog/index.ts";
import type { RecoveryExpectation, RecoveryQuestion } from "../contract.ts";
import { Continuation } from "./continuation.ts";
import { canonicalOf, stateOf } from "./view.ts";

/** Answers the question from what was durable at the cut. */
export async function expectTxlogRecovery(question: RecoveryQuestion): Promise<RecoveryExpectation> {
  const { scenario, uninterrupted } = question;
  const { canonical } = await question.atCut();
  const atCut = stateOf(canonical);
  if (isExhausted(atCut.operation)) return { canonical, demands: ["attempts exhausted: nothing is written"] };
  const { demands, state } = Continuation.from(scenario, atCut);
  // Where nothing is demanded, nothing may differ: what the continuation comes to is not asked there.
  return { canonical: demands.length === 0 ? uninterrupted.canonical : canonicalOf(state), demands };
}

function isExhausted(operation: OperationState): boolean {
  if (operation.kind === "idle" || operation.abortRequested) return false;
  return operation.step?.status === "attempting" && operation.step.attempt === 2;
}
