/**
 * What the registers of a lane name directly: entries that exist, ids that are reserved, registers that must be there
 * (spec §3.3, §4.4). This is all that restoring a lane reads beyond its own registers; nothing is followed further.
 */
import type {
  LaneState,
  Operation,
  OperationState,
  RunPhase,
  RunState,
  StructuralDecision,
} from "../model/index.ts";
import { toolArgumentsKey } from "./current.ts";
import { preparationKey } from "./structural.ts";

/** What an entry must be, beyond existing. */
export type EntryExpectation =
  | { readonly kind: "any" }
  | { readonly kind: "message" }
  | { readonly kind: "assistant" }
  /** A response that put its answer off. */
  | { readonly kind: "deferred_assistant" }
  /** A response whose calls are answered: not one that failed, was aborted, or was put off. */
  | { readonly kind: "calling_assistant" }
  /** The result of the call at this position among the calls of the batch's response. */
  | { readonly kind: "tool_result"; readonly sourceIndex: number; readonly terminate: boolean };

/** An entry that must exist. `place` says who names it. */
export interface EntryReference {
  readonly id: string;
  readonly place: string;
  readonly expected: EntryExpectation;
}

/** A queued id: its content waits in `pending.entry`, and no entry exists under it. */
export interface QueuedReference {
  readonly id: string;
  readonly place: string;
  readonly isMessage: boolean;
}

export interface References {
  readonly entries: EntryReference[];
  /** Ids whose content does not exist yet. */
  readonly reserved: { readonly id: string; readonly place: string }[];
  readonly queued: QueuedReference[];
  /** Keys of `op.tool_args`. */
  readonly toolArguments: string[];
  /** Keys of `op.preparation`. */
  readonly preparations: { readonly key: string; readonly kind: "compaction" | "branch_summary" }[];
}

/** Collects the references of a lane; without an open operation, those of the idle lane. */
export function referencesOf(
  laneState: LaneState,
  leafId: string | null,
  open?: { readonly operation: Operation; readonly state: OperationState },
): References {
  const found: References = { entries: [], reserved: [], queued: [], toolArguments: [], preparations: [] };
  if (leafId !== null) found.entries.push({ id: leafId, place: "lane.leaf", expected: ANY });
  queue(found, laneState.pendingNextRun, "lane.state pendingNextRun", true);
  if (open) {
    collectOperation(found, open.operation);
    collectState(found, open.operation.operationId, open.state);
  }
  return found;
}

const ANY: EntryExpectation = { kind: "any" };
const ASSISTANT: EntryExpectation = { kind: "assistant" };

function collectOperation(found: References, { sourceLeafId, intent }: Operation): void {
  if (sourceLeafId !== null)
    found.entries.push({ id: sourceLeafId, place: "op.meta sourceLeafId", expected: ANY });
  if (intent.kind === "run") {
    for (const id of intent.promptEntryIds)
      found.entries.push({ id, place: "op.meta promptEntryIds", expected: { kind: "message" } });
  }
  if (intent.kind === "navigation" && intent.targetId !== null) {
    found.entries.push({ id: intent.targetId, place: "op.meta targetId", expected: ANY });
  }
}

function collectState(found: References, operationId: string, state: OperationState): void {
  if (state.control.status === "cancel_requested") {
    queue(found, state.control.drainedSteer, "op.state drainedSteer", true);
    queue(found, state.control.drainedFollowUp, "op.state drainedFollowUp", true);
  }
  switch (state.kind) {
    case "run":
      collectRun(found, operationId, state);
      break;
    case "compaction":
      collectStructural(found, operationId, state.structural, "compaction");
      break;
    case "navigation":
      if (state.targetId !== null) {
        found.entries.push({ id: state.targetId, place: "op.state targetId", expected: ANY });
      }
      if (state.summarize) collectStructural(found, operationId, state.phase.structural, "branch_summary");
      break;
  }
}

function collectRun(found: References, operationId: string, state: RunState): void {
  queue(found, state.inbox.steer, "op.state inbox.steer", true);
  queue(found, state.inbox.followUp, "op.state inbox.followUp", true);
  queue(found, state.inbox.writes, "op.state inbox.writes", false);
  if (state.latestAssistantEntryId !== null) {
    found.entries.push({
      id: state.latestAssistantEntryId,
      place: "op.state latestAssistantEntryId",
      expected: ASSISTANT,
    });
  }
  collectPhase(found, operationId, state.phase);
}

function collectPhase(found: References, operationId: string, phase: RunPhase): void {
  switch (phase.kind) {
    case "checkpoint":
      found.entries.push({ id: phase.triggerEntryId, place: "checkpoint triggerEntryId", expected: ANY });
      break;
    case "assistant": {
      const { generation } = phase;
      found.entries.push({
        id: generation.context.triggerEntryId,
        place: "generation triggerEntryId",
        expected: ANY,
      });
      if (generation.status === "effect_pending") {
        found.reserved.push({ id: generation.responseEntryId, place: "generation responseEntryId" });
        found.reserved.push({ id: generation.usageId, place: "generation usageId" });
      }
      break;
    }
    case "tools": {
      const { batch } = phase;
      found.entries.push({
        id: batch.assistantEntryId,
        place: "tool batch assistantEntryId",
        expected: { kind: "calling_assistant" },
      });
      for (const call of batch.calls) {
        const place = `tool call ${call.sourceIndex} resultEntryId`;
        if (call.status === "completed") {
          const { sourceIndex, terminate } = call;
          found.entries.push({
            id: call.resultEntryId,
            place,
            expected: { kind: "tool_result", sourceIndex, terminate },
          });
          continue;
        }
        found.reserved.push({ id: call.resultEntryId, place });
        if (call.status === "effect_pending") {
          found.toolArguments.push(toolArgumentsKey(operationId, batch.turnId, call.sourceIndex));
        }
      }
      break;
    }
    case "compaction":
      found.entries.push({
        id: phase.resumeAfter.triggerEntryId,
        place: "resumeAfter triggerEntryId",
        expected: ANY,
      });
      collectStructural(found, operationId, phase.structural, "compaction");
      break;
    case "deferred": {
      const { deferred } = phase;
      found.entries.push({
        id: deferred.sourceEntryId,
        place: "deferred sourceEntryId",
        expected: { kind: "deferred_assistant" },
      });
      if (deferred.status === "effect_pending") {
        found.reserved.push({ id: deferred.responseEntryId, place: "deferred responseEntryId" });
        found.reserved.push({ id: deferred.usageId, place: "deferred usageId" });
      }
      break;
    }
    case "failure_drain":
      if (phase.provenance.kind === "response") {
        found.entries.push({
          id: phase.provenance.entryId,
          place: "failure provenance entryId",
          expected: ASSISTANT,
        });
      }
      break;
  }
}

function collectStructural(
  found: References,
  operationId: string,
  structural: StructuralDecision,
  kind: "compaction" | "branch_summary",
): void {
  found.preparations.push({ key: preparationKey(operationId, structural.taskId), kind });
  if (structural.status === "generating") {
    const { context } = structural.generation;
    found.reserved.push({ id: context.resultEntryId, place: "summary resultEntryId" });
    if (structural.generation.status === "effect_pending") {
      const { request, usageIds } = structural.generation;
      for (const id of usageIds) found.reserved.push({ id, place: "summary usageIds" });
      if (request) found.reserved.push({ id: request.usageId, place: "summary request usageId" });
    }
  }
}

function queue(found: References, ids: readonly string[], place: string, isMessage: boolean): void {
  for (const id of ids) found.queued.push({ id, place, isMessage });
}
