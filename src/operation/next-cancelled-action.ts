/**
 * What a drive does next with a run whose cancellation is durable (spec §4.6): every output that is owed is settled,
 * deferred writes are applied, the run ends as aborted. Nothing new is started.
 *
 * | Owed | Running in this process | Not running |
 * |---|---|---|
 * | a response, a poll | awaited, stored as `aborted` | a synthetic `aborted` under the reserved ids |
 * | a planned call | (never) | a synthetic error: not executed |
 * | a started call | awaited, its result stands | a synthetic error: interrupted |
 * | a summary | awaited, its usage is booked | nothing |
 *
 * Outputs come before writes, so that a result stands next to the response that asked for it. The cancellation of a
 * deferred job is the one thing that may start; the end waits for it.
 */
import type { RunState } from "../model/index.ts";
import { type Action, generationKey, type PlannerInputs, toolKey } from "./next-action.ts";
import { owedToDeferred, runningCancellation } from "./next-deferred-action.ts";
import { owedToStructural } from "./next-structural.ts";

/** See the module header. */
export function nextCancelledAction(state: RunState, inputs: PlannerInputs): Action {
  const owed = nextSettlement(state, inputs);
  if (owed) return owed;
  const { writes } = state.inbox;
  if (writes.length > 0) return { kind: "consume_inbox", queue: "writes", ids: writes };
  const cancellation = runningCancellation(inputs);
  if (cancellation) return { kind: "await_effect", key: cancellation };
  return { kind: "finish", outcome: { kind: "aborted" } };
}

function nextSettlement({ phase }: RunState, inputs: PlannerInputs): Action | undefined {
  const { running } = inputs;
  switch (phase.kind) {
    case "assistant": {
      const { generation } = phase;
      if (generation.status !== "effect_pending") return undefined;
      const key = generationKey(generation);
      return running.has(key)
        ? { kind: "await_effect", key }
        : { kind: "settle_generation", reason: "cancelled" };
    }
    case "tools": {
      const call = phase.batch.calls.find(({ status }) => status !== "completed");
      if (call === undefined) throw new Error("a tool batch whose calls are all completed is a checkpoint");
      const { sourceIndex } = call;
      if (call.status === "planned")
        return { kind: "settle_tool", sourceIndex, reason: { kind: "cancelled" } };
      const key = toolKey(phase.batch, sourceIndex);
      if (running.has(key)) return { kind: "await_effect", key };
      return { kind: "settle_tool", sourceIndex, reason: { kind: "interrupted" } };
    }
    case "deferred":
      return owedToDeferred(phase.deferred, inputs);
    case "compaction":
      return owedToStructural(phase.structural, running);
    case "checkpoint":
    case "failure_drain":
      return undefined;
  }
}
