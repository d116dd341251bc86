/**
 * The interpreter's steps for a deferred job: send a poll, settle one that was cancelled, cancel a source (spec §3.2,
 * §4.6). The permit of a `resume()` is used up by the commit of the intent, before the poll is sent.
 */
import type { Deferred } from "../model/index.ts";
import {
  CANCELLED_POLL_TEXT,
  type CurrentOperation,
  cancelDeferredKey,
  isRun,
  pollKey,
  syntheticResponse,
} from "../operation/index.ts";
import { start } from "./dispatch.ts";
import type { DriveState } from "./drive-state.ts";
import type { Effects } from "./effects.ts";
import type { DriveView } from "./interpreter.ts";

/** Commits the intent of a poll and sends it. */
export async function pollDeferred(
  fx: Effects,
  view: DriveView,
  current: CurrentOperation,
  live: DriveState,
): Promise<CurrentOperation | undefined> {
  const before = deferredOf(current);
  const attempt = before.status === "suspended" ? before.poll + 1 : before.poll;
  const streamOptions = await fx.beforeRequest(current.operation, {
    step: "deferred",
    attempt,
    model: before.configuration.model,
    streamOptions: { ...before.streamOptions, deferred: false },
  });
  const next = await fx.commitIntent(current, {
    kind: "poll_intended",
    responseEntryId: view.mintId(),
    usageId: view.mintId(),
  });
  if (next === undefined) return undefined;
  live.deferredPollsRemaining = 0;
  const deferred = deferredOf(next);
  if (deferred.status !== "effect_pending") throw new Error("the intent of a poll is pending");
  const handle = sourceHandle(live);
  start(fx, live, {
    kind: "deferred",
    key: pollKey(deferred),
    operation: next.operation,
    deferred,
    streamOptions,
    handle,
  });
  return next;
}

/** A poll of a lost process under a cancelled control: `aborted` under the ids that its intent reserved. */
export function settleCancelledPoll(
  fx: Effects,
  view: DriveView,
  current: CurrentOperation,
): Promise<CurrentOperation | undefined> {
  const deferred = deferredOf(current);
  const message = syntheticResponse({
    model: deferred.configuration.model,
    stopReason: "aborted",
    errorMessage: CANCELLED_POLL_TEXT,
    nowMs: view.nowMs(),
  });
  return fx.commitSettlement(current, pollKey(deferred), { kind: "deferred", message });
}

/** Starts the cancellation of the source, once per process. */
export function cancelSource(fx: Effects, current: CurrentOperation, live: DriveState): void {
  const { sourceEntryId, configuration } = deferredOf(current);
  live.deferredCancellations.add(sourceEntryId);
  start(fx, live, {
    kind: "cancel_deferred",
    key: cancelDeferredKey(sourceEntryId),
    operation: current.operation,
    sourceEntryId,
    configuration,
    handle: sourceHandle(live),
  });
}

/** Whether a poll is in flight, as far as the state says. */
export function isPolling({ state }: CurrentOperation): boolean {
  return (
    state.kind === "run" &&
    state.phase.kind === "deferred" &&
    state.phase.deferred.status === "effect_pending"
  );
}

function deferredOf(current: CurrentOperation): Deferred {
  const phase = isRun(current) ? current.state.phase : undefined;
  if (phase?.kind === "deferred") return phase.deferred;
  throw new Error(`operation ${current.operation.operationId} has no deferred job`);
}

function sourceHandle(live: DriveState) {
  const handle = live.latestAssistant?.message.deferred;
  if (handle === undefined) throw new Error("the source of a deferred job is loaded before planning");
  return handle;
}
