/**
 * What the rows of structural work have in common (spec §3.9): facts about the decision, its attempts and its ends.
 */
import { jsonEquals } from "../../foundation/index.ts";
import type { CompactionEntry, EntryDraft, OperationState } from "../../model/index.ts";
import { summaryAttemptId } from "../store-model.ts";
import { isOnItsLane } from "./facts.ts";
import type { PhaseName, StructuralStatus } from "./phase.ts";
import { fact } from "./row.ts";
import { decisionOf, runAfter, runBefore, type Site, summaryOf } from "./site.ts";
import { entry } from "./steps.ts";
import { resultIs } from "./terminal.ts";

const OWNERS = ["compaction", "manual", "navigation"] as const;
/** The same status under every owner. A row that stays with its owner says so in its facts. */
export const every = (status: StructuralStatus): readonly PhaseName[] =>
  OWNERS.map((owner) => `${owner}.${status}` as const);

export const taskOf = (site: Site) => decisionOf(site.before)?.taskId ?? decisionOf(site.after)?.taskId;
const preparationKey = (site: Site) => `${site.operationId}:${taskOf(site)}`;

/** Everything of the operation but its structural decision. */
function aroundDecision(operation: OperationState | undefined): unknown {
  switch (operation?.kind) {
    case "compaction":
      return { ...operation, structural: null };
    case "navigation":
      return { ...operation, phase: null };
    case "run":
      return operation.phase.kind === "compaction"
        ? { ...operation, phase: { ...operation.phase, structural: null } }
        : undefined;
    case undefined:
      return undefined;
  }
}

export const keepsOperation = fact("the operation keeps everything but its decision", ({ before, after }) => {
  const kept = aroundDecision(before);
  return kept !== undefined && jsonEquals(kept, aroundDecision(after));
});

export const keepsTask = fact("the task stays", ({ before, after }) => {
  const task = decisionOf(before)?.taskId;
  return task !== undefined && decisionOf(after)?.taskId === task;
});

const contextOf = (operation: OperationState | undefined) => {
  const { ready, effect_pending, retry_wait } = summaryOf(operation);
  return (ready ?? effect_pending ?? retry_wait)?.context;
};
export const keepsContext = fact("the captured context stays", ({ before, after }) => {
  return contextOf(before) !== undefined && jsonEquals(contextOf(before), contextOf(after));
});

export const stays = [isOnItsLane, keepsOperation, keepsTask];

const isLost = (site: Site) => {
  const pending = summaryOf(site.before).effect_pending;
  return (
    pending !== undefined &&
    site.model.isFromEarlierLife(summaryAttemptId(pending.context.taskId, pending.attempt))
  );
};
export const isOfThisLife = fact("the attempt is of this life", (site) => !isLost(site));
export const isOfEarlierLife = fact("the attempt is of an earlier life, so its outcome is unknown", isLost);

export const plansNextAttempt = fact(
  "the next attempt is k+1, within the captured policy",
  ({ before, after }) => {
    const pending = summaryOf(before).effect_pending;
    const { ready, retry_wait } = summaryOf(after);
    const next = (ready ?? retry_wait)?.nextAttempt;
    if (pending === undefined || next === undefined) return false;
    return next === pending.attempt + 1 && next <= pending.context.retryPolicy.maxAttempts;
  },
);

export const noRequestIsOpen = fact("no nested request is open", ({ before }) => {
  return summaryOf(before).effect_pending?.request === undefined;
});

/** The checkpoint that a compaction inside a run goes back to. */
export const resumes = fact("the run goes on at resumeAfter", (site) => {
  const before = runBefore(site);
  if (before?.phase.kind !== "compaction") return false;
  return jsonEquals(runAfter(site)?.phase, before.phase.resumeAfter);
});

export const failsByTask = fact("the failure comes from the task", (site) => {
  const phase = runAfter(site)?.phase;
  const provenance = phase?.kind === "failure_drain" ? phase.provenance : undefined;
  return jsonEquals(provenance, { kind: "structural", taskId: decisionOf(site.before)?.taskId });
});

export const reasonIs = (reason: "threshold" | "overflow") =>
  fact(`the reason is ${reason}`, (site) => {
    const phase = runBefore(site)?.phase;
    return phase?.kind === "compaction" && phase.reason === reason;
  });

/** The compaction entry: the hook's own, or one whose tail is that of the stored preparation. */
export const compactionEntry = (fromHook: boolean) =>
  entry({
    is: fromHook ? "the hook's compaction" : "the generated compaction",
    ...(fromHook ? {} : { id: (site: Site) => contextOf(site.before)?.resultEntryId }),
    accepts: (draft, site) => {
      if (draft.type !== "compaction" || draft.fromHook !== fromHook) return false;
      return fromHook || isOfPreparation(draft, site);
    },
  });

function isOfPreparation(draft: Extract<EntryDraft, { type: CompactionEntry["type"] }>, site: Site): boolean {
  const preparation = site.model.value("op.preparation", preparationKey(site));
  if (preparation?.kind !== "compaction") return false;
  return (
    jsonEquals(draft.retainedTail, preparation.retainedTail) &&
    draft.tokensBefore === preparation.tokensBefore
  );
}

export const ends = (outcome: "completed" | "declined") => resultIs(outcome, () => ({ outcome }));
export const endsFailed = fact("lane.lastResult is failed, with an error", (site) => {
  return site.writes.some(
    (write) =>
      write.kind === "register" &&
      write.op === "set" &&
      write.namespace === "lane.lastResult" &&
      write.value.outcome === "failed" &&
      write.value.operationId === site.operationId &&
      write.value.leafId === site.leaf &&
      write.value.finalAssistantEntryId === undefined,
  );
});

/** An attempt of this life may fail at any number; a lost one only where the policy allows no further attempt. */
export function mayFail() {
  return fact("the captured policy allows no further attempt, or the error is terminal", (site) => {
    const pending = summaryOf(site.before).effect_pending;
    if (pending === undefined) return false;
    return !isLost(site) || pending.attempt >= pending.context.retryPolicy.maxAttempts;
  });
}
