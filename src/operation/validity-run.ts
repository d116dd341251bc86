/**
 * Validity of a run: may this stored run be executed at all (spec §3.3)?
 *
 * 1. An attempt is within the captured policy.
 * 2. The calls of a batch are complete, in order and completed from the first on, each with a result id of its own, and one
 *    of them is open.
 * 3. The newest response is the one that the phase stands on: it asked for the batch, put the answer off, failed, or is
 *    what the run ends with (spec §3.2).
 * 4. The lane stands where the newest commit of the run has put it, as far as the phase says where that is: a run has
 *    appended its prompt, and beside a batch or a job that is put off nothing is appended. What a cancellation leaves may
 *    be appended to a job that is put off.
 * 5. A compaction in it is valid structural work (`validity-structural.ts`).
 */
import type { CheckpointPhase, RunPhase, RunState, ToolBatch } from "../model/index.ts";
import { refuse } from "./corruption-reasons.ts";
import { checkCompactionPhase } from "./validity-structural.ts";

/** @throws Corruption */
export function checkRun(operationId: string, state: RunState, leafId: string | null): void {
  const { phase } = state;
  if (phase.kind === "assistant") {
    const { generation } = phase;
    const attempt = generation.status === "effect_pending" ? generation.attempt : generation.nextAttempt;
    const { maxAttempts } = generation.context.retryPolicy;
    if (attempt > maxAttempts) {
      const found = `attempt ${attempt} of at most ${maxAttempts}`;
      refuse("attempt_beyond_policy", "op.state", operationId, found);
    }
  }
  if (phase.kind === "tools") checkBatch(operationId, phase.batch);
  if (phase.kind === "compaction") checkCompactionPhase(operationId, phase);
  checkLatestResponse(operationId, state);
  const expected = expectedLeaf(state);
  if (leafId === null || (expected !== undefined && leafId !== expected)) {
    const found = `the lane stands at ${leafId ?? "the root"}, and its run at ${expected ?? "an entry"}`;
    refuse("run_leaf_moved", "op.state", operationId, found);
  }
}

/** What can be said of a batch without its response: order, uniqueness, and that something is left to do. */
function checkBatch(operationId: string, { calls }: ToolBatch): void {
  let isOpen = false;
  for (const [position, call] of calls.entries()) {
    if (call.sourceIndex !== position) {
      const found = `call ${call.sourceIndex} stands at position ${position}`;
      refuse("tool_calls_incomplete", "op.state", operationId, found);
    }
    if (call.status !== "completed") isOpen = true;
    else if (isOpen) {
      const found = `call ${position} is completed before an earlier one`;
      refuse("tool_calls_out_of_order", "op.state", operationId, found);
    }
  }
  if (!isOpen) refuse("tool_batch_finished", "op.state", operationId, "no call of the batch is open");
  if (new Set(calls.map(({ resultEntryId }) => resultEntryId)).size !== calls.length) {
    refuse("result_id_repeated", "op.state", operationId, "two calls share a result id");
  }
}

/** One of which the state does not say which. An id may be any text, so this is none. */
const SOME_RESPONSE: unique symbol = Symbol("some response");

function checkLatestResponse(operationId: string, { phase, latestAssistantEntryId }: RunState): void {
  const response = responseOf(phase);
  if (response === undefined || response === latestAssistantEntryId) return;
  if (response === SOME_RESPONSE && latestAssistantEntryId !== null) return;
  const stand = response === SOME_RESPONSE ? "a response" : response;
  const found = `its newest response is ${latestAssistantEntryId ?? "none"}, and it stands on ${stand}`;
  refuse("latest_response_mismatch", "op.state", operationId, found);
}

/** The response that a phase stands on; undefined: none, or the state does not say. */
function responseOf(phase: RunPhase): string | typeof SOME_RESPONSE | undefined {
  switch (phase.kind) {
    case "checkpoint":
      return responseAtEnd(phase);
    case "compaction":
      return responseAtEnd(phase.resumeAfter);
    case "tools":
      return phase.batch.assistantEntryId;
    case "deferred":
      return phase.deferred.sourceEntryId;
    case "failure_drain":
      return phase.provenance.kind === "response" ? phase.provenance.entryId : undefined;
    case "assistant":
      return undefined;
  }
}

/** A run ends with the response that made the boundary, or with the results of calls that a response had asked for. */
function responseAtEnd({
  continuation,
  triggerEntryId,
}: CheckpointPhase): string | typeof SOME_RESPONSE | undefined {
  if (continuation.kind === "need_assistant") return undefined;
  return continuation.includeFinalAssistant ? triggerEntryId : SOME_RESPONSE;
}

/** Where the lane of a run must stand; undefined: the state does not say. */
function expectedLeaf({ phase, control }: RunState): string | undefined {
  if (phase.kind === "tools") {
    const newest = phase.batch.calls.findLast(({ status }) => status === "completed");
    return newest?.resultEntryId ?? phase.batch.assistantEntryId;
  }
  return phase.kind === "deferred" && control.status === "running" ? phase.deferred.sourceEntryId : undefined;
}
