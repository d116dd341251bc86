/**
 * Open operations that nobody drives: as they were found when the session was opened, and as a drive of this process left
 * them (spec §5.2, §5.4). The mark of a missing identity is of this process; another one finds the operation as crashed.
 */
import type { AgentMessage, Entry, LaneLastResult, Operation } from "../model/index.ts";
import {
  capturedConfiguration,
  checkLastResult,
  type MissingIdentities,
  missingIdentities,
} from "../operation/index.ts";
import { registriesOf } from "./acceptance.ts";
import type { Environment } from "./environment.ts";
import type { DriveEnd } from "./interpreter.ts";
import type { SuspendedOperation } from "./outcomes.ts";
import { promptOf, type RestoredLane } from "./restore.ts";

/** The open operation of a lane, if it has one. */
export function suspendedOperation(
  environment: Environment,
  restored: RestoredLane,
): SuspendedOperation | undefined {
  const { current } = restored;
  if (current === undefined) return undefined;
  const { operation, state } = current;
  const sourceId =
    state.kind === "run" && state.phase.kind === "deferred" ? state.phase.deferred.sourceEntryId : undefined;
  const source = sourceId === undefined ? undefined : restored.entries.get(sourceId);
  const deferred =
    source?.type === "message" && source.message.role === "assistant" ? source.message.deferred : undefined;
  const prompt = promptOf(restored);
  const drained = (ids: readonly string[]): AgentMessage[] =>
    ids.flatMap((id) => {
      const pending = restored.pending.get(id);
      return pending?.type === "message" ? [pending.payload] : [];
    });
  const { control } = state;
  const aborting =
    control.status === "cancel_requested"
      ? { aborting: { steer: drained(control.drainedSteer), followUp: drained(control.drainedFollowUp) } }
      : {};
  // What is captured is what will be used, whatever the lane was set to since.
  const configuration = capturedConfiguration(state) ?? current.configuration;
  const missing = missingIdentities(configuration, registriesOf(environment));
  return {
    lane: restored.lane,
    operationId: operation.operationId,
    kind: operation.intent.kind,
    reason: deferred ? "deferred" : "crash",
    startedAt: operation.startedAt,
    ...(prompt.length > 0 ? { prompt } : {}),
    ...(deferred ? { deferred } : {}),
    ...aborting,
    missing: missing ?? { tools: [], models: [] },
  };
}

/** What the end of a drive leaves open, after it is told. Undefined where the operation has ended. */
export async function suspension(
  environment: Environment,
  lane: string,
  end: DriveEnd,
): Promise<SuspendedOperation | undefined> {
  const { publisher, session } = environment;
  switch (end.kind) {
    case "finished":
      return undefined;
    case "ended_elsewhere": {
      const last = await session.getRegister("lane.lastResult", lane);
      if (last) await tellEndedElsewhere(environment, lane, checkLastResult(lane, last.value));
      return undefined;
    }
    case "deferred": {
      const { operation } = end.current;
      const found = await described(environment, operation);
      const { handle: deferred } = end;
      publisher.suspended(lane, {
        type: "run_suspend",
        runId: operation.operationId,
        reason: "deferred",
        deferred,
      });
      return { ...found, lane, reason: "deferred", deferred, missing: NOTHING };
    }
    case "missing_identities": {
      const { operation } = end.current;
      const { missing } = end;
      const found = await described(environment, operation);
      const event = {
        type: "run_suspend",
        runId: operation.operationId,
        reason: "missing_identities",
        missing,
      } as const;
      publisher.suspended(lane, event);
      return { ...found, lane, reason: "missing_identities", missing };
    }
  }
}

/** Tells that somebody else ended the open operation of a lane, with the entries that its end names. */
export async function tellEndedElsewhere(
  { session, publisher }: Environment,
  lane: string,
  result: LaneLastResult,
): Promise<void> {
  const { intent } = publisher.track(lane).operation ?? {};
  // The leaf of another navigation is an entry that was there before.
  const isPublished =
    result.outcome === "completed" &&
    (intent?.kind === "compaction" || (intent?.kind === "navigation" && intent.summarize));
  const named = [result.finalAssistantEntryId, isPublished ? result.leafId : undefined];
  const ids = named.flatMap((id) => (typeof id === "string" ? [id] : []));
  const entries = ids.length === 0 ? new Map<string, Entry>() : await session.getEntries(ids);
  publisher.endedElsewhere(lane, result, [...entries.values()]);
}

const NOTHING: MissingIdentities = { tools: [], models: [] };

async function described({ session }: Environment, { operationId, startedAt, intent }: Operation) {
  const ids = intent.kind === "run" ? intent.promptEntryIds : [];
  const entries = ids.length === 0 ? new Map() : await session.getEntries(ids);
  const prompt = ids.flatMap((id): AgentMessage[] => {
    const entry = entries.get(id);
    return entry?.type === "message" ? [entry.message] : [];
  });
  return { operationId, kind: intent.kind, startedAt, ...(prompt.length > 0 ? { prompt } : {}) };
}
