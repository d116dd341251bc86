/**
 * Transitions of the queues: admission, withdrawal, consumption (spec §3.11, §3.12).
 *
 * Terms. *Queued item*: an id in a list, with its content in `pending.entry/{id}`. The entry that it becomes bears the
 * same id. *Projecting*: what the model will see; every message is, a custom entry is not.
 *
 * 1. At every commit a queued id has its register or its entry, never both: the list and the register change together.
 * 2. `one-at-a-time` takes the oldest item, `all` takes every one. Deferred writes are always applied together.
 * 3. A projecting consumption asks for a response to its newest entry, and the inbox is skipped once: the response is
 *    generated before anything more is taken, also after a crash.
 * 4. What projects nothing, and every write under a cancelled control, is placed and changes nothing else.
 *
 * Order of writes. Admission: `pending.entry`, then the list. Withdrawal: the list, then the delete. Consumption:
 * entries, deletes, `lane.leaf`, the list.
 *
 * That custom entries never project is decided here, though an application may have a projector for them: projectors
 * belong to a process, and what is durable must not depend on which one applied a write.
 */
import {
  type AgentMessage,
  type CheckpointPhase,
  type Inbox,
  type LaneState,
  type PendingEntry,
  placed,
  type RegisterSetWrite,
  type RunState,
  type Write,
} from "../model/index.ts";
import { type CurrentOperation, leafWrite, stateWrite, type Transition } from "./current.ts";
import type { CapturedItem } from "./transition-acceptance.ts";

/** A queue of a run. */
export type QueueName = keyof Inbox;

/** An item is admitted. Input for the run (`steer`, `followUp`) only while its control is running. */
export interface ItemQueued {
  readonly kind: "item_queued";
  readonly queue: QueueName;
  readonly id: string;
  readonly pending: PendingEntry;
}

/** A listed item is taken back. */
export interface ItemWithdrawn {
  readonly kind: "item_withdrawn";
  readonly id: string;
}

/** The oldest items of a queue get their place. */
export interface InboxConsumed {
  readonly kind: "inbox_consumed";
  readonly queue: QueueName;
  /** What `dueItems` names, with the contents of their registers. */
  readonly items: readonly CapturedItem[];
}

/** A hook lets a run that is about to end go on: its message is placed at once, and is in no queue before. */
export interface RunEndFollowedUp {
  readonly kind: "run_end_followed_up";
  readonly entryId: string;
  readonly message: AgentMessage;
}

/** checkpoint `may_finish` → `need_assistant`: entry, `lane.leaf`, the state. */
export function followUpAtEnd(
  current: CurrentOperation<RunState>,
  { entryId, message }: RunEndFollowedUp,
): Transition {
  const { operation, state, leafId } = current;
  const next: RunState = { ...state, phase: answerTo(entryId) };
  const writes: Write[] = [
    { kind: "entry", entry: { type: "message", id: entryId, parentId: leafId, message } },
    leafWrite(operation.lane, entryId),
    stateWrite(operation.operationId, next),
  ];
  return { writes, state: next, leafId: entryId };
}

/** Whether a run takes items for this queue now. */
export function admitsItem({ control }: RunState, queue: QueueName): boolean {
  return queue === "writes" || control.status === "running";
}

/** The ids that a consumption of this queue takes, oldest first. */
export function dueItems({ inbox, settings }: RunState, queue: QueueName): readonly string[] {
  const mode = queue === "writes" ? "all" : queue === "steer" ? settings.steeringMode : settings.followUpMode;
  return mode === "all" ? inbox[queue] : inbox[queue].slice(0, 1);
}

/** The queue that lists an id. */
export function queueOf({ inbox }: RunState, id: string): QueueName | undefined {
  return QUEUES.find((queue) => inbox[queue].includes(id));
}

const QUEUES: readonly QueueName[] = ["steer", "followUp", "writes"];

/** The list grows by one. */
export function queueItem(current: CurrentOperation<RunState>, queued: ItemQueued): Transition {
  const { queue, id, pending } = queued;
  const next = withQueue(current.state, queue, [...current.state.inbox[queue], id]);
  return withWrites(current, next, [pendingWrite(id, pending)], "before");
}

/** The list loses the item, and its content is gone. */
export function withdrawItem(current: CurrentOperation<RunState>, { id }: ItemWithdrawn): Transition {
  const { state } = current;
  const queue = queueOf(state, id);
  if (queue === undefined) throw new Error(`item ${id} is not queued`);
  const rest = state.inbox[queue].filter((other) => other !== id);
  return withWrites(current, withQueue(state, queue, rest), [pendingDelete(id)], "after");
}

/** The items become entries at the leaf. */
export function consumeInbox(current: CurrentOperation<RunState>, consumed: InboxConsumed): Transition {
  const { operation, state } = current;
  const { queue, items } = consumed;
  const newest = items.at(-1);
  if (newest === undefined) throw new Error(`nothing of ${queue} is consumed`);
  const writes: Write[] = [];
  let parentId = current.leafId;
  for (const { id, pending } of items) {
    writes.push({ kind: "entry", entry: placed(id, parentId, pending) });
    parentId = id;
  }
  writes.push(...items.map(({ id }) => pendingDelete(id)), leafWrite(operation.lane, newest.id));
  const rest = withQueue(state, queue, state.inbox[queue].slice(items.length));
  const isProjecting = items.some(({ pending }) => pending.type === "message");
  const next =
    isProjecting && state.control.status === "running" ? { ...rest, phase: answerTo(newest.id) } : rest;
  return { ...withWrites(current, next, writes, "before"), leafId: newest.id };
}

/** Admission to the lane's next run; no operation is touched. */
export function queueNextRun(lane: string, state: LaneState, id: string, pending: PendingEntry): Write[] {
  const pendingNextRun = [...state.pendingNextRun, id];
  return [pendingWrite(id, pending), laneWrite(lane, { ...state, pendingNextRun })];
}

/** Withdrawal from the lane's next run. */
export function withdrawNextRun(lane: string, state: LaneState, id: string): Write[] {
  const pendingNextRun = state.pendingNextRun.filter((other) => other !== id);
  return [laneWrite(lane, { ...state, pendingNextRun }), pendingDelete(id)];
}

/** The boundary at which the run owes a response to a new entry. */
function answerTo(triggerEntryId: string): CheckpointPhase {
  return {
    kind: "checkpoint",
    continuation: { kind: "need_assistant", overflowRecoveryUsed: false },
    triggerEntryId,
    skipInboxOnce: true,
  };
}

function withQueue(state: RunState, queue: QueueName, ids: readonly string[]): RunState {
  return { ...state, inbox: { ...state.inbox, [queue]: [...ids] } };
}

function withWrites(
  current: CurrentOperation,
  state: RunState,
  writes: readonly Write[],
  place: "before" | "after",
): Transition {
  const counter = stateWrite(current.operation.operationId, state);
  return {
    writes: place === "before" ? [...writes, counter] : [counter, ...writes],
    state,
    leafId: current.leafId,
  };
}

function pendingWrite(id: string, value: PendingEntry): RegisterSetWrite {
  return { kind: "register", op: "set", namespace: "pending.entry", key: id, value };
}

function pendingDelete(id: string): Write {
  return { kind: "register", op: "delete", namespace: "pending.entry", key: id };
}

function laneWrite(lane: string, value: LaneState): RegisterSetWrite {
  return { kind: "register", op: "set", namespace: "lane.state", key: lane, value };
}
