/**
 * Rows of assistant generation (spec §3.7): ready, intent, the settlements, retry.
 *
 * "Settle R" is one pattern: entry R, leaf, usage U, state. What tells the settlements apart is the settled message,
 * the captured policy, and whether the intent is of an earlier life: then nobody knows what the request did, and only
 * a further attempt or a synthetic settlement is left (spec §4.5).
 */
import { jsonEquals } from "../../foundation/index.ts";
import { zeroUsage } from "../../model/index.ts";
import { isOverflowMessage, isRetryableMessage } from "./error-text.ts";
import { isCancelled, isOnItsLane, isRunning, keepsAllBut } from "./facts.ts";
import { fact, type Row } from "./row.ts";
import {
  calls,
  context,
  failsByResponse,
  finishes,
  isAccepted,
  isError,
  isFreshId,
  isLive,
  isOfEarlierLife,
  keepsContext,
  namesResponse,
  plansBatch,
  plansNextAttempt,
  reservedResponse,
  settledMessage,
  settlement,
} from "./settlement.ts";
import { checkpointOf, decisionOf, deferredOf, generationOf, runAfter, runBefore } from "./site.ts";
import { set, state } from "./steps.ts";

export const GENERATION_ROWS: readonly Row[] = [
  {
    name: "generation.ready",
    section: "§3.7",
    says: "snapshot configuration, options and policy; the first attempt is next",
    from: ["checkpoint"],
    to: ["assistant.ready"],
    writes: [state],
    holds: [
      isOnItsLane,
      isRunning,
      keepsAllBut("phase"),
      fact("the checkpoint needed an assistant", (site) => {
        return checkpointOf(runBefore(site))?.continuation.kind === "need_assistant";
      }),
      fact("the context is the checkpoint's, under the lane's configuration, at attempt 1", (site) => {
        const checkpoint = checkpointOf(runBefore(site));
        const ready = generationOf(runAfter(site)).ready;
        if (checkpoint?.continuation.kind !== "need_assistant" || ready === undefined) return false;
        return (
          ready.nextAttempt === 1 &&
          ready.context.triggerEntryId === checkpoint.triggerEntryId &&
          ready.context.overflowRecoveryUsed === checkpoint.continuation.overflowRecoveryUsed &&
          site.lane !== undefined &&
          jsonEquals(ready.context.configuration, site.model.value("lane.config", site.lane))
        );
      }),
    ],
  },
  {
    name: "generation.intent",
    section: "§3.7",
    says: "reserve R and U; the request may start now",
    from: ["assistant.ready"],
    to: ["assistant.effect_pending"],
    writes: [state],
    holds: [
      isOnItsLane,
      isRunning,
      keepsAllBut("phase"),
      keepsContext,
      fact("the attempt is the planned one", (site) => {
        const planned = generationOf(runBefore(site)).ready?.nextAttempt;
        return planned !== undefined && generationOf(runAfter(site)).effect_pending?.attempt === planned;
      }),
      fact("R and U are two ids that nothing bears", (site) => {
        const pending = generationOf(runAfter(site)).effect_pending;
        if (pending === undefined || pending.responseEntryId === pending.usageId) return false;
        return isFreshId(site, pending.responseEntryId) && isFreshId(site, pending.usageId);
      }),
    ],
  },
  {
    name: "generation.settle.tools",
    section: "§3.7",
    says: "the response has tool calls: settle R, plan the batch",
    from: ["assistant.effect_pending"],
    to: ["tools"],
    writes: [
      ...settlement("a response with tool calls", (message, site) => {
        return calls(message) > 0 && isAccepted(message, site);
      }),
      state,
    ],
    holds: [
      isOnItsLane,
      isRunning,
      isLive,
      namesResponse,
      keepsAllBut("phase", "latestAssistantEntryId"),
      plansBatch(context),
    ],
  },
  {
    name: "generation.settle.finish",
    section: "§3.7",
    says: "stop, or a genuine length without calls: settle R, the run may finish",
    from: ["assistant.effect_pending"],
    to: ["checkpoint"],
    writes: [
      ...settlement("a response that stops without calls", (message, site) => {
        return calls(message) === 0 && isAccepted(message, site);
      }),
      state,
    ],
    holds: [
      isOnItsLane,
      isRunning,
      isLive,
      namesResponse,
      keepsAllBut("phase", "latestAssistantEntryId"),
      finishes,
    ],
  },
  {
    name: "generation.settle.aborted",
    section: "§3.7",
    says: "control is cancel_requested: settle R as aborted, the cancelled run may finish",
    from: ["assistant.effect_pending"],
    to: ["checkpoint"],
    writes: [...settlement("an aborted response", (message) => message.stopReason === "aborted"), state],
    holds: [
      isOnItsLane,
      isCancelled,
      namesResponse,
      keepsAllBut("phase", "latestAssistantEntryId"),
      finishes,
    ],
  },
  {
    name: "generation.settle.retry",
    section: "§3.7",
    says: "retryable error with attempts left: settle R, wait",
    from: ["assistant.effect_pending"],
    to: ["assistant.retry_wait"],
    writes: [
      ...settlement("a retryable error", (message) => {
        return isError(message) && isRetryableMessage(message.errorMessage);
      }),
      state,
    ],
    holds: [
      isOnItsLane,
      isRunning,
      isLive,
      namesResponse,
      keepsAllBut("phase", "latestAssistantEntryId"),
      keepsContext,
      plansNextAttempt,
    ],
  },
  {
    name: "generation.settle.failed",
    section: "§3.7",
    says: "terminal error, retries used up, or an overflow that cannot be compacted: settle R, drain",
    from: ["assistant.effect_pending"],
    to: ["failure_drain"],
    writes: [...settlement("an error", isError), state],
    holds: [
      isOnItsLane,
      isRunning,
      isLive,
      namesResponse,
      keepsAllBut("phase", "latestAssistantEntryId"),
      failsByResponse,
      fact("no retry was due", (site) => {
        const pending = generationOf(runBefore(site)).effect_pending;
        const text = settledMessage(site)?.errorMessage;
        if (pending === undefined) return false;
        const isLast = pending.attempt >= pending.context.retryPolicy.maxAttempts;
        return isLast || isOverflowMessage(text) || !isRetryableMessage(text);
      }),
    ],
  },
  {
    name: "generation.settle.synthetic-error",
    section: "§4.5",
    says: "restored at the cap: a synthetic error under R, zero usage under U, drain",
    from: ["assistant.effect_pending"],
    to: ["failure_drain"],
    writes: [
      ...settlement("a synthetic error", (message) => {
        return isError(message) && jsonEquals(message.usage, zeroUsage());
      }),
      state,
    ],
    holds: [
      isOnItsLane,
      isRunning,
      isOfEarlierLife,
      namesResponse,
      keepsAllBut("phase", "latestAssistantEntryId"),
      failsByResponse,
      fact("the captured policy allows no further attempt", (site) => {
        const pending = generationOf(runBefore(site)).effect_pending;
        return pending !== undefined && pending.attempt >= pending.context.retryPolicy.maxAttempts;
      }),
    ],
  },
  {
    name: "generation.settle.overflow",
    section: "§3.7",
    says: "first overflow: settle R normalized to error, preparation, compaction is deciding",
    from: ["assistant.effect_pending"],
    to: ["compaction.deciding"],
    writes: [
      ...settlement("an error", isError),
      set("op.preparation", (site) => `${site.operationId}:${decisionOf(site.after)?.taskId}`),
      state,
    ],
    holds: [
      isOnItsLane,
      isRunning,
      isLive,
      namesResponse,
      keepsAllBut("phase", "latestAssistantEntryId"),
      fact("overflow recovery was not used before", (site) => context(site)?.overflowRecoveryUsed === false),
      fact("it resumes at the previous trigger, with overflow recovery used", (site) => {
        const phase = runAfter(site)?.phase;
        return (
          phase?.kind === "compaction" &&
          phase.reason === "overflow" &&
          phase.resumeAfter.triggerEntryId === context(site)?.triggerEntryId &&
          jsonEquals(phase.resumeAfter.continuation, { kind: "need_assistant", overflowRecoveryUsed: true })
        );
      }),
    ],
  },
  {
    name: "generation.settle.deferred",
    section: "§3.7",
    says: "the provider answers later: settle R, suspend at poll 0",
    from: ["assistant.effect_pending"],
    to: ["deferred.suspended"],
    writes: [...settlement("a deferred response", (message) => message.stopReason === "deferred"), state],
    holds: [
      isOnItsLane,
      isRunning,
      isLive,
      namesResponse,
      keepsAllBut("phase", "latestAssistantEntryId"),
      fact("the source is R, and configuration and options are copied", (site) => {
        const deferred = deferredOf(runAfter(site)).suspended;
        const from = context(site);
        return (
          deferred !== undefined &&
          deferred.sourceEntryId === reservedResponse(site) &&
          deferred.poll === 0 &&
          deferred.stepId === from?.stepId &&
          jsonEquals(deferred.configuration, from.configuration) &&
          jsonEquals(deferred.streamOptions, from.streamOptions)
        );
      }),
    ],
  },
  {
    name: "generation.retry-due",
    section: "§3.7",
    says: "notBefore has passed: ready for the next attempt",
    from: ["assistant.retry_wait"],
    to: ["assistant.ready"],
    writes: [state],
    holds: [
      isOnItsLane,
      isRunning,
      keepsAllBut("phase"),
      keepsContext,
      fact("the attempt that was waited for is next", (site) => {
        const waited = generationOf(runBefore(site)).retry_wait?.nextAttempt;
        return waited !== undefined && generationOf(runAfter(site)).ready?.nextAttempt === waited;
      }),
    ],
  },
  {
    name: "generation.retry-unknown",
    section: "§4.5",
    says: "restored below the cap: ready for a later attempt; the lost one leaves no trace",
    from: ["assistant.effect_pending"],
    to: ["assistant.ready"],
    writes: [state],
    holds: [isOnItsLane, isRunning, isOfEarlierLife, keepsAllBut("phase"), keepsContext, plansNextAttempt],
  },
];
