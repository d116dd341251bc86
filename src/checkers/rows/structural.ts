/**
 * Rows of structural work (spec §3.9), whoever owns it: a hook decides, else a summary is generated, attempt by
 * attempt, each attempt with one or two nested requests.
 *
 * `compaction.ts` has how compactions begin and end, `navigation.ts` the end of a navigation.
 */
import { jsonEquals } from "../../foundation/index.ts";
import { isCancelled, isOnItsLane, isRunning } from "./facts.ts";
import { structural } from "./phase.ts";
import { fact, type Row, SAME_PHASE } from "./row.ts";
import { summaryOf } from "./site.ts";
import { state, terminalWrites, usage } from "./steps.ts";
import {
  ends,
  endsFailed,
  every,
  isOfEarlierLife,
  isOfThisLife,
  keepsContext,
  mayFail,
  noRequestIsOpen,
  plansNextAttempt,
  stays,
  taskOf,
} from "./structural-facts.ts";
import { leavesLaneIdle, resultIs } from "./terminal.ts";

export const STRUCTURAL_ROWS: readonly Row[] = [
  {
    name: "structural.generate",
    section: "§3.9",
    says: "no hook answers: configuration, options and policy are captured, the first attempt is next",
    from: every("deciding"),
    to: every("ready"),
    writes: [state],
    holds: [
      ...stays,
      isRunning,
      fact("the context is of the task, under the lane's configuration, at attempt 1", (site) => {
        const ready = summaryOf(site.after).ready;
        if (ready === undefined || site.lane === undefined) return false;
        return (
          ready.nextAttempt === 1 &&
          ready.context.taskId === taskOf(site) &&
          jsonEquals(ready.context.configuration, site.model.value("lane.config", site.lane))
        );
      }),
    ],
  },
  {
    name: "structural.intent",
    section: "§3.9",
    says: "an attempt begins",
    from: [...every("ready"), ...every("retry_wait")],
    to: every("effect_pending"),
    writes: [state],
    holds: [
      ...stays,
      isRunning,
      keepsContext,
      fact("it is the planned attempt, with no request yet", ({ before, after }) => {
        const { ready, retry_wait } = summaryOf(before);
        const planned = (ready ?? retry_wait)?.nextAttempt;
        const pending = summaryOf(after).effect_pending;
        if (pending === undefined || planned === undefined) return false;
        return pending.attempt === planned && pending.request === undefined && pending.usageIds.length === 0;
      }),
    ],
  },
  {
    name: "structural.request",
    section: "§3.9",
    says: "a nested request may start: its index and its usage id",
    from: every("effect_pending"),
    to: every("effect_pending"),
    writes: [state],
    holds: [
      ...stays,
      isRunning,
      isOfThisLife,
      keepsContext,
      noRequestIsOpen,
      fact("only the request is new, at the next index and under a new id", (site) => {
        const before = summaryOf(site.before).effect_pending;
        const after = summaryOf(site.after).effect_pending;
        if (before === undefined || after?.request === undefined) return false;
        const { request, ...rest } = after;
        return (
          jsonEquals(rest, before) &&
          request.index === before.usageIds.length &&
          site.model.usageRow(request.usageId) === undefined
        );
      }),
    ],
  },
  {
    name: "structural.request.settle",
    section: "§3.9",
    says: "the nested request returned: its usage, the request is cleared",
    from: every("effect_pending"),
    to: every("effect_pending"),
    writes: [
      usage({
        is: "the request's own",
        accepts: (row, { site }) => {
          return row.id === summaryOf(site.before).effect_pending?.request?.usageId && !row.adjustment;
        },
      }),
      state,
    ],
    holds: [
      ...stays,
      isOfThisLife,
      keepsContext,
      fact("the request is cleared and its usage id is kept", ({ before, after }) => {
        const pending = summaryOf(before).effect_pending;
        if (pending?.request === undefined) return false;
        const { request, ...rest } = pending;
        const expected = { ...rest, usageIds: [...rest.usageIds, request.usageId] };
        return jsonEquals(expected, summaryOf(after).effect_pending);
      }),
    ],
  },
  {
    name: "structural.retry",
    section: "§3.9",
    says: "a retryable outcome with attempts left: wait; its usage is durable already",
    from: every("effect_pending"),
    to: every("retry_wait"),
    writes: [state],
    holds: [...stays, isRunning, isOfThisLife, noRequestIsOpen, keepsContext, plansNextAttempt],
  },
  {
    name: "structural.retry-unknown",
    section: "§4.5",
    says: "restored below the cap: ready for a later attempt; the lost one is not continued",
    from: every("effect_pending"),
    to: every("ready"),
    writes: [state],
    holds: [...stays, isRunning, isOfEarlierLife, keepsContext, plansNextAttempt],
  },
  {
    name: "structural.declined",
    section: "§3.9",
    says: "the hook declines the operation: delete, result declined, idle",
    from: ["manual.deciding", "navigation.deciding"],
    to: ["gone"],
    writes: terminalWrites,
    holds: [isOnItsLane, isRunning, ends("declined"), leavesLaneIdle],
  },
  {
    name: "structural.failed",
    section: "§3.9",
    says: "a terminal error, or attempts used up: delete, result failed, idle",
    from: ["manual.effect_pending", "navigation.effect_pending"],
    to: ["gone"],
    writes: terminalWrites,
    holds: [isOnItsLane, isRunning, endsFailed, mayFail(), leavesLaneIdle],
  },
  {
    name: "structural.aborted",
    section: "§4.6",
    says: "cancelled before the structural commit: delete, result aborted, nothing moved, idle",
    from: [...structural("manual"), ...structural("navigation"), "navigation.ready_to_commit"],
    to: ["gone"],
    writes: terminalWrites,
    holds: [isOnItsLane, isCancelled, resultIs("aborted", () => ({ outcome: "aborted" })), leavesLaneIdle],
  },
  {
    name: "structural.abort",
    section: "§4.6",
    says: "the first abort of a structural operation: cancel_requested, nothing to drain",
    from: [...structural("manual"), ...structural("navigation"), "navigation.ready_to_commit"],
    to: SAME_PHASE,
    writes: [state],
    holds: [
      isOnItsLane,
      isRunning,
      fact("only control changes, and nothing was drained", ({ before, after }) => {
        if (before === undefined || after?.control.status !== "cancel_requested") return false;
        const { drainedSteer, drainedFollowUp } = after.control;
        return (
          drainedSteer.length + drainedFollowUp.length === 0 &&
          jsonEquals({ ...before, control: null }, { ...after, control: null })
        );
      }),
    ],
  },
];
