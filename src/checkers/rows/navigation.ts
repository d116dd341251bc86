/**
 * Rows of the navigation's own end (spec §3.10): the leaf moves, with or without a summary, in the terminal transaction.
 *
 * There is no state after the move: a crash sees the source untouched, or everything.
 */
import type { NavigationState } from "../../model/index.ts";
import { summaryAttemptId } from "../store-model.ts";
import { isOnItsLane, isRunning } from "./facts.ts";
import { type Cursor, describeWrite, fact, type Row, type Step, writeAt } from "./row.ts";
import { type Site, summaryOf } from "./site.ts";
import { entry, leafToNewest, terminalWrites, usageOfHookIfAny } from "./steps.ts";
import { leavesLaneIdle, resultIs } from "./terminal.ts";

function navigation(site: Site): NavigationState | undefined {
  return site.before?.kind === "navigation" ? site.before : undefined;
}

/** `upsert lane.leaf` = the target; what follows hangs below it. */
const leafToTarget: Step = {
  says: "set lane.leaf to the target",
  forms: ["set lane.leaf"],
  mayTakeNone: false,
  take: (cursor: Cursor) => {
    const write = writeAt(cursor);
    const target = navigation(cursor.site)?.targetId;
    if (write?.kind !== "register" || write.op !== "set" || write.namespace !== "lane.leaf") {
      return describeWrite(write);
    }
    if (write.key !== cursor.site.lane || write.value !== target) return "lane.leaf at another entry";
    cursor.tip = write.value;
    cursor.at++;
    return undefined;
  },
};

/** `upsert fact.label` when the navigation carries a label: of the entry that it ends at, or of its target. */
const labelIfAny: Step = {
  says: "set fact.label if a label is present",
  forms: ["set fact.label"],
  mayTakeNone: true,
  take: (cursor: Cursor) => {
    const label = navigation(cursor.site)?.label;
    if (label === undefined) return undefined;
    const write = writeAt(cursor);
    if (write?.kind !== "register" || write.op !== "set" || write.namespace !== "fact.label") {
      return describeWrite(write);
    }
    const isLabelled = write.key === cursor.tip || write.key === navigation(cursor.site)?.targetId;
    if (!isLabelled || write.value !== label) return "another label";
    cursor.at++;
    return undefined;
  },
};

const summary = (fromHook: boolean) =>
  entry({
    is: fromHook ? "the hook's summary" : "the generated summary",
    ...(fromHook ? {} : { id: (site: Site) => summaryOf(site.before).effect_pending?.context.resultEntryId }),
    accepts: (draft, site) =>
      draft.type === "branch_summary" &&
      draft.fromHook === fromHook &&
      draft.fromId === site.operation?.sourceLeafId,
  });

const completes = resultIs("completed", () => ({ outcome: "completed" }));

export const NAVIGATION_ROWS: readonly Row[] = [
  {
    name: "navigation.moved",
    section: "§3.10",
    says: "no summary is wanted: leaf, label if any, the end",
    from: ["navigation.ready_to_commit"],
    to: ["gone"],
    writes: [leafToTarget, labelIfAny, ...terminalWrites],
    holds: [isOnItsLane, isRunning, completes, leavesLaneIdle],
  },
  {
    name: "navigation.from-hook",
    section: "§3.10",
    says: "the hook supplies the summary: its usage, leaf, summary, leaf, label if any, the end",
    from: ["navigation.deciding"],
    to: ["gone"],
    writes: [usageOfHookIfAny, leafToTarget, summary(true), leafToNewest, labelIfAny, ...terminalWrites],
    holds: [isOnItsLane, isRunning, completes, leavesLaneIdle],
  },
  {
    name: "navigation.generated",
    section: "§3.10",
    says: "the summary is there: leaf, summary, leaf, label if any, the end",
    from: ["navigation.effect_pending"],
    to: ["gone"],
    writes: [leafToTarget, summary(false), leafToNewest, labelIfAny, ...terminalWrites],
    holds: [
      isOnItsLane,
      isRunning,
      fact("the attempt is of this life, and no nested request is open", (site) => {
        const pending = summaryOf(site.before).effect_pending;
        if (pending === undefined || pending.request !== undefined) return false;
        return !site.model.isFromEarlierLife(summaryAttemptId(pending.context.taskId, pending.attempt));
      }),
      completes,
      leavesLaneIdle,
    ],
  },
];
