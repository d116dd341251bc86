/**
 * Restore: from registers to lanes, by point reads (spec §4.4).
 *
 * The lanes are listed by their `lane.state`, and held against the list of leaves: a lane that has lost its state is
 * refused, not forgotten. Per lane: its other two registers; with an open operation also `op.meta` and `op.state`; then, in
 * one batch each, the entries and registers that those name directly. All of it is validated (spec §3.3) before anything is
 * done. There is no history to fold, no scan, and nothing is inferred from absence. `lane.lastResult` is not read.
 *
 * Restoring starts no effect and writes nothing.
 */
import type {
  AgentMessage,
  Entry,
  LaneConfiguration,
  LaneState,
  PendingEntry,
  Register,
  RegisterValues,
} from "../model/index.ts";
import {
  type AgreeingRegisters,
  type CurrentOperation,
  checkReferences,
  checkRegisters,
  type References,
  referencesOf,
} from "../operation/index.ts";
import { laneRegisterMissing, MAIN_LANE, type Session } from "../session/index.ts";

/** A lane as it was found. */
export interface RestoredLane {
  readonly lane: string;
  /** Undefined while the lane is idle. */
  readonly current: CurrentOperation | undefined;
  readonly laneState: LaneState;
  /** Undefined only for `main` of a session that no harness was attached to yet. */
  readonly configuration: LaneConfiguration | undefined;
  /** What the registers name directly, by id. */
  readonly entries: ReadonlyMap<string, Entry>;
  readonly pending: ReadonlyMap<string, PendingEntry>;
}

/** Restores every lane of a session, `main` first. @throws Corruption */
export async function restoreLanes(session: Session): Promise<RestoredLane[]> {
  const states = await session.listRegisters("lane.state");
  const leaves = await session.listRegisters("lane.leaf");
  const found = new Set(states.map(({ key }) => key));
  for (const lane of [MAIN_LANE, ...leaves.map(({ key }) => key)]) {
    if (!found.has(lane)) throw laneRegisterMissing("lane.state", lane);
  }
  states.sort((left, right) => Number(right.key === MAIN_LANE) - Number(left.key === MAIN_LANE));
  const lanes: RestoredLane[] = [];
  for (const state of states) lanes.push(await restoreLane(session, state));
  return lanes;
}

async function restoreLane(session: Session, laneState: Register<"lane.state">): Promise<RestoredLane> {
  const lane = laneState.key;
  const { agreeing, references, current } = await readRegisters(session, laneState);
  const loaded = await loadReferences(session, references);
  checkReferences(agreeing, references, loaded);
  return {
    lane,
    current,
    laneState: laneState.value,
    configuration: agreeing.configuration,
    entries: loaded.entries,
    pending: loaded.pending,
  };
}

/** The open operation of a lane, if it is still the named one. Reads its registers alone. */
export async function readCurrent(
  session: Session,
  lane: string,
  operationId: string,
): Promise<CurrentOperation | undefined> {
  const laneState = await session.getRegister("lane.state", lane);
  if (laneState?.value.currentOperationId !== operationId) return undefined;
  return (await readRegisters(session, laneState)).current;
}

/** The messages of the caller's prompt, as far as the hydrated entries hold them. */
export function promptOf(restored: RestoredLane): AgentMessage[] {
  const intent = restored.current?.operation.intent;
  if (intent?.kind !== "run") return [];
  return intent.promptEntryIds.flatMap((id) => {
    const entry = restored.entries.get(id);
    return entry?.type === "message" ? [entry.message] : [];
  });
}

interface ReadRegisters {
  readonly agreeing: AgreeingRegisters;
  readonly references: References;
  readonly current: CurrentOperation | undefined;
}

async function readRegisters(session: Session, laneState: Register<"lane.state">): Promise<ReadRegisters> {
  const lane = laneState.key;
  const [configuration, leaf] = await Promise.all([
    session.getRegister("lane.config", lane),
    session.getRegister("lane.leaf", lane),
  ]);
  const operationId = laneState.value.currentOperationId;
  const [meta, state] =
    operationId === null
      ? []
      : await Promise.all([
          session.getRegister("op.meta", operationId),
          session.getRegister("op.state", operationId),
        ]);
  const agreeing = checkRegisters({
    lane,
    laneState: laneState.value,
    leafId: leaf?.value,
    configuration: configuration?.value,
    operation: meta?.value,
    state: state?.value,
  });
  const { open, leafId } = agreeing;
  const references = referencesOf(laneState.value, leafId, open);
  const current: CurrentOperation | undefined =
    open && state && configuration
      ? {
          operation: open.operation,
          state: open.state,
          stateSeq: state.seq,
          leafId,
          configuration: configuration.value,
          configurationSeq: configuration.seq,
        }
      : undefined;
  return { agreeing, references, current };
}

async function loadReferences(session: Session, references: References) {
  const ids = new Set<string>();
  for (const { id } of references.entries) ids.add(id);
  for (const { id } of references.reserved) ids.add(id);
  for (const { id } of references.queued) ids.add(id);
  const [entries, pending, toolArguments, preparations] = await Promise.all([
    ids.size === 0 ? new Map<string, Entry>() : session.getEntries([...ids]),
    registersOf(
      session,
      "pending.entry",
      references.queued.map(({ id }) => id),
    ),
    registersOf(session, "op.tool_args", references.toolArguments),
    registersOf(
      session,
      "op.preparation",
      references.preparations.map(({ key }) => key),
    ),
  ]);
  return { entries, pending, toolArguments, preparations };
}

/** The values of the registers among `keys` that exist, by key. */
async function registersOf<N extends "pending.entry" | "op.tool_args" | "op.preparation">(
  session: Session,
  namespace: N,
  keys: readonly string[],
): Promise<Map<string, RegisterValues[N]>> {
  const found = new Map<string, RegisterValues[N]>();
  for (const key of keys) {
    const register = await session.getRegister(namespace, key);
    if (register) found.set(key, register.value);
  }
  return found;
}
