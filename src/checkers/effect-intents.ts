/** Durable permissions to start something outside, as the states of open operations give them. */
import type { AskedWith } from "../faults/index.ts";
import type { OperationState, ToolCall, ToolCallContent } from "../model/index.ts";
import { assistantIn, callsIn, decisionOf } from "./rows/site.ts";
import { toolArgsKey } from "./rows/tools.ts";
import { type StoreModel, summaryAttemptId } from "./store-model.ts";

/** A durable permission to send one request. */
export interface RequestIntent {
  readonly id: string;
  /** The id by which the model knows the life of the intent. */
  readonly lifeId: string;
  readonly stepId: string;
  /** Absent where there is no cap. */
  readonly maxRequests: number | undefined;
  readonly isCancelled: boolean;
  /** What the step captured when it started, where an answer may say it. */
  readonly asked?: AskedWith;
}

/** The requests that an operation may send as it stands: one, or none. */
export function requestIntents(state: OperationState): readonly RequestIntent[] {
  const isCancelled = state.control.status === "cancel_requested";
  if (state.kind === "run" && state.phase.kind === "assistant") {
    const { generation } = state.phase;
    if (generation.status !== "effect_pending") return [];
    const { stepId, retryPolicy, configuration, streamOptions } = generation.context;
    const { model, thinkingLevel } = configuration;
    const asked = { model: model.modelId, thinking: thinkingLevel, timeoutMs: streamOptions.timeoutMs };
    const id = generation.responseEntryId;
    return [{ id, lifeId: id, stepId, maxRequests: retryPolicy.maxAttempts, isCancelled, asked }];
  }
  if (state.kind === "run" && state.phase.kind === "deferred") {
    const { deferred } = state.phase;
    if (deferred.status !== "effect_pending") return [];
    const id = deferred.responseEntryId;
    // Polls have no cap (spec §4.5).
    return [{ id, lifeId: id, stepId: deferred.stepId, maxRequests: undefined, isCancelled }];
  }
  const decision = decisionOf(state);
  if (decision?.status !== "generating" || decision.generation.status !== "effect_pending") return [];
  const { request, attempt, context } = decision.generation;
  if (request === undefined) return [];
  const lifeId = summaryAttemptId(decision.taskId, attempt);
  // One attempt makes one or two nested requests (spec §3.2).
  const maxRequests = context.retryPolicy.maxAttempts * 2;
  return [{ id: request.usageId, lifeId, stepId: decision.taskId, maxRequests, isCancelled }];
}

/** Whether an id is the response of a request that an open operation is waiting for. */
export function isPendingRequest(id: string, model: StoreModel): boolean {
  return model
    .registers("op.state")
    .some(({ value }) => requestIntents(value).some((intent) => intent.id === id));
}

/** A call of an open batch, whether it may run or not. */
export interface CallIntent {
  readonly call: ToolCall;
  readonly source: ToolCallContent;
  readonly argsKey: string;
  readonly isCancelled: boolean;
}

/** The calls of all open batches, those that may run first. */
export function callIntents(model: StoreModel): readonly CallIntent[] {
  const pending: CallIntent[] = [];
  const others: CallIntent[] = [];
  for (const { key, value } of model.registers("op.state")) {
    if (value.kind !== "run" || value.phase.kind !== "tools") continue;
    const { batch } = value.phase;
    const isCancelled = value.control.status === "cancel_requested";
    const sources = callsIn(assistantIn(model.entry(batch.assistantEntryId)));
    for (const [index, call] of batch.calls.entries()) {
      const source = sources[index];
      if (source === undefined) continue;
      const argsKey = toolArgsKey(key, batch.turnId, call.sourceIndex);
      const list = call.status === "effect_pending" ? pending : others;
      list.push({ call, source, argsKey, isCancelled });
    }
  }
  return [...pending, ...others];
}
