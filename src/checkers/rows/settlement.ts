/**
 * What the settlements of a response have in common (spec §3.7): the pattern "settle R", and facts about what follows.
 * Generations and polls of deferred answers share it.
 */
import { jsonEquals, timestampOf } from "../../foundation/index.ts";
import type { AssistantMessage, EntryDraft, GenerationContext, UsageRowDraft } from "../../model/index.ts";
import { type Cursor, fact } from "./row.ts";
import {
  assistantIn,
  batchOf,
  callsIn,
  checkpointOf,
  deferredOf,
  generationOf,
  runAfter,
  runBefore,
  type Site,
} from "./site.ts";
import { entry, leafToNewest, usage } from "./steps.ts";

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

export const isLive = fact("the request is of this life", (site) => {
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

export const context = (site: Site): GenerationContext | undefined => {
  const { effect_pending, ready, retry_wait } = generationOf(runBefore(site));
  return (effect_pending ?? ready ?? retry_wait)?.context;
};

export const keepsContext = fact("the captured context stays", (site) => {
  const { effect_pending, ready, retry_wait } = generationOf(runAfter(site));
  return jsonEquals(context(site), (effect_pending ?? ready ?? retry_wait)?.context);
});

export const plansNextAttempt = fact("the next attempt is k+1, within the captured policy", (site) => {
  const pending = generationOf(runBefore(site)).effect_pending;
  const { ready, retry_wait } = generationOf(runAfter(site));
  const next = (ready ?? retry_wait)?.nextAttempt;
  return (
    pending !== undefined && next === pending.attempt + 1 && next <= pending.context.retryPolicy.maxAttempts
  );
});

export const isFreshId = (site: Site, id: string) =>
  site.model.entry(id) === undefined && site.model.usageRow(id) === undefined;

export const calls = (message: AssistantMessage) => callsIn(message).length;
/** A `length` below the intended output limit is an overflow, and stored as an error (spec §3.7). */
export const isAccepted = ({ stopReason, usage: { output } }: AssistantMessage, site: Site) => {
  if (stopReason !== "length") return stopReason === "toolUse" || stopReason === "stop";
  const limit = generationOf(runBefore(site)).effect_pending?.intendedOutputLimit;
  return limit !== undefined && output >= limit;
};
export const isError = (message: AssistantMessage) => message.stopReason === "error";
