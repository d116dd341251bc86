/**
 * Rows of a tool batch (spec §3.8): one intent and one settlement per call, in source order.
 *
 * The last settlement also deletes the batch's `op.tool_args` registers, before the state, and moves to the checkpoint.
 * A call whose intent is of an earlier life, and which was not run again in this one, is settled as interrupted.
 */
import { jsonEquals, jsonEqualsBut } from "../../foundation/index.ts";
import type { ToolCall } from "../../model/index.ts";
import { isOnItsLane, isRunning, keepsAllBut } from "./facts.ts";
import { type Fact, fact, type Row, type Step } from "./row.ts";
import {
  batchOf,
  type ChangedCall,
  checkpointOf,
  runAfter,
  runBefore,
  type Site,
  toolResultIn,
} from "./site.ts";
import { dropPrefix, entry, leafToNewest, set, state, usageIfReported } from "./steps.ts";

/** The key under which a call's effective arguments are stored. */
export function toolArgsKey(operationId: string, turnId: string, sourceIndex: number): string {
  return `${operationId}:${turnId}:${sourceIndex}`;
}

const argsPrefix = (site: Site) => `${site.operationId}:${batchOf(runBefore(site))?.turnId}:`;

const argsKey = (site: Site) => {
  const batch = batchOf(runBefore(site));
  const call = site.call;
  if (batch === undefined || call === undefined || site.operationId === undefined) return undefined;
  return toolArgsKey(site.operationId, batch.turnId, call.before.sourceIndex);
};

/** The changed call satisfies this. */
function call(says: string, holds: (call: ChangedCall, site: Site) => boolean): Fact {
  return fact(says, (site) => {
    return site.call !== undefined && holds(site.call, site);
  });
}

/** The batch is the same but for the one call. */
const keepsBatch = fact("the batch keeps everything but the one call", (site) => {
  const before = batchOf(runBefore(site));
  const after = batchOf(runAfter(site));
  if (before === undefined || after === undefined || before.calls.length !== after.calls.length) return false;
  return jsonEqualsBut("calls", before, after);
});

const wasPlanned = call("the call was planned", ({ before }) => before.status === "planned");
const wasPending = call("the call was effect_pending", ({ before }) => before.status === "effect_pending");
const keepsIdentity = call("the call keeps its index and its reserved id", ({ before, after }) => {
  return after?.sourceIndex === before.sourceIndex && after.resultEntryId === before.resultEntryId;
});

/** Earlier calls are all this far. */
function earlierAre(says: string, isFarEnough: (status: ToolCall["status"]) => boolean): Fact {
  return call(says, ({ index }, site) => {
    const calls = batchOf(runBefore(site))?.calls ?? [];
    return calls.every(({ status }, place) => place >= index || isFarEnough(status));
  });
}

const inSourceOrder = earlierAre("earlier calls are completed", (status) => status === "completed");

const isOutcomeLost = (changed: ChangedCall, site: Site) =>
  site.model.isFromEarlierLife(changed.before.resultEntryId) &&
  !(changed.source !== undefined && site.model.wasExecutedInThisLife(changed.source.id));
const isKnown = call("the call was executed in this life", (changed, site) => !isOutcomeLost(changed, site));
const isLost = call("the intent is of an earlier life and was not run again", isOutcomeLost);

const completes = call("the call is completed, and terminates if its entry says so", ({ after }, site) => {
  const entry = site.entries[0];
  const isTerminating = entry?.type === "message" && entry.terminate === true;
  return after?.status === "completed" && after.terminate === isTerminating;
});

/** The result's entry: under the reserved id, and of the call that the provider asked for. */
function resultEntry(
  is: string,
  accepts: (isError: boolean, terminates: boolean, hasUsage: boolean) => boolean,
) {
  return entry({
    is,
    id: (site) => site.call?.before.resultEntryId,
    accepts: (draft, site) => {
      const result = toolResultIn(draft);
      const source = site.call?.source;
      return (
        result !== undefined &&
        draft.type === "message" &&
        source !== undefined &&
        result.toolCallId === source.id &&
        result.toolName === source.name &&
        accepts(result.isError, draft.terminate === true, result.usage !== undefined)
      );
    },
  });
}

/** After the last call: finish if every call terminates, else ask for the next response (spec §3.8). */
const leavesBatch = fact("the checkpoint follows from the terminations of all calls", (site) => {
  const batch = batchOf(runBefore(site));
  const last = site.entries[0];
  const next = checkpointOf(runAfter(site));
  if (batch === undefined || last?.type !== "message" || next === undefined) return false;
  const others = batch.calls.filter(({ status }) => status === "completed");
  const isFinishing =
    last.terminate === true && others.every((other) => other.status === "completed" && other.terminate);
  // Whether tool results skip the inbox once is said twice in the specification, differently (§3.8, §3.12).
  const { skipInboxOnce: _skip, ...rest } = next;
  return jsonEquals(rest, {
    kind: "checkpoint",
    continuation: isFinishing
      ? { kind: "may_finish", includeFinalAssistant: false }
      : { kind: "need_assistant", overflowRecoveryUsed: false },
    triggerEntryId: last.id,
  });
});

const isLastCall = fact("every other call is completed", (site) => openCallsBefore(site) === 1);
const isNotLastCall = fact("another call is still open", (site) => openCallsBefore(site) > 1);

function openCallsBefore(site: Site): number {
  let count = 0;
  for (const { status } of batchOf(runBefore(site))?.calls ?? []) if (status !== "completed") count++;
  return count;
}

/** One settlement as two rows: inside the batch, and the one that leaves it. */
function settlementRows(row: {
  readonly name: string;
  readonly section: string;
  readonly says: string;
  readonly writes: readonly Step[];
  readonly holds: readonly Fact[];
}): readonly Row[] {
  return [
    {
      ...row,
      from: ["tools"],
      to: ["tools"],
      writes: [...row.writes, state],
      holds: [
        isOnItsLane,
        isNotLastCall,
        inSourceOrder,
        ...row.holds,
        keepsIdentity,
        completes,
        keepsBatch,
        keepsAllBut("phase"),
      ],
    },
    {
      ...row,
      name: `${row.name}.last`,
      says: `${row.says}; the last of its batch`,
      from: ["tools"],
      to: ["checkpoint"],
      writes: [...row.writes, dropPrefix("op.tool_args", argsPrefix), state],
      holds: [isOnItsLane, isLastCall, ...row.holds, leavesBatch, keepsAllBut("phase")],
    },
  ];
}

export const TOOL_ROWS: readonly Row[] = [
  {
    name: "tool.intent",
    section: "§3.8",
    says: "cleared: effective arguments, the call is effect_pending; it may start now",
    from: ["tools"],
    to: ["tools"],
    writes: [set("op.tool_args", argsKey), state],
    holds: [
      isOnItsLane,
      isRunning,
      wasPlanned,
      keepsIdentity,
      call("the call is effect_pending", ({ after }) => after?.status === "effect_pending"),
      // So a call that was passed over is never started after it: it cannot be executed, and its refusal waits its turn.
      call("later calls are planned", ({ index }, site) => {
        const calls = batchOf(runBefore(site))?.calls ?? [];
        return calls.every(({ status }, place) => place <= index || status === "planned");
      }),
      fact("in sequential mode earlier calls are completed", (site) => {
        return runBefore(site)?.settings.toolExecution !== "sequential" || inSourceOrder.holds(site);
      }),
      fact("its arguments are written once", (site) => {
        const key = argsKey(site);
        return key !== undefined && site.model.value("op.tool_args", key) === undefined;
      }),
      keepsBatch,
      keepsAllBut("phase"),
    ],
  },
  ...settlementRows({
    name: "tool.settle",
    section: "§3.8",
    says: "the effect settled: result, leaf, reported usage, completed",
    writes: [resultEntry("the call's result", () => true), leafToNewest, usageIfReported],
    holds: [wasPending, isKnown],
  }),
  ...settlementRows({
    name: "tool.synthetic",
    section: "§3.8",
    says: "never started: a synthetic error result, completed",
    writes: [
      resultEntry("a synthetic error result", (isError, _terminates, hasUsage) => isError && !hasUsage),
      leafToNewest,
    ],
    holds: [wasPlanned],
  }),
  ...settlementRows({
    name: "tool.interrupted",
    section: "§4.5",
    says: "restored and not to be run again: a synthetic interrupted result, completed",
    writes: [
      resultEntry("an interrupted result", (isError, terminates, hasUsage) => {
        return isError && !terminates && !hasUsage;
      }),
      leafToNewest,
    ],
    holds: [wasPending, isLost],
  }),
];
