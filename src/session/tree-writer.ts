/**
 * Where the writes of a session tree go (spec §2.2, §5.3).
 *
 * Terms. *Content*: what becomes the payload of an entry, before it has a place; the same shape waits in a
 * `pending.entry` register when a write is deferred.
 *
 * An append reads the leaf of its lane and moves it, so appends of one lane stand in a line. Two of them, and anything
 * else that moves the leaf, must not be in between. That is why a harness, which moves leaves while it runs, puts a
 * writer of its own in the place of this one: its appends stand on the mutation lines of its lanes, and wait in the
 * inbox while a run is open (spec §3.11). Without a harness a lane that runs an operation takes no appends, because
 * the operation owns the leaf and nobody is there to place what is deferred.
 */
import { type PendingEntry, placed, type Write } from "../model/index.ts";
import { laneStateOf, leafOf } from "./lanes.ts";
import type { Session } from "./session.ts";

/** Takes the writes of session trees. */
export interface TreeWriter {
  /** Commits the write of a fact. Making it may read the session, and refuse. */
  setFact(make: () => Promise<Write>): Promise<void>;
  /**
   * Takes content for a lane, durably, and answers the id of its entry, which is reserved where the write is deferred.
   * The content was admitted by the session.
   */
  append(lane: string, content: PendingEntry): Promise<string>;
}

/** The writer of a session without a harness; see the header. */
export class IdleLaneWriter implements TreeWriter {
  readonly #session: Session;
  readonly #lines = new Map<string, Promise<unknown>>();

  constructor(session: Session) {
    this.#session = session;
  }

  async setFact(make: () => Promise<Write>): Promise<void> {
    await this.#session.commit({ writes: [await make()] });
  }

  append(lane: string, content: PendingEntry): Promise<string> {
    const appended = (this.#lines.get(lane) ?? Promise.resolve()).then(() => this.#append(lane, content));
    const settled = appended.then(ignore, ignore);
    this.#lines.set(lane, settled);
    return appended;
  }

  async #append(lane: string, content: PendingEntry): Promise<string> {
    const session = this.#session;
    const [leafId, { currentOperationId }] = await Promise.all([
      leafOf(session, lane),
      laneStateOf(session, lane),
    ]);
    if (currentOperationId !== null) throw new LaneOccupied(lane, currentOperationId);
    const id = session.idGenerator.next();
    await session.commit({ writes: appendWrites(lane, leafId, id, content) });
    return id;
  }
}

/** A lane runs an operation, and nobody can defer the write. Nothing was written. */
export class LaneOccupied extends Error {
  override readonly name = "LaneOccupied";
  readonly code = "LANE_OCCUPIED";
  readonly lane: string;
  readonly operationId: string;

  constructor(lane: string, operationId: string) {
    super(
      `lane ${lane} runs operation ${operationId}; write when it has ended, or attach a harness and resume it first; ` +
        "nothing was written",
    );
    this.lane = lane;
    this.operationId = operationId;
  }
}

/** The writes of an append at a leaf: the entry, and the leaf that moves to it. */
export function appendWrites(
  lane: string,
  leafId: string | null,
  id: string,
  content: PendingEntry,
): Write[] {
  return [
    { kind: "entry", entry: placed(id, leafId, content) },
    { kind: "register", op: "set", namespace: "lane.leaf", key: lane, value: id },
  ];
}

function ignore(): void {}
