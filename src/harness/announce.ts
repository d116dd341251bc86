/**
 * What is told of a settlement right before its commit, as far as its effect has not told it (spec §5.5).
 *
 * Of a call that an earlier process started, and this one gives up, the start and the end are told, marked as recovery. Of a
 * call that no process started, because a cancellation came between its intent and its execution, they are not: its
 * result alone is told, like that of a call that was refused.
 */
import type { ToolBatch } from "../model/index.ts";
import {
  type CurrentOperation,
  type EffectKey,
  isRun,
  type OperationEvent,
  toolArgumentsKey,
  toolCallsOf,
} from "../operation/index.ts";
import type { DriveState } from "./drive-state.ts";
import type { SettlementOutput } from "./effects.ts";
import type { Environment } from "./environment.ts";
import { CallEvents, ResponseEvents } from "./step-events.ts";

/** A settlement that is about to be committed. */
interface Settlement<Event extends OperationEvent = OperationEvent> {
  readonly key: EffectKey;
  readonly output: SettlementOutput;
  readonly event: Event;
}

/** See the module header. */
export async function announce(
  environment: Environment,
  live: DriveState,
  current: CurrentOperation,
  settlement: Settlement,
): Promise<void> {
  const { event } = settlement;
  const phase = isRun(current) ? current.state.phase : undefined;
  switch (event.kind) {
    case "generation_settled":
    case "poll_settled": {
      const pending =
        phase?.kind === "assistant"
          ? phase.generation
          : phase?.kind === "deferred"
            ? phase.deferred
            : undefined;
      if (pending?.status !== "effect_pending" || live.announced === pending.responseEntryId) return;
      new ResponseEvents(environment.publisher, current.operation).end(
        event.message,
        pending.responseEntryId,
      );
      return;
    }
    case "tool_settled":
      if (phase?.kind === "tools")
        await announceCall(environment, live, current, phase.batch, { ...settlement, event });
      return;
    default:
      return;
  }
}

async function announceCall(
  { publisher, session }: Environment,
  live: DriveState,
  { operation }: CurrentOperation,
  batch: ToolBatch,
  { key, output, event }: Settlement<Extract<OperationEvent, { kind: "tool_settled" }>>,
): Promise<void> {
  const { sourceIndex, message, terminate } = event;
  const { lane, operationId: runId } = operation;
  const planned = batch.calls[sourceIndex];
  const call = live.latestAssistant && toolCallsOf(live.latestAssistant.message)[sourceIndex];
  if (planned === undefined || call === undefined) return;
  const turnId = publisher.track(lane).turn?.turnId ?? batch.turnId;
  const started = live.toldCalls.get(key);
  const told = started ?? new CallEvents(publisher, { lane, runId, turnId, call, isRecovered: true });
  if (planned.status === "effect_pending" && !wasKeptFromStarting(output)) {
    if (started === undefined) {
      const argumentsKey = toolArgumentsKey(runId, batch.turnId, sourceIndex);
      const stored = await session.getRegister("op.tool_args", argumentsKey);
      told.start(stored?.value ?? call.arguments);
    }
    told.end(message, terminate);
  }
  told.result(message, planned.resultEntryId);
  live.toldCalls.delete(key);
}

/** Whether a cancellation came between the intent of a call and its execution, in this process. */
function wasKeptFromStarting(output: SettlementOutput): boolean {
  if (output.kind === "not_started") return output.plan.kind === "tool" && !output.plan.isReplay;
  if (output.kind !== "tool" || output.execution.kind !== "synthetic") return false;
  return output.execution.reason.kind === "cancelled";
}
