/**
 * Rows of assistant generation (spec §3.7): ready, intent, the settlements, retry.
 *
 * "Settle R" is one pattern: entry R, leaf, usage U, state. What tells the settlements apart is the settled message,
 * the captured policy, and whether the intent is of an earlier life: then nobody knows what the request did, and only
 * a further attempt or a synthetic settlement is left (spec §4.5).
 */
import { jsonEquals, timestampOf } from "../../foundation/index.ts";
import {
  type AssistantMessage,
  type EntryDraft,
  type GenerationContext,
  type UsageRowDraft,
  zeroUsage,
} from "../../model/index.ts";
import { isOverflowMessage, isRetryableMessage } from "./error-text.ts";
import { isCancelled, isOnItsLane, isRunning, keepsAllBut } from "./facts.ts";
import { type Cursor, fact, type Row } from "./row.ts";
import {
  assistantIn,
  batchOf,
  callsIn,
  checkpointOf,
  decisionOf,
  deferredOf,
  generationOf,
  runAfter,
  runBefore,
  type Site,
} from "./site.ts";
import { entry, leafToNewest, set, state, usage } from "./steps.ts";

/** The reserved id of the response, of a generation or of a poll. */
export function reservedResponse(site: Site): string | undefined {
  const run = runBefore(site);
  return generationOf(run).effect_pending?.responseEntryId ?? deferredOf(run).effect_pending?.responseEntryId;
}

function reservedUsage(site: Site): string | undefined {
  const run = runBefore(site);
  return generationOf(run).effect_pending?.usageId ?? deferredOf(run).effect_pending?.usageId;
}

/** The writes of "settle R" up to the state. */
export function settlement(is: string, accepts: (message: AssistantMessage, site: Site) => boolean) {
  return [
    entry({
      is,
      id: reservedResponse,
      accepts: (draft: EntryDraft, site: Site) => {
        const message = assistantIn(draft);
        return message !== undefined && accepts(message, site);
      },
    }),
    leafToNewest,
    usage({
      is: "the response's own, under the reserved id",
      accepts: (row: UsageRowDraft, cursor: Cursor) =>
        row.id === reservedUsage(cursor.site) &&
        row.entryId === cursor.newest?.id &&
        !row.adjustment &&
        jsonEquals(row.usage, assistantIn(cursor.newest)?.usage),
    }),
  ];
}

/** The message that a settlement stores. */
export function settledMessage(site: Site): AssistantMessage | undefined {
  return assistantIn(site.entries[0]);
}

export const namesResponse = fact("latestAssistantEntryId is R", (site) => {
  const response = reservedResponse(site);
  return response !== undefined && runAfter(site)?.latestAssistantEntryId === response;
});

const isLive = fact("the request is of this life", (site) => {
  const response = reservedResponse(site);
  return response !== undefined && !site.model.isFromEarlierLife(response);
});

export const isOfEarlierLife = fact("the intent is of an earlier life, so its outcome is unknown", (site) => {
  const response = reservedResponse(site);
  return response !== undefined && site.model.isFromEarlierLife(response);
});

export const failsByResponse = fact("the failure comes from response R", (site) => {
  const phase = runAfter(site)?.phase;
  return jsonEquals(phase?.kind === "failure_drain" ? phase.provenance : undefined, {
    kind: "response",
    entryId: reservedResponse(site),
  });
});

export const finishes = fact("the checkpoint may finish with this response", (site) => {
  return jsonEquals(checkpointOf(runAfter(site)), {
    kind: "checkpoint",
    continuation: { kind: "may_finish", includeFinalAssistant: true },
    triggerEntryId: reservedResponse(site),
  });
});

/** Every call of the response is planned, in source order, with a follower id of R. */
export function plansBatch(step: (site: Site) => { stepId: string; configuration: unknown } | undefined) {
  return fact("the batch plans every call of R, in order, under follower ids", (site) => {
    const batch = batchOf(runAfter(site));
    const response = reservedResponse(site);
    const from = step(site);
    if (batch === undefined || response === undefined || from === undefined) return false;
    const ids = batch.calls.map((call) => call.resultEntryId);
    return (
      batch.assistantEntryId === response &&
      batch.turnId === from.stepId &&
      jsonEquals(batch.configuration, from.configuration) &&
      batch.calls.every((call) => call.status === "planned") &&
      hasSourceOrder(
        batch.calls.map((call) => call.sourceIndex),
        settledMessage(site),
      ) &&
      new Set(ids).size === ids.length &&
      ids.every((id) => id !== response && timestampOf(id) === timestampOf(response))
    );
  });
}

/** Whether the indexes name the calls of a message: by their place among its calls, or among its blocks. */
export function hasSourceOrder(indexes: readonly number[], message: AssistantMessage | undefined): boolean {
  const calls = callsIn(message);
  const places = (message?.content ?? []).flatMap((block, place) =>
    block.type === "toolCall" ? [place] : [],
  );
  return (
    indexes.length === calls.length &&
    (indexes.every((index, at) => index === at) || indexes.every((index, at) => index === places[at]))
  );
}

const context = (site: Site): GenerationContext | undefined => {
  const { effect_pending, ready, retry_wait } = generationOf(runBefore(site));
  return (effect_pending ?? ready ?? retry_wait)?.context;
};

const keepsContext = fact("the captured context stays", (site) => {
  const { effect_pending, ready, retry_wait } = generationOf(runAfter(site));
  return jsonEquals(context(site), (effect_pending ?? ready ?? retry_wait)?.context);
});

const plansNextAttempt = fact("the next attempt is k+1, within the captured policy", (site) => {
  const pending = generationOf(runBefore(site)).effect_pending;
  const { ready, retry_wait } = generationOf(runAfter(site));
  const next = (ready ?? retry_wait)?.nextAttempt;
  return (
    pending !== undefined && next === pending.attempt + 1 && next <= pending.context.retryPolicy.maxAttempts
  );
});

const isFreshId = (site: Site, id: string) =>
  site.model.entry(id) === undefined && site.model.usageRow(id) === undefined;

const calls = (message: AssistantMessage) => callsIn(message).length;
/** A `length` below the intended output limit is an overflow, and stored as an error (spec §3.7). */
const isAccepted = ({ stopReason, usage: { output } }: AssistantMessage, site: Site) => {
  if (stopReason !== "length") return stopReason === "toolUse" || stopReason === "stop";
  const limit = generationOf(runBefore(site)).effect_pending?.intendedOutputLimit;
  return limit !== undefined && output >= limit;
};
const isError = (message: AssistantMessage) => message.stopReason === "error";

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
