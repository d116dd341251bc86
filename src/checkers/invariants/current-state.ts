/**
 * Current-state validity (spec §3.3, invariant 20): after every commit, a restore that began now would find every
 * entry and register that the lane and its operation name.
 *
 * The specification asks this of a runtime when it restores; here it is asked of what the runtime leaves behind, so a
 * state that no restore could accept is found when it is written and not when somebody crashes there.
 */
import type { OperationState, RunPhase, StructuralDecision, ToolBatch } from "../../model/index.ts";
import { assistantIn, callsIn, toolResultIn } from "../rows/site.ts";
import { toolArgsKey } from "../rows/tools.ts";
import type { StoreModel } from "../store-model.ts";
import type { WriteForm } from "../write-form.ts";
import { type Breaks, type Invariant, OF_LANES, ofWrites } from "./invariant.ts";
import { setsOf, touchedLanes } from "./touched.ts";

/** Forms that name something which must exist. */
const OF_STATES: readonly WriteForm[] = ["set lane.leaf", ...OF_LANES, "set op.meta", "set op.state"];

export const CURRENT_STATE_INVARIANT: Invariant = {
  number: 20,
  says: "every entry and register that a lane or its operation names exists, and is of the expected kind",
  after: ofWrites(OF_STATES, ({ writes }, model, breaks) => {
    for (const { key, value } of setsOf(writes, "lane.leaf")) {
      if (value !== null && model.entry(value) === undefined) {
        breaks("the leaf names no entry", `lane.leaf/${key} is ${value}, which does not exist`);
      }
    }
    for (const lane of touchedLanes(writes)) {
      if (model.register("lane.leaf", lane) === undefined)
        breaks("a lane has no leaf", `lane ${lane} has no leaf`);
    }
    for (const { key, value } of setsOf(writes, "op.meta")) {
      const named = [value.sourceLeafId, ...(value.intent.kind === "run" ? value.intent.promptEntryIds : [])];
      if (value.intent.kind === "navigation") named.push(value.intent.targetId);
      for (const id of named) {
        if (id !== null && model.entry(id) === undefined) {
          breaks("op.meta names no entry", `op.meta/${key} names ${id}, which does not exist`);
        }
      }
    }
    for (const { key, value } of setsOf(writes, "op.state")) {
      checkState(value, { operationId: key, model, breaks });
    }
  }),
};

/** Whose state is checked, and what for. */
interface Place {
  readonly operationId: string;
  readonly model: StoreModel;
  readonly breaks: Breaks;
}

function checkState(state: OperationState, place: Place): void {
  switch (state.kind) {
    case "compaction":
      preparationExists(state.structural, place);
      return;
    case "navigation":
      if (state.targetId !== null) entryExists("targetId", state.targetId, place);
      if (state.summarize) preparationExists(state.phase.structural, place);
      return;
    case "run":
      if (state.latestAssistantEntryId !== null) {
        assistantExists("latestAssistantEntryId", state.latestAssistantEntryId, place);
      }
      checkPhase(state.phase, place);
      return;
  }
}

function checkPhase(phase: RunPhase, place: Place): void {
  switch (phase.kind) {
    case "checkpoint":
      entryExists("triggerEntryId", phase.triggerEntryId, place);
      return;
    case "assistant":
      entryExists("triggerEntryId", phase.generation.context.triggerEntryId, place);
      return;
    case "tools":
      assistantExists("assistantEntryId", phase.batch.assistantEntryId, place);
      checkBatch(phase.batch, place);
      return;
    case "compaction":
      preparationExists(phase.structural, place);
      entryExists("triggerEntryId", phase.resumeAfter.triggerEntryId, place);
      return;
    case "deferred":
      assistantExists("sourceEntryId", phase.deferred.sourceEntryId, place);
      return;
    case "failure_drain":
      if (phase.provenance.kind === "response")
        assistantExists("provenance", phase.provenance.entryId, place);
      return;
  }
}

function entryExists(what: string, id: string, { operationId, model, breaks }: Place): void {
  if (model.entry(id) === undefined) breaks(`${what} names no entry`, `${what} of ${operationId} is ${id}`);
}

function assistantExists(what: string, id: string, { operationId, model, breaks }: Place): void {
  if (assistantIn(model.entry(id)) === undefined) {
    breaks(`${what} names no assistant entry`, `${what} of ${operationId} is ${id}`);
  }
}

function preparationExists({ taskId }: StructuralDecision, { operationId, model, breaks }: Place): void {
  if (model.register("op.preparation", `${operationId}:${taskId}`) === undefined) {
    breaks("a structural decision has no preparation", `task ${taskId} of ${operationId}`);
  }
}

function checkBatch(batch: ToolBatch, { operationId, model, breaks }: Place): void {
  const source = callsIn(assistantIn(model.entry(batch.assistantEntryId)));
  const where = `the batch of ${batch.assistantEntryId}`;
  if (source.length !== batch.calls.length) {
    breaks(
      "a batch misses calls",
      `${where} has ${batch.calls.length} calls for ${source.length} in the response`,
    );
  }
  const ids = new Set(batch.calls.map((call) => call.resultEntryId));
  if (ids.size !== batch.calls.length) breaks("a batch reserves an id twice", where);
  for (const [index, call] of batch.calls.entries()) {
    const result = toolResultIn(model.entry(call.resultEntryId));
    if (call.status === "completed") {
      if (result?.toolCallId !== source[index]?.id) {
        breaks("a completed call has no result", `${where}, call ${index}: ${call.resultEntryId}`);
      }
      continue;
    }
    if (result !== undefined)
      breaks("an open call has a result", `${where}, call ${index}: ${call.resultEntryId}`);
    if (call.status !== "effect_pending") continue;
    const key = toolArgsKey(operationId, batch.turnId, call.sourceIndex);
    if (model.register("op.tool_args", key) === undefined) {
      breaks("a pending call has no arguments", `${where}, call ${index}: no op.tool_args/${key}`);
    }
  }
}
