/**
 * The invariants of what is reserved and what is settled (spec §9.1, 15, 18 and 19).
 */
import { jsonEquals } from "../../foundation/index.ts";
import type {
  Deferred,
  EntryDraft,
  Generation,
  OperationState,
  RunState,
  UsageRowDraft,
} from "../../model/index.ts";
import type { ObservedCommit } from "../harness-check.ts";
import { assistantIn, callsIn, ownedPendingIds, toolResultIn } from "../rows/site.ts";
import type { StoreModel } from "../store-model.ts";
import { type Invariant, ofWrites } from "./invariant.ts";
import { deletesOf, setsOf } from "./touched.ts";

export const SETTLEMENT_INVARIANTS: readonly Invariant[] = [
  {
    number: 15,
    says: "a reserved id exists only with the content that its intent names; a queued id is a register or an entry",
    before: ofWrites(["entry", "usage"], ({ writes }, model, breaks) => {
      const placed = deletesOf(writes, "pending.entry");
      for (const write of writes) {
        if (write.kind === "register") continue;
        const id = write.kind === "entry" ? write.entry.id : write.row.id;
        const promised = promisedAs(id, model);
        if (promised !== undefined) {
          const broken = promised.accepts(write.kind === "entry" ? write.entry : write.row);
          if (!broken) breaks(`${promised.is} is something else`, `id ${id} was reserved for ${promised.is}`);
        }
        const pending = model.value("pending.entry", id);
        if (pending === undefined || write.kind !== "entry") continue;
        if (!placed.includes(id))
          breaks("placed and still queued", `entry ${id} is placed, its register stays`);
        const { entry } = write;
        const payload =
          entry.type === "message" ? entry.message : entry.type === "custom" ? entry.data : undefined;
        if (entry.type !== pending.type || !jsonEquals(payload, pending.payload)) {
          breaks("placed with another content", `entry ${id} differs from its pending.entry register`);
        }
      }
    }),
    after: ofWrites(["set op.state", "set lane.state"], ({ writes }, model, breaks) => {
      for (const { key, value } of setsOf(writes, "op.state")) {
        for (const id of ownedPendingIds(value)) {
          if (model.register("pending.entry", id) === undefined) {
            breaks("queued without a register", `op.state/${key} lists ${id}, which has no pending.entry`);
          }
        }
      }
      for (const { key, value } of setsOf(writes, "lane.state")) {
        for (const id of value.pendingNextRun) {
          if (model.register("pending.entry", id) === undefined) {
            breaks("queued without a register", `lane.state/${key} lists ${id}, which has no pending.entry`);
          }
        }
      }
    }),
  },
  {
    number: 18,
    says: "overflowRecoveryUsed is true only after an overflow compaction",
    before: ofWrites(["set op.state"], ({ writes }, model, breaks) => {
      for (const { key, value } of setsOf(writes, "op.state")) {
        if (!hasUsedOverflow(value) || isInOverflow(value)) continue;
        const before = model.value("op.state", key);
        if (before !== undefined && (hasUsedOverflow(before) || isInOverflow(before))) continue;
        breaks(
          "overflow recovery out of nowhere",
          `op.state/${key} says overflow recovery was used; it was not`,
        );
      }
    }),
  },
  {
    number: 19,
    says: "a transaction that stores an aborted response writes a state whose control is cancel_requested",
    before: ofWrites(["entry"], (commit, _model, breaks) => {
      for (const write of commit.writes) {
        if (write.kind !== "entry" || assistantIn(write.entry)?.stopReason !== "aborted") continue;
        if (!writesCancelledState(commit)) {
          breaks(
            "aborted while running",
            `entry ${write.entry.id} is aborted, and no cancellation is durable with it`,
          );
        }
      }
    }),
  },
];

interface Promised {
  readonly is: string;
  readonly accepts: (content: EntryDraft | UsageRowDraft) => boolean;
}

/** What an open operation has reserved the id for. */
function promisedAs(id: string, model: StoreModel): Promised | undefined {
  let promised: Promised | undefined;
  for (const { value } of model.registers("op.state")) {
    if (value.kind === "run") promised = promisedIn(value, id, model) ?? promised;
  }
  return promised;
}

function promisedIn({ phase }: RunState, id: string, model: StoreModel): Promised | undefined {
  switch (phase.kind) {
    case "assistant":
      return pendingAs(phase.generation, id);
    case "deferred":
      return pendingAs(phase.deferred, id);
    case "tools": {
      const { calls, assistantEntryId } = phase.batch;
      const index = calls.findLastIndex((call) => call.status !== "completed" && call.resultEntryId === id);
      if (index < 0) return undefined;
      const source = callsIn(assistantIn(model.entry(assistantEntryId)))[index];
      return {
        is: "the result of a call",
        accepts: (content) => "type" in content && toolResultIn(content)?.toolCallId === source?.id,
      };
    }
    case "checkpoint":
    case "compaction":
    case "failure_drain":
      return undefined;
  }
}

function pendingAs(effect: Generation | Deferred, id: string): Promised | undefined {
  if (effect.status !== "effect_pending") return undefined;
  const { responseEntryId, usageId } = effect;
  if (id === usageId) {
    return {
      is: "the response's usage",
      accepts: (content) =>
        "usage" in content && "adjustment" in content && content.entryId === responseEntryId,
    };
  }
  if (id !== responseEntryId) return undefined;
  return {
    is: "the response",
    accepts: (content) => "type" in content && assistantIn(content) !== undefined,
  };
}

function hasUsedOverflow(state: OperationState): boolean {
  if (state.kind !== "run") return false;
  const { phase } = state;
  switch (phase.kind) {
    case "checkpoint":
      return phase.continuation.kind === "need_assistant" && phase.continuation.overflowRecoveryUsed;
    case "assistant":
      return phase.generation.context.overflowRecoveryUsed;
    case "compaction": {
      const { continuation } = phase.resumeAfter;
      return continuation.kind === "need_assistant" && continuation.overflowRecoveryUsed;
    }
    case "tools":
    case "deferred":
    case "failure_drain":
      return false;
  }
}

function isInOverflow(state: OperationState): boolean {
  return state.kind === "run" && state.phase.kind === "compaction" && state.phase.reason === "overflow";
}

function writesCancelledState({ writes }: ObservedCommit): boolean {
  return setsOf(writes, "op.state").some(({ value }) => value.control.status === "cancel_requested");
}
