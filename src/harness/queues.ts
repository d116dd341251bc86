/**
 * What is said to a lane while it runs, or before it runs again: admission and withdrawal of queued items (spec §3.11).
 *
 * Each function is one job on the mutation line of its lane, with at most one commit. It commits past the manual gate,
 * because it belongs to a caller and not to the operation; the drive finds it by the new seq of `op.state`, and plans
 * again.
 *
 * 1. An item has its id from its admission on; the entry that it becomes bears the same one.
 * 2. What is refused has written nothing.
 */
import { err, ok, type Result } from "../foundation/index.ts";
import type { AgentMessage, PendingEntry } from "../model/index.ts";
import {
  admitsItem,
  type CurrentOperation,
  isRun,
  type OperationEvent,
  type QueueName,
  queueNextRun,
  queueOf,
  transition,
  withdrawNextRun,
} from "../operation/index.ts";
import { laneStateOf } from "../session/index.ts";
import type { Environment } from "./environment.ts";
import { NoActiveRun } from "./errors.ts";
import { commitOutside } from "./outside-commit.ts";
import { readCurrent } from "./restore.ts";

/** What became of a withdrawal. `not_found`: withdrawn before, drained by an abort, or never queued. */
export type Withdrawal = "cancelled" | "already_consumed" | "not_found";

/** Queues input for the open run. Refused while there is none that still takes input. */
export async function queueInput(
  environment: Environment,
  lane: string,
  queue: Exclude<QueueName, "writes">,
  message: AgentMessage,
): Promise<Result<{ entryId: string }, NoActiveRun>> {
  const current = await openOperation(environment, lane);
  if (current === undefined || !isRun(current) || !admitsItem(current.state, queue)) {
    const why = current === undefined ? "runs nothing" : "has an operation that takes no input any more";
    return err(new NoActiveRun({ message: `lane ${lane} ${why}; prompt it, or use nextRun`, lane }));
  }
  const entryId = await queueItem(environment, current, queue, { type: "message", payload: message });
  return ok({ entryId });
}

/** Queues content for a run that is open, under a new id. */
export async function queueItem(
  environment: Environment,
  current: CurrentOperation,
  queue: QueueName,
  pending: PendingEntry,
): Promise<string> {
  const id = environment.session.idGenerator.next();
  await commitEvent(environment, current, { kind: "item_queued", queue, id, pending });
  return id;
}

/** Queues input for the next run of a lane, whatever it does now. Starts nothing. */
export async function queueForNextRun(
  environment: Environment,
  lane: string,
  message: AgentMessage,
): Promise<string> {
  const { session, lifecycle } = environment;
  lifecycle.admit();
  const laneState = await laneStateOf(session, lane);
  const id = session.idGenerator.next();
  const pending: PendingEntry = { type: "message", payload: message };
  await commitOutside(environment, { writes: queueNextRun(lane, laneState, id, pending) });
  return id;
}

/** Takes an item back, as long as it is listed. */
export async function withdraw(environment: Environment, lane: string, entryId: string): Promise<Withdrawal> {
  const { session, lifecycle } = environment;
  lifecycle.admit();
  const laneState = await laneStateOf(session, lane);
  if (laneState.pendingNextRun.includes(entryId)) {
    await commitOutside(environment, { writes: withdrawNextRun(lane, laneState, entryId) });
    return "cancelled";
  }
  const current = await openOperation(environment, lane);
  if (current !== undefined && isRun(current) && queueOf(current.state, entryId) !== undefined) {
    await commitEvent(environment, current, { kind: "item_withdrawn", id: entryId });
    return "cancelled";
  }
  return (await session.getEntries([entryId])).has(entryId) ? "already_consumed" : "not_found";
}

/** The open operation of a lane. */
export async function openOperation(
  environment: Environment,
  lane: string,
): Promise<CurrentOperation | undefined> {
  const { session, lifecycle } = environment;
  lifecycle.admit();
  const { currentOperationId } = await laneStateOf(session, lane);
  return currentOperationId === null ? undefined : readCurrent(session, lane, currentOperationId);
}

/** Commits an event that a caller brings, outside the effects of the drive. */
export async function commitEvent(
  environment: Environment,
  current: CurrentOperation,
  event: OperationEvent,
): Promise<void> {
  await commitOutside(environment, { writes: transition(current, event).writes });
}
