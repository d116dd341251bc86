/**
 * Lanes as a reader finds them (spec §2.3): every named cursor of a session with its registers. What a lane is made
 * of, and the writes that make one, stand in `lane.ts`; what runs on it is the business of `harness`.
 */
import { Corruption } from "../foundation/index.ts";
import type { LaneConfiguration, LaneLastResult, LaneState } from "../model/index.ts";
import { MAIN_LANE } from "./lane.ts";
import type { Session } from "./session.ts";

/** A lane, as its registers say. */
export interface LaneRecord {
  readonly name: string;
  /** The entry that it points at; null at the root. */
  readonly leafId: string | null;
  readonly state: LaneState;
  /** Absent only on a `main` that no harness was attached to yet. */
  readonly configuration: LaneConfiguration | undefined;
  readonly lastResult: LaneLastResult | undefined;
}

/** Every lane of a session, `main` first and the others by name. @throws Corruption for a lane without its registers */
export async function listLanes(session: Session): Promise<LaneRecord[]> {
  const names = (await session.listRegisters("lane.leaf")).map(({ key }) => key);
  if (!names.includes(MAIN_LANE)) throw laneRegisterMissing("lane.leaf", MAIN_LANE);
  names.sort((left, right) => Number(right === MAIN_LANE) - Number(left === MAIN_LANE));
  return Promise.all(names.map((name) => readLane(session, name)));
}

/** The entry that a lane points at; null at the root. @throws UnknownLane; Corruption if `main` has no leaf */
export async function leafOf(session: Session, lane: string): Promise<string | null> {
  const leaf = await session.getRegister("lane.leaf", lane);
  if (leaf !== undefined) return leaf.value;
  throw lane === MAIN_LANE ? laneRegisterMissing("lane.leaf", lane) : new UnknownLane(lane);
}

/** What a lane runs and has queued. @throws UnknownLane; Corruption if a lane with a leaf has no state */
export async function laneStateOf(session: Session, lane: string): Promise<LaneState> {
  const state = await session.getRegister("lane.state", lane);
  if (state !== undefined) return state.value;
  await leafOf(session, lane);
  throw laneRegisterMissing("lane.state", lane);
}

/** There is no lane of this name in the session. */
export class UnknownLane extends Error {
  override readonly name = "UnknownLane";
  readonly code = "UNKNOWN_LANE";
  readonly lane: string;

  constructor(lane: string) {
    super(`no lane ${JSON.stringify(lane)} in this session; create it before it is used`);
    this.lane = lane;
  }
}

async function readLane(session: Session, name: string): Promise<LaneRecord> {
  const [leafId, state, configuration, lastResult] = await Promise.all([
    leafOf(session, name),
    laneStateOf(session, name),
    session.getRegister("lane.config", name),
    session.getRegister("lane.lastResult", name),
  ]);
  return { name, leafId, state, configuration: configuration?.value, lastResult: lastResult?.value };
}

/** A lane that has lost a register that every lane has; `main` is in every session. */
export function laneRegisterMissing(namespace: "lane.leaf" | "lane.state", lane: string): Corruption {
  const reason = namespace === "lane.leaf" ? "lane_leaf_missing" : "lane_state_missing";
  const message = `the lane ${lane} has no ${namespace}; nothing was changed`;
  return new Corruption(reason, message, { subject: `${namespace}/${lane}` });
}
