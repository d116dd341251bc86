/**
 * Rows of deferred answers (spec §3.2): a provider that answers later is polled, at most once per `resume()`.
 *
 * Each poll has an intent and a settlement like a generation; polls have no cap and never retry. A poll whose answer is
 * pending still makes that answer the new source.
 */
import { jsonEquals } from "../../foundation/index.ts";
import { isCancelled, isOnItsLane, isRunning, keepsAllBut } from "./facts.ts";
import { fact, type Row } from "./row.ts";
import {
  failsByResponse,
  finishes,
  isOfEarlierLife,
  namesResponse,
  plansBatch,
  reservedResponse,
  settlement,
} from "./settlement.ts";
import { assistantIn, callsIn, deferredOf, runAfter, runBefore, type Site } from "./site.ts";
import { state } from "./steps.ts";

const pendingBefore = (site: Site) => deferredOf(runBefore(site)).effect_pending;
const pendingAfter = (site: Site) => deferredOf(runAfter(site)).effect_pending;

const reservesFreshIds = fact("R and U are two ids that nothing bears", (site) => {
  const pending = pendingAfter(site);
  if (pending === undefined || pending.responseEntryId === pending.usageId) return false;
  return [pending.responseEntryId, pending.usageId].every((id) => {
    return site.model.entry(id) === undefined && site.model.usageRow(id) === undefined;
  });
});

/** What every state of one job has in common. */
const keepsJob = fact("step, configuration and options stay", (site) => {
  const job = (run: ReturnType<typeof runBefore>) => {
    const { suspended, effect_pending } = deferredOf(run);
    const deferred = suspended ?? effect_pending;
    return deferred && [deferred.stepId, deferred.configuration, deferred.streamOptions];
  };
  return jsonEquals(job(runBefore(site)), job(runAfter(site)));
});

const settles = [isOnItsLane, isRunning, namesResponse, keepsAllBut("phase", "latestAssistantEntryId")];

export const DEFERRED_ROWS: readonly Row[] = [
  {
    name: "deferred.intent",
    section: "§3.2",
    says: "a poll may start: reserve fresh ids, the next poll is in flight",
    from: ["deferred.suspended"],
    to: ["deferred.effect_pending"],
    writes: [state],
    holds: [
      isOnItsLane,
      isRunning,
      keepsAllBut("phase"),
      keepsJob,
      reservesFreshIds,
      fact("the poll is k+1, of the same source", (site) => {
        const before = deferredOf(runBefore(site)).suspended;
        const after = pendingAfter(site);
        return (
          before !== undefined &&
          after?.poll === before.poll + 1 &&
          after.sourceEntryId === before.sourceEntryId
        );
      }),
    ],
  },
  {
    name: "deferred.intent-again",
    section: "§3.2",
    says: "restored: a new intent at the same poll; the old ids never exist",
    from: ["deferred.effect_pending"],
    to: ["deferred.effect_pending"],
    writes: [state],
    holds: [
      isOnItsLane,
      isRunning,
      isOfEarlierLife,
      keepsAllBut("phase"),
      keepsJob,
      reservesFreshIds,
      fact("the poll and its source stay, the ids are others", (site) => {
        const before = pendingBefore(site);
        const after = pendingAfter(site);
        return (
          before !== undefined &&
          after?.poll === before.poll &&
          after.sourceEntryId === before.sourceEntryId &&
          after.responseEntryId !== before.responseEntryId &&
          after.usageId !== before.usageId
        );
      }),
    ],
  },
  {
    name: "deferred.settle.pending",
    section: "§3.2",
    says: "the job is still pending under an equal handle: settle R, suspend again",
    from: ["deferred.effect_pending"],
    to: ["deferred.suspended"],
    writes: [
      ...settlement("a response that is still deferred, under an equal handle", (message, site) => {
        const source = pendingBefore(site)?.sourceEntryId;
        const handle = source === undefined ? undefined : assistantIn(site.model.entry(source))?.deferred;
        return message.stopReason === "deferred" && jsonEquals(message.deferred, handle);
      }),
      state,
    ],
    holds: [
      ...settles,
      keepsJob,
      fact("the source is R, and the poll counts as finished", (site) => {
        const after = deferredOf(runAfter(site)).suspended;
        return after?.sourceEntryId === reservedResponse(site) && after?.poll === pendingBefore(site)?.poll;
      }),
    ],
  },
  {
    name: "deferred.settle.tools",
    section: "§3.2",
    says: "the answer is ready and has tool calls: settle R, plan the batch",
    from: ["deferred.effect_pending"],
    to: ["tools"],
    writes: [
      ...settlement("a response with tool calls", (message) => {
        return callsIn(message).length > 0 && ["toolUse", "stop", "length"].includes(message.stopReason);
      }),
      state,
    ],
    holds: [...settles, plansBatch(pendingBefore)],
  },
  {
    name: "deferred.settle.finish",
    section: "§3.2",
    says: "the answer is ready and has no calls: settle R, the run may finish",
    from: ["deferred.effect_pending"],
    to: ["checkpoint"],
    writes: [
      ...settlement("a response that stops without calls", (message) => {
        return callsIn(message).length === 0 && ["stop", "toolUse", "length"].includes(message.stopReason);
      }),
      state,
    ],
    holds: [...settles, finishes],
  },
  {
    name: "deferred.settle.failed",
    section: "§3.2",
    says: "a provider error, or a handle that does not match: settle R as an error, drain; polls never retry",
    from: ["deferred.effect_pending"],
    to: ["failure_drain"],
    writes: [...settlement("an error", (message) => message.stopReason === "error"), state],
    holds: [...settles, failsByResponse],
  },
  {
    name: "deferred.settle.aborted",
    section: "§3.2",
    says: "cancelled: aborted under the existing ids, live or restored",
    from: ["deferred.effect_pending"],
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
];
