/**
 * The writes of session trees while a harness drives the session (spec §3.11, §4.3): appends stand on the mutation line
 * of their lane, so that none falls between a read of the leaf and the commit that moves it, and every commit passes
 * the barrier of the harness.
 *
 * What the application wrote wrongly is refused before the barrier and is no fault of the harness. An append on a lane
 * that runs an operation would have to wait in its inbox, which this runtime does not place yet: it is refused, with
 * nothing written.
 */
import { NotJson } from "../foundation/index.ts";
import type { CommitResult, PendingEntry, Transaction } from "../model/index.ts";
import { InvalidWrite, LaneOccupied, placed, type TreeWriter, UnknownLane } from "../session/index.ts";
import type { Environment } from "./environment.ts";
import type { HarnessLane } from "./lane.ts";

/** See the module header. */
export class HarnessTreeWriter implements TreeWriter {
  readonly #environment: Environment;
  readonly #lane: (name: string) => HarnessLane | undefined;

  constructor(environment: Environment, lane: (name: string) => HarnessLane | undefined) {
    this.#environment = environment;
    this.#lane = lane;
  }

  commit(transaction: Transaction): Promise<CommitResult> {
    return commitOutside(this.#environment, transaction);
  }

  async append(lane: string, content: PendingEntry): Promise<string> {
    const found = this.#lane(lane);
    if (found === undefined) throw new UnknownLane(lane);
    return found.onLine(() => appendIdle(this.#environment, lane, content));
  }
}

/** Runs on the mutation line of the lane. @throws LaneOccupied; HarnessClosed; HarnessFault */
async function appendIdle(environment: Environment, lane: string, content: PendingEntry): Promise<string> {
  const { session, lifecycle } = environment;
  lifecycle.admit();
  const [leaf, state] = await Promise.all([
    session.getRegister("lane.leaf", lane),
    session.getRegister("lane.state", lane),
  ]);
  const operationId = state?.value.currentOperationId ?? null;
  if (operationId !== null) throw new LaneOccupied(lane, operationId);
  const id = session.idGenerator.next();
  await commitOutside(environment, {
    writes: [
      { kind: "entry", entry: placed(content, id, leaf?.value ?? null) },
      { kind: "register", op: "set", namespace: "lane.leaf", key: lane, value: id },
    ],
  });
  return id;
}

/** A commit that belongs to no operation. What the session refuses never reached the store. */
async function commitOutside(
  { session, lifecycle }: Environment,
  transaction: Transaction,
): Promise<CommitResult> {
  let refusal: unknown;
  const result = await lifecycle.commit(async () => {
    try {
      return await session.commit(transaction);
    } catch (error) {
      if (!(error instanceof InvalidWrite || error instanceof NotJson)) throw error;
      refusal = error;
      return undefined;
    }
  });
  if (result === undefined) throw refusal;
  return result;
}
