/**
 * What the interpreter may look at: registries, settings, clock and bounded reads of the session (spec §4.1).
 *
 * Loading for the planner is bounded by what the state names: the response of a tool batch or of a deferred job, and,
 * at a checkpoint whose size is to be judged, the context that the next request is built from anyway; at structural
 * work, its preparation.
 */
import type { OperationState, RunState, SettledAssistantMessage } from "../model/index.ts";
import {
  type CapturedItem,
  type CurrentOperation,
  estimateContextTokens,
  isRun,
  type PlannerInputs,
  preparationKey,
  structuralOf,
  toolArgumentsKey,
  toolCallsOf,
  wholeTokens,
} from "../operation/index.ts";
import { registriesOf } from "./acceptance.ts";
import type { DriveState } from "./drive-state.ts";
import type { Environment, ToolRegistry } from "./environment.ts";
import { contextAt } from "./generation.ts";
import type { DriveView } from "./interpreter.ts";
import { prepareCompactionAt } from "./preparation.ts";
import { readCurrent } from "./restore.ts";
import { boundBatch, clearCall } from "./tools.ts";

/** The view of a harness; see the module header. */
export function createDriveView(environment: Environment): DriveView {
  const { session, clock } = environment;
  const { hasModel } = registriesOf(environment);
  return {
    async plannerInputs(current, live) {
      const responseId = namedResponse(current.state);
      const batchAssistant =
        responseId === undefined ? undefined : await loadResponse(environment, live, responseId);
      const structural = await structuralInputs(environment, live, current);
      const contextSize = responseId === undefined ? await sizeAt(environment, live, current) : undefined;
      return {
        nowMs: clock.now(),
        running: live.running,
        deferredPollsRemaining: live.deferredPollsRemaining,
        deferredCancellations: live.deferredCancellations,
        tools: toolsOf(environment, live, current).declarations,
        hasModel,
        batchAssistant,
        contextSize,
        structural,
      };
    },
    reload: (current) => readCurrent(session, current.operation.lane, current.operation.operationId),
    settings: () => environment.settings,
    mintId: () => session.idGenerator.next(),
    nowMs: () => clock.now(),
    limitsOf(provider, modelId) {
      const model = environment.models.getModel(provider, modelId);
      // Stored with the intent, and a registry may hold any number.
      return (
        model && {
          outputTokens: wholeTokens(model.maxTokens),
          contextWindow: wholeTokens(model.contextWindow),
        }
      );
    },
    prepareThreshold: (current) =>
      prepareCompactionAt(environment, current.leafId, runOf(current).settings.compaction),
    clearCall(current, live, sourceIndex) {
      const { batch } = toolsPhase(current);
      const call = live.latestAssistant && toolCallsOf(live.latestAssistant.message)[sourceIndex];
      if (call === undefined) throw new Error("the response of a tool batch is loaded before planning");
      return clearCall(boundBatch(environment, live, batch.assistantEntryId).tools, batch, call);
    },
    async storedArguments(current, sourceIndex) {
      const { batch } = toolsPhase(current);
      const key = toolArgumentsKey(current.operation.operationId, batch.turnId, sourceIndex);
      const register = await session.getRegister("op.tool_args", key);
      if (register === undefined) throw new Error(`the stored arguments ${key} of a started call are gone`);
      return register.value;
    },
    async queuedItems(ids) {
      const items: CapturedItem[] = [];
      for (const id of ids) {
        const register = await session.getRegister("pending.entry", id);
        if (register === undefined) return undefined;
        items.push({ id, pending: register.value });
      }
      return items;
    },
  };
}

/** The registered tools, or those that an open batch is bound to. */
function toolsOf(environment: Environment, live: DriveState, current: CurrentOperation): ToolRegistry {
  const phase = isRun(current) ? current.state.phase : undefined;
  if (phase?.kind !== "tools") return environment.tools;
  return boundBatch(environment, live, phase.batch.assistantEntryId).tools;
}

/** The response that the next step reads: that of a tool batch, or the source of a deferred job. */
function namedResponse(state: OperationState): string | undefined {
  if (state.kind !== "run") return undefined;
  if (state.phase.kind === "tools") return state.phase.batch.assistantEntryId;
  return state.phase.kind === "deferred" ? state.phase.deferred.sourceEntryId : undefined;
}

async function loadResponse(
  environment: Environment,
  live: DriveState,
  entryId: string,
): Promise<SettledAssistantMessage> {
  if (live.latestAssistant?.entryId !== entryId) {
    const entry = (await environment.session.getEntries([entryId])).get(entryId);
    if (entry?.type !== "message" || entry.message.role !== "assistant") {
      throw new Error(`entry ${entryId} is no response`);
    }
    live.latestAssistant = { entryId, message: entry.message as SettledAssistantMessage };
  }
  return live.latestAssistant.message;
}

async function sizeAt(
  environment: Environment,
  live: DriveState,
  current: CurrentOperation,
): Promise<PlannerInputs["contextSize"]> {
  if (!isRun(current) || current.state.phase.kind !== "checkpoint") return undefined;
  const { phase, settings } = current.state;
  if (!settings.compaction.enabled || phase.thresholdCheckedTriggerEntryId === phase.triggerEntryId) {
    return undefined;
  }
  const { provider, modelId } = current.configuration.model;
  const contextWindow = environment.models.getModel(provider, modelId)?.contextWindow ?? 0;
  if (contextWindow <= 0) return undefined;
  const tokens = estimateContextTokens(await contextAt(environment, live, current.leafId));
  return { tokens, contextWindow };
}

/** The preparation is stable from its commit on, so one reading lasts as long as its task. */
async function structuralInputs(
  { session }: Environment,
  live: DriveState,
  current: CurrentOperation,
): Promise<PlannerInputs["structural"]> {
  const structural = structuralOf(current.state);
  if (structural === undefined) return undefined;
  const { taskId } = structural;
  if (live.structural?.taskId !== taskId) {
    const register = await session.getRegister(
      "op.preparation",
      preparationKey(current.operation.operationId, taskId),
    );
    if (register === undefined) throw new Error(`the preparation of task ${taskId} is gone`);
    live.structural = { taskId, preparation: register.value };
  }
  return live.structural;
}

function runOf(current: CurrentOperation): RunState {
  if (isRun(current)) return current.state;
  throw new Error("the operation is no run");
}

function toolsPhase(current: CurrentOperation) {
  const phase = isRun(current) ? current.state.phase : undefined;
  if (phase?.kind !== "tools") throw new Error("the operation is not at its tools");
  return phase;
}
