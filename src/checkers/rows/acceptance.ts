/**
 * Rows of acceptance (spec §3.6): the transaction that opens an operation.
 *
 * Every one of them observes an idle lane. Queued items that the run captures come first, from their registers.
 */
import { jsonEquals } from "../../foundation/index.ts";
import type { Operation } from "../../model/index.ts";
import { fact, type Row } from "./row.ts";
import { decisionOf, runAfter, type Site } from "./site.ts";
import { dropEach, entriesFromRegisters, laneState, leafToNewest, newMessages, set, state } from "./steps.ts";

const wasIdle = fact("the lane was idle", ({ laneBefore }) => laneBefore?.currentOperationId === null);

const opensLane = fact("the lane names the operation and keeps what was not captured", (site) => {
  const captured = capturedIds(site);
  const left = site.laneBefore?.pendingNextRun.filter((id) => !captured.includes(id));
  return jsonEquals(site.laneAfter, { currentOperationId: site.operationId, pendingNextRun: left });
});

const metaOf = (kind: Operation["intent"]["kind"]) =>
  set(
    "op.meta",
    (site) => site.operationId,
    (value, { site }) => {
      const meta = value as Operation;
      return (
        meta.operationId === site.operationId && meta.sourceLeafId === site.leaf && meta.intent.kind === kind
      );
    },
  );

const isFresh = fact("the operation is new", ({ model, operationId }) => {
  return operationId !== undefined && model.value("op.meta", operationId) === undefined;
});

const preparation = (kind: "compaction" | "branch_summary") =>
  set(
    "op.preparation",
    (site) => `${site.operationId}:${decisionOf(site.after)?.taskId}`,
    (value) => (value as { kind?: unknown }).kind === kind,
  );

export const ACCEPTANCE_ROWS: readonly Row[] = [
  {
    name: "acceptance.prompt",
    section: "§3.6",
    says: "captured items and new messages, leaf, op.meta, a run at its first checkpoint, lane",
    from: ["none"],
    to: ["checkpoint"],
    writes: [
      entriesFromRegisters(capturedIds),
      newMessages(0),
      dropEach("pending.entry", capturedIds),
      leafToNewest,
      metaOf("run"),
      state,
      laneState,
    ],
    holds: [
      wasIdle,
      isFresh,
      fact("captured items are queued ones, in their order", (site) => {
        const captured = capturedIds(site);
        const queued = site.laneBefore?.pendingNextRun.filter((id) => captured.includes(id));
        return jsonEquals(queued, captured);
      }),
      fact("promptEntryIds are new entries of this transaction, in order", (site) => {
        if (site.operation?.intent.kind !== "run") return false;
        const { promptEntryIds } = site.operation.intent;
        const captured = capturedIds(site);
        const fresh = site.entries.map(({ id }) => id).filter((id) => !captured.includes(id));
        return jsonEquals(
          fresh.filter((id) => promptEntryIds.includes(id)),
          promptEntryIds,
        );
      }),
      fact("the run needs an assistant, skips its inbox once, and is empty otherwise", (site) => {
        const run = runAfter(site);
        return (
          run?.control.status === "running" &&
          run.latestAssistantEntryId === null &&
          jsonEquals(run.inbox, { steer: [], followUp: [], writes: [] }) &&
          jsonEquals(run.phase, {
            kind: "checkpoint",
            continuation: { kind: "need_assistant", overflowRecoveryUsed: false },
            triggerEntryId: site.entries.at(-1)?.id,
            skipInboxOnce: true,
          })
        );
      }),
      opensLane,
    ],
  },
  {
    name: "acceptance.compact",
    section: "§3.6",
    says: "preparation, op.meta, a compaction that is deciding, lane",
    from: ["none"],
    to: ["manual.deciding"],
    writes: [preparation("compaction"), metaOf("compaction"), state, laneState],
    holds: [
      wasIdle,
      isFresh,
      fact("the operation runs and carries its instructions", ({ after, operation }) => {
        return (
          after?.kind === "compaction" &&
          operation?.intent.kind === "compaction" &&
          after.control.status === "running" &&
          after.customInstructions === operation.intent.customInstructions
        );
      }),
      opensLane,
    ],
  },
  {
    name: "acceptance.navigate",
    section: "§3.6",
    says: "op.meta, a navigation that is ready to commit, lane",
    from: ["none"],
    to: ["navigation.ready_to_commit"],
    writes: [metaOf("navigation"), state, laneState],
    holds: [wasIdle, isFresh, navigationFollowsIntent(), targetExists(), opensLane],
  },
  {
    name: "acceptance.navigate-summarized",
    section: "§3.6",
    says: "preparation, op.meta, a navigation whose summary is deciding, lane",
    from: ["none"],
    to: ["navigation.deciding"],
    writes: [preparation("branch_summary"), metaOf("navigation"), state, laneState],
    holds: [wasIdle, isFresh, navigationFollowsIntent(), targetExists(), opensLane],
  },
];

/** The queued items that an acceptance places: those whose register it deletes. */
function capturedIds(site: Site): readonly string[] {
  return site.writes.flatMap((write) =>
    write.kind === "register" && write.op === "delete" && write.namespace === "pending.entry"
      ? [write.key]
      : [],
  );
}

function navigationFollowsIntent() {
  return fact("the state says what the intent says", ({ after, operation }) => {
    if (after?.kind !== "navigation" || operation?.intent.kind !== "navigation") return false;
    const { targetId, summarize, label } = operation.intent;
    return (
      after.control.status === "running" &&
      after.targetId === targetId &&
      after.summarize === summarize &&
      after.label === label
    );
  });
}

function targetExists() {
  return fact("the target is the root or an existing entry, and not the current leaf", (site) => {
    if (site.after?.kind !== "navigation") return false;
    const { targetId } = site.after;
    return targetId !== site.leaf && (targetId === null || site.model.entry(targetId) !== undefined);
  });
}
