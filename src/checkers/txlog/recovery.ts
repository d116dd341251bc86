/**
 * What recovery of a transactional session must reach after a cut (its specification, §5.3 and §8).
 *
 * A request whose outcome is unknown is made once more, and reaches what the first would have reached; a second unknown
 * one exhausts its attempts, and recovery writes nothing. A call whose outcome is unknown is run again if its intent says
 * `safe`, and is answered as interrupted if it says `never`. Everything else goes on as if nothing had happened.
 */
import type { OperationState } from "../../txlog/index.ts";
import type { RecoveryExpectation, RecoveryQuestion } from "../contract.ts";
import { canonicalOf, stateOf, type VisibleState } from "./view.ts";

/** Answers the question from what was durable at the cut. */
export async function expectTxlogRecovery(question: RecoveryQuestion): Promise<RecoveryExpectation> {
  const { canonical } = question.uninterrupted;
  const atCut = await question.atCut();
  const { operation } = stateOf(atCut.canonical);
  if (isExhausted(operation))
    return { canonical: atCut.canonical, demands: ["attempts exhausted: nothing is written"] };
  const interrupted = interruptedCalls(operation);
  if (interrupted.length === 0) return { canonical, demands: [] };
  return {
    canonical: canonicalOf(withInterrupted(stateOf(canonical), interrupted)),
    demands: interrupted.map((callId) => `interrupted: ${callId}`),
  };
}

function isExhausted(operation: OperationState): boolean {
  const step = operation.kind === "idle" ? undefined : operation.step;
  return step?.status === "attempting" && step.attempt === 2;
}

/** Calls that may have taken effect and must not be run again. */
function interruptedCalls(operation: OperationState): string[] {
  if (operation.kind !== "run") return [];
  return operation.toolCalls
    .filter(({ status, replay }) => status === "pending" && replay === "never")
    .map(({ toolCallId }) => toolCallId);
}

/**
 * The state in which these calls are answered as interrupted. Their own cost is lost with the answer, but no scenario
 * gives a `never` tool one.
 */
function withInterrupted(state: VisibleState, callIds: readonly string[]): VisibleState {
  const replaced = (messages: VisibleState["transcript"]) =>
    messages.map((message) =>
      message.role === "tool" && callIds.includes(message.tool_call_id)
        ? { ...message, content: INTERRUPTED }
        : message,
    );
  return { ...state, transcript: replaced(state.transcript), activeContext: replaced(state.activeContext) };
}

/** Written out from the specification (§5.2), not taken from the system that is judged. */
const INTERRUPTED = "Operation interrupted after execution status became unknown; the tool was not replayed.";
