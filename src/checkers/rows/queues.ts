/**
 * Rows of queues and of cancellation (spec §3.11, §3.12, §4.6): admission, withdrawal, consumption at a checkpoint.
 *
 * A queued item is one id: it stands in a list and has a `pending.entry` register, until a checkpoint places it or
 * somebody withdraws it. Both ways delete the register in the transaction that shortens the list.
 */
import { jsonEquals } from "../../foundation/index.ts";
import type { Inbox, LaneState, PendingEntry, RunState } from "../../model/index.ts";
import { isOnItsLane, isRunning, keepsAllBut } from "./facts.ts";
import { RUN_PHASES } from "./phase.ts";
import { type Fact, fact, type Row, SAME_PHASE } from "./row.ts";
import { checkpointOf, runAfter, runBefore, type Site } from "./site.ts";
import { drop, dropEach, entriesFromRegisters, entry, laneState, leafToNewest, set, state } from "./steps.ts";

type Queue = keyof Inbox;

const samePhase = fact("the phase stays", (site) => {
  return jsonEquals(runBefore(site)?.phase, runAfter(site)?.phase);
});

/** The id whose register the transaction sets or deletes. */
function registerId(site: Site): string | undefined {
  for (const write of site.writes) {
    if (write.kind === "register" && write.namespace === "pending.entry") return write.key;
  }
  return undefined;
}

const isNewId = fact("the id is new", (site) => {
  const { model } = site;
  const id = registerId(site);
  return (
    id !== undefined && model.register("pending.entry", id) === undefined && model.entry(id) === undefined
  );
});

/** The inbox is the one before with this change of one queue. */
function inboxChanges(says: string, change: (inbox: Inbox, id: string) => Inbox | undefined): Fact {
  return fact(says, (site) => {
    const before = runBefore(site)?.inbox;
    const id = registerId(site);
    if (before === undefined || id === undefined) return false;
    const expected = change(before, id);
    return expected !== undefined && jsonEquals(expected, runAfter(site)?.inbox);
  });
}

function admission(queue: Queue, name: string, mayBeCancelled: boolean): Row {
  return {
    name,
    section: "§3.11",
    says: `an item is admitted to ${queue}: its register, its id at the end of the list`,
    from: RUN_PHASES,
    to: SAME_PHASE,
    writes: [
      set("pending.entry", registerId, (value) => {
        return queue === "writes" || (value as PendingEntry).type === "message";
      }),
      state,
    ],
    holds: [
      isOnItsLane,
      ...(mayBeCancelled ? [] : [isRunning]),
      isNewId,
      samePhase,
      keepsAllBut("inbox"),
      inboxChanges(`the id is the newest of ${queue}`, (inbox, id) => ({
        ...inbox,
        [queue]: [...inbox[queue], id],
      })),
    ],
  };
}

/** What a consumption takes from its queue: the ids whose registers it deletes, which are the oldest ones. */
function consumed(queue: Queue) {
  return (site: Site): readonly string[] => {
    const before = runBefore(site)?.inbox[queue] ?? [];
    const after = runAfter(site)?.inbox[queue] ?? before;
    return before.slice(0, before.length - after.length);
  };
}

/** `one-at-a-time` takes the oldest; `all` takes every item. Deferred writes are always applied together. */
function modeAllows(queue: Queue): Fact {
  return fact(`the mode of ${queue} allows what is taken`, (site) => {
    const run = runBefore(site);
    if (run === undefined) return false;
    const taken = consumed(queue)(site).length;
    const mode = queue === "steer" ? run.settings.steeringMode : run.settings.followUpMode;
    const isOne = queue !== "writes" && mode === "one-at-a-time";
    return taken > 0 && (isOne ? taken === 1 : taken === run.inbox[queue].length);
  });
}

const projects = (site: Site) => site.entries.some(({ type }) => type === "message");

const asksForAssistant = fact(
  "the run needs an assistant for the newest entry, and skips its inbox once",
  (site) => {
    return jsonEquals(checkpointOf(runAfter(site)), {
      kind: "checkpoint",
      continuation: { kind: "need_assistant", overflowRecoveryUsed: false },
      triggerEntryId: site.entries.at(-1)?.id,
      skipInboxOnce: true,
    });
  },
);

function consumption(queue: Queue, name: string): Row {
  const take = consumed(queue);
  return {
    name,
    section: "§3.11",
    says: `a checkpoint consumes ${queue}: entries from the registers, leaf, the next response is needed`,
    from: ["checkpoint", "failure_drain"],
    to: ["checkpoint"],
    writes: [entriesFromRegisters(take), dropEach("pending.entry", take), leafToNewest, state],
    holds: [
      isOnItsLane,
      isRunning,
      modeAllows(queue),
      fact(`only ${queue} is shortened`, (site) => othersKept(site, queue)),
      fact("something the model will see is placed", projects),
      asksForAssistant,
      keepsAllBut("phase", "inbox"),
    ],
  };
}

function othersKept(site: Site, queue: Queue): boolean {
  const before = runBefore(site)?.inbox;
  const after = runAfter(site)?.inbox;
  if (before === undefined || after === undefined) return false;
  const left = before[queue].slice(consumed(queue)(site).length);
  return jsonEquals({ ...before, [queue]: left }, after);
}

export const QUEUE_ROWS: readonly Row[] = [
  admission("steer", "queue.steer", false),
  admission("followUp", "queue.follow-up", false),
  admission("writes", "queue.write", true),
  {
    name: "queue.next-run",
    section: "§3.11",
    says: "an item is admitted to the lane's next run, also while it is idle",
    from: ["untouched"],
    to: ["untouched"],
    writes: [
      set("pending.entry", registerId, (value) => (value as PendingEntry).type === "message"),
      laneState,
    ],
    holds: [
      isNewId,
      laneChanges("the id is the newest of pendingNextRun", (lane, id) => ({
        ...lane,
        pendingNextRun: [...lane.pendingNextRun, id],
      })),
    ],
  },
  {
    name: "queue.cancel",
    section: "§3.11",
    says: "a queued item is withdrawn: the list without its id, no register",
    from: RUN_PHASES,
    to: SAME_PHASE,
    writes: [state, drop("pending.entry", registerId)],
    holds: [
      isOnItsLane,
      samePhase,
      keepsAllBut("inbox"),
      inboxChanges("the id is listed no longer", (inbox, id) => {
        const queue = (["steer", "followUp", "writes"] as const).find((name) => inbox[name].includes(id));
        return queue && { ...inbox, [queue]: inbox[queue].filter((other) => other !== id) };
      }),
    ],
  },
  {
    name: "queue.cancel-next-run",
    section: "§3.11",
    says: "an item of the next run is withdrawn: the list without its id, no register",
    from: ["untouched"],
    to: ["untouched"],
    writes: [laneState, drop("pending.entry", registerId)],
    holds: [
      laneChanges("the id is listed no longer", (lane, id) => {
        if (!lane.pendingNextRun.includes(id)) return undefined;
        return { ...lane, pendingNextRun: lane.pendingNextRun.filter((other) => other !== id) };
      }),
    ],
  },
  consumption("steer", "checkpoint.steer"),
  consumption("followUp", "checkpoint.follow-up"),
  {
    ...consumption("writes", "checkpoint.writes"),
    says: "deferred writes that the model will see are applied: entries, leaf, the next response is needed",
  },
  {
    name: "checkpoint.writes-unprojected",
    section: "§3.12",
    says: "deferred custom writes are applied; what the run does next stays",
    from: RUN_PHASES,
    to: SAME_PHASE,
    writes: [
      entriesFromRegisters(consumed("writes")),
      dropEach("pending.entry", consumed("writes")),
      leafToNewest,
      state,
    ],
    holds: [
      isOnItsLane,
      modeAllows("writes"),
      fact("only writes is shortened", (site) => othersKept(site, "writes")),
      // Under a durable cancellation every write is applied like this, messages too (spec §3.12).
      fact("nothing the model will see is placed, or the run is cancelled", (site) => {
        return !projects(site) || site.before?.control.status === "cancel_requested";
      }),
      samePhase,
      keepsAllBut("inbox"),
    ],
  },
  {
    name: "checkpoint.run-end-follow-up",
    section: "§3.12",
    says: "before_run_end returned a follow-up: born placed, the next response is needed",
    from: ["checkpoint"],
    to: ["checkpoint"],
    writes: [
      entry({ is: "a message entry", accepts: ({ type }) => type === "message" }),
      leafToNewest,
      state,
    ],
    holds: [
      isOnItsLane,
      isRunning,
      fact("the run was about to finish", (site) => {
        const run = runBefore(site);
        return checkpointOf(run)?.continuation.kind === "may_finish" && isEmpty(run);
      }),
      asksForAssistant,
      keepsAllBut("phase"),
    ],
  },
  {
    name: "abort",
    section: "§4.6",
    says: "the first abort: cancel_requested, queues drained into control, registers stay",
    from: RUN_PHASES,
    to: SAME_PHASE,
    writes: [state],
    holds: [
      isOnItsLane,
      isRunning,
      samePhase,
      fact("control holds exactly what the queues held, and writes stay", (site) => {
        const before = runBefore(site);
        const after = runAfter(site);
        if (before === undefined || after?.control.status !== "cancel_requested") return false;
        return (
          jsonEquals(after.control.drainedSteer, before.inbox.steer) &&
          jsonEquals(after.control.drainedFollowUp, before.inbox.followUp) &&
          jsonEquals(after.inbox, { steer: [], followUp: [], writes: before.inbox.writes })
        );
      }),
      keepsAllBut("control", "inbox"),
    ],
  },
];

function isEmpty(run: RunState | undefined): boolean {
  return jsonEquals(run?.inbox, { steer: [], followUp: [], writes: [] });
}

function laneChanges(says: string, change: (lane: LaneState, id: string) => LaneState | undefined): Fact {
  return fact(says, (site) => {
    const id = registerId(site);
    if (site.laneBefore === undefined || id === undefined) return false;
    const expected = change(site.laneBefore, id);
    return expected !== undefined && jsonEquals(expected, site.laneAfter);
  });
}
