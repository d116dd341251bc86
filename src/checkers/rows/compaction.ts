/**
 * Rows of compactions (spec §3.9): how one begins inside a run, and how it ends, inside a run or as an operation of its
 * own (`manual`). What lies between is in `structural.ts`.
 */
import { jsonEquals } from "../../foundation/index.ts";
import { isOnItsLane, isRunning, keepsAllBut } from "./facts.ts";
import { fact, type Row } from "./row.ts";
import { checkpointOf, decisionOf, runAfter, runBefore } from "./site.ts";
import { leafToNewest, set, state, terminalWrites, usageOfHookIfAny } from "./steps.ts";
import {
  compactionEntry,
  ends,
  failsByTask,
  isOfThisLife,
  mayFail,
  noRequestIsOpen,
  reasonIs,
  resumes,
} from "./structural-facts.ts";
import { leavesLaneIdle } from "./terminal.ts";

export const COMPACTION_ROWS: readonly Row[] = [
  {
    name: "compaction.threshold",
    section: "§3.9",
    says: "the context is too long: preparation, a compaction is deciding, the checkpoint is marked as checked",
    from: ["checkpoint"],
    to: ["compaction.deciding"],
    writes: [set("op.preparation", (site) => `${site.operationId}:${decisionOf(site.after)?.taskId}`), state],
    holds: [
      isOnItsLane,
      isRunning,
      keepsAllBut("phase"),
      fact("it resumes at the checkpoint, marked for its trigger", (site) => {
        const before = checkpointOf(runBefore(site));
        const phase = runAfter(site)?.phase;
        if (before === undefined || phase?.kind !== "compaction" || phase.reason !== "threshold")
          return false;
        if (before.thresholdCheckedTriggerEntryId === before.triggerEntryId) return false;
        return jsonEquals(phase.resumeAfter, {
          ...before,
          thresholdCheckedTriggerEntryId: before.triggerEntryId,
        });
      }),
    ],
  },
  {
    name: "checkpoint.threshold-checked",
    section: "§3.9",
    says: "there is nothing to compact: the checkpoint is marked as checked",
    from: ["checkpoint"],
    to: ["checkpoint"],
    writes: [state],
    holds: [
      isOnItsLane,
      isRunning,
      keepsAllBut("phase"),
      fact("only the mark is set", (site) => {
        const before = checkpointOf(runBefore(site));
        if (before === undefined || before.thresholdCheckedTriggerEntryId === before.triggerEntryId)
          return false;
        return jsonEquals(runAfter(site)?.phase, {
          ...before,
          thresholdCheckedTriggerEntryId: before.triggerEntryId,
        });
      }),
    ],
  },
  {
    name: "compaction.declined",
    section: "§3.9",
    says: "the hook declines a threshold compaction: back to the checkpoint",
    from: ["compaction.deciding"],
    to: ["checkpoint"],
    writes: [state],
    holds: [isOnItsLane, isRunning, reasonIs("threshold"), keepsAllBut("phase"), resumes],
  },
  {
    name: "compaction.declined-overflow",
    section: "§3.9",
    says: "the hook declines an overflow compaction: drain",
    from: ["compaction.deciding"],
    to: ["failure_drain"],
    writes: [state],
    holds: [isOnItsLane, isRunning, reasonIs("overflow"), keepsAllBut("phase"), failsByTask],
  },
  {
    name: "compaction.from-hook",
    section: "§3.9",
    says: "the hook supplies the compaction: its usage, entry, leaf, back to the checkpoint",
    from: ["compaction.deciding"],
    to: ["checkpoint"],
    writes: [usageOfHookIfAny, compactionEntry(true), leafToNewest, state],
    holds: [isOnItsLane, isRunning, keepsAllBut("phase"), resumes],
  },
  {
    name: "compaction.generated",
    section: "§3.9",
    says: "the summary is there: entry, leaf, back to the checkpoint",
    from: ["compaction.effect_pending"],
    to: ["checkpoint"],
    writes: [compactionEntry(false), leafToNewest, state],
    holds: [isOnItsLane, isRunning, isOfThisLife, noRequestIsOpen, keepsAllBut("phase"), resumes],
  },
  {
    name: "compaction.failed",
    section: "§3.9",
    says: "a terminal error, or attempts used up: drain",
    from: ["compaction.effect_pending"],
    to: ["failure_drain"],
    writes: [state],
    holds: [isOnItsLane, isRunning, keepsAllBut("phase"), failsByTask, mayFail()],
  },
  {
    name: "manual.from-hook",
    section: "§3.9",
    says: "the hook supplies the compaction: its usage, entry, leaf, the end",
    from: ["manual.deciding"],
    to: ["gone"],
    writes: [usageOfHookIfAny, compactionEntry(true), leafToNewest, ...terminalWrites],
    holds: [isOnItsLane, isRunning, ends("completed"), leavesLaneIdle],
  },
  {
    name: "manual.generated",
    section: "§3.9",
    says: "the summary is there: entry, leaf, the end",
    from: ["manual.effect_pending"],
    to: ["gone"],
    writes: [compactionEntry(false), leafToNewest, ...terminalWrites],
    holds: [isOnItsLane, isRunning, isOfThisLife, noRequestIsOpen, ends("completed"), leavesLaneIdle],
  },
];
