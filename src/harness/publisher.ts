/**
 * The publisher: what is committed becomes events, and what this process does is told (spec §5.5).
 *
 * Every commit of a harness is handed to it once, right after it succeeded, in the order of commits. It follows the
 * newest state of each lane (`lane-track.ts`), so that an event can say what was before, and a snapshot what is now.
 *
 * 1. A durable event is published when its commit has succeeded, never before, and in the order of the writes.
 * 2. A response and the result of a call have had their `message_start` and `message_end` before the commit; every other
 *    message that is placed gets both right before its `entry_added`.
 * 3. Totals of usage are those after the commit of the row that they come with, or later ones: whoever keeps them keeps
 *    those of the highest `seq`.
 */
import type {
  AgentMessage,
  CommitResult,
  Entry,
  LaneLastResult,
  OperationState,
  PendingEntry,
  RegisterSetWrite,
  RegisterValues,
  Usage,
  Write,
} from "../model/index.ts";
import { MAIN_LANE } from "../session/index.ts";
import {
  closing,
  endOf,
  type OperationCommit,
  openedTurn,
  opening,
  startOf,
  structuralStartIn,
  turnIdOf,
} from "./commit-events.ts";
import { EventBus } from "./event-bus.ts";
import type { HarnessEvent, LaneEvent, QueuedItem } from "./event-types.ts";
import { followActivity, forgetOperation, type LaneTrack, newLaneTrack } from "./lane-track.ts";
import type { RestoredLane } from "./restore.ts";
import { NO_TELEMETRY, type TelemetryContext } from "./telemetry.ts";

/** The queues of a lane, each item with its message. */
export interface LaneQueues {
  readonly steer: QueuedItem[];
  readonly followUp: QueuedItem[];
  readonly nextRun: QueuedItem[];
}

/** See the module header. */
export class Publisher {
  readonly events: EventBus;
  readonly #tracks = new Map<string, LaneTrack>();
  readonly #pending = new Map<string, PendingEntry>();
  /** Commits until now, of all lanes. */
  commitCount = 0;

  constructor(telemetry: TelemetryContext = NO_TELEMETRY) {
    this.events = new EventBus(telemetry);
  }

  /** Begins with what a harness found when it was made. */
  begin(lanes: readonly RestoredLane[]): void {
    for (const { lane, current, laneState, configuration, pending, entries } of lanes) {
      const track = this.track(lane);
      track.configuration = configuration;
      track.pendingNextRun = laneState.pendingNextRun;
      for (const [id, content] of pending) this.#pending.set(id, content);
      if (current === undefined) continue;
      track.operation = current.operation;
      track.state = current.state;
      track.isRestored = true;
      track.isSuspended = true;
      const latestId = current.state.kind === "run" ? current.state.latestAssistantEntryId : null;
      const latest = latestId === null ? undefined : entries.get(latestId);
      if (latest?.type === "message" && latest.message.role === "assistant") {
        track.latestAssistant = { entryId: latest.id, message: latest.message };
      }
    }
  }

  /** What is remembered of a lane. */
  track(lane: string): LaneTrack {
    const known = this.#tracks.get(lane);
    if (known !== undefined) return known;
    const track = newLaneTrack(lane);
    this.#tracks.set(lane, track);
    return track;
  }

  /** The content that waits under an id. */
  pending(id: string): PendingEntry | undefined {
    return this.#pending.get(id);
  }

  /** Tells what this process is doing on a lane. */
  tell(lane: string, event: LaneEvent, recovery = false): void {
    const told = { ...event, lane, ...(recovery ? { recovery: true } : {}) } as HarnessEvent;
    followActivity(this.track(lane), told);
    this.events.emit(told);
  }

  /** Whether the totals of usage are asked for with these writes. */
  wantsTotals(writes: readonly Write[]): boolean {
    return this.events.hasAudience("usage") && writes.some(({ kind }) => kind === "usage");
  }

  /** Takes a commit that has succeeded; with the totals after it, if they are wanted. */
  committed(writes: readonly Write[], result: CommitResult, totals?: Usage): void {
    this.commitCount++;
    const commit = this.#read(writes, result);
    const { track } = commit;
    const queuesBefore = track && this.queues(track.lane);
    if (track && commit.operation) {
      for (const event of opening(commit.operation)) this.tell(track.lane, event);
      if (commit.operation.before === undefined) {
        track.operation = commit.operation.operation;
        track.isSuspended = false;
      }
    }
    for (const [index, write] of writes.entries())
      this.#write(write, commit, result.seqs[index] ?? 0, totals);
    if (track === undefined) return;
    if (queuesBefore && !sameQueues(queuesBefore, this.queues(track.lane))) {
      this.tell(track.lane, { type: "queue_update", ...this.queues(track.lane) });
    }
    if (commit.operation) this.#close(track, commit.operation);
  }

  /** An application resumes an operation. */
  resumed(lane: string): void {
    const { operation, isRestored } = this.track(lane);
    if (operation?.intent.kind === "run") {
      this.tell(lane, { type: "run_resume", runId: operation.operationId }, isRestored);
    }
    this.takenUp(lane);
  }

  /** An operation is driven again: what was told of it in another process, and is open, is told here too. */
  takenUp(lane: string): void {
    const track = this.track(lane);
    const { operation, state, isRestored } = track;
    track.isRestored = false;
    track.isSuspended = false;
    if (operation === undefined || state === undefined || !isRestored) return;
    const runId = operation.operationId;
    const structural = structuralStartIn(operation, state);
    if (state.kind !== "run") this.tell(lane, startOf(operation), true);
    else if (structural) this.tell(lane, structural, true);
    const turnId = turnIdOf(state);
    if (turnId === undefined) return;
    const message =
      state.kind === "run" && state.phase.kind === "tools" ? track.latestAssistant?.message : undefined;
    track.turn = { turnId, message, toolResults: [] };
    this.tell(lane, { type: "turn_start", runId, turnId }, true);
  }

  /** A run stops and waits for a `resume()`. */
  suspended(lane: string, event: Extract<LaneEvent, { type: "run_suspend" }>): void {
    this.track(lane).isSuspended = true;
    this.tell(lane, event);
  }

  /** A drive found that somebody else had ended its operation. */
  endedElsewhere(lane: string, result: LaneLastResult): void {
    const track = this.track(lane);
    const { operation, state } = track;
    if (operation === undefined || operation.operationId !== result.operationId) return;
    const commit = { operation, before: state, after: undefined, entries: [], result };
    if (result.kind !== "compaction" || result.outcome !== "completed")
      this.tell(lane, endOf(commit, result, track));
    forgetOperation(track);
  }

  /** The queues of a lane as they are now. */
  queues(lane: string): LaneQueues {
    const { state, pendingNextRun } = this.track(lane);
    const inbox = state?.kind === "run" ? state.inbox : undefined;
    return {
      steer: this.#items(inbox?.steer ?? []),
      followUp: this.#items(inbox?.followUp ?? []),
      nextRun: this.#items(pendingNextRun),
    };
  }

  #items(ids: readonly string[]): QueuedItem[] {
    return ids.flatMap((entryId) => {
      const content = this.#pending.get(entryId);
      return content?.type === "message" ? [{ entryId, message: content.payload }] : [];
    });
  }

  /** What a commit is about: the lane, the operation, the entries as they are stored. */
  #read(writes: readonly Write[], { seqs, timestamp }: CommitResult): ReadCommit {
    const entries = writes.flatMap((write, index): Entry[] =>
      // What the commit assigned comes first: adding members to a spread object costs many times the spread.
      write.kind === "entry" ? [{ seq: seqs[index] ?? 0, timestamp, ...write.entry } as Entry] : [],
    );
    const state = writes.find((write) => write.kind === "register" && write.namespace === "op.state");
    const meta = setOf(writes, "op.meta");
    const operationId = state?.kind === "register" ? state.key : undefined;
    const track =
      meta !== undefined
        ? this.track(meta.value.lane)
        : operationId === undefined
          ? this.#laneOf(writes)
          : [...this.#tracks.values()].find(({ operation }) => operation?.operationId === operationId);
    const operation = meta?.value ?? (operationId === undefined ? undefined : track?.operation);
    if (track === undefined || operation === undefined) return { track, entries };
    const before = meta === undefined ? track.state : undefined;
    const after = setOf(writes, "op.state")?.value;
    const result = setOf(writes, "lane.lastResult")?.value;
    return { track, entries, operation: { operation, before, after, entries, result } };
  }

  /** The lane of a commit that no operation makes, if it is of one. */
  #laneOf(writes: readonly Write[]): LaneTrack | undefined {
    for (const write of writes) {
      if (write.kind === "register" && write.namespace.startsWith("lane.")) return this.track(write.key);
    }
    return undefined;
  }

  #write(write: Write, commit: ReadCommit, seq: number, totals: Usage | undefined): void {
    const { track, entries } = commit;
    switch (write.kind) {
      case "entry": {
        const entry = entries.find(({ id }) => id === write.entry.id);
        if (entry !== undefined && track !== undefined) this.#placed(track, entry, commit.operation);
        return;
      }
      case "usage": {
        const row = { ...write.row, seq };
        if (totals) this.events.emit({ type: "usage", lane: track?.lane ?? MAIN_LANE, row, totals });
        return;
      }
      case "register":
        if (write.op === "set") this.#set(write, commit);
        else this.#deleted(write.namespace, write.key);
    }
  }

  #placed(track: LaneTrack, entry: Entry, operation: OperationCommit | undefined): void {
    const { lane } = track;
    if (entry.type === "message") {
      const { message } = entry;
      const runId = operation === undefined ? {} : { runId: operation.operation.operationId };
      if (!isSettlement(entry.id, operation?.before)) {
        this.tell(lane, { type: "message_start", ...runId, message });
        this.tell(lane, { type: "message_end", ...runId, message, entryId: entry.id });
      } else if (message.role === "assistant") {
        track.latestAssistant = { entryId: entry.id, message };
        if (track.turn) track.turn.message = message;
      } else if (message.role === "toolResult") track.turn?.toolResults.push(message);
    }
    this.tell(lane, { type: "entry_added", entry });
  }

  #set(write: RegisterSetWrite, { track, operation }: ReadCommit): void {
    switch (write.namespace) {
      case "op.state":
        if (track !== undefined) track.state = write.value;
        return;
      case "lane.state":
        this.track(write.key).pendingNextRun = write.value.pendingNextRun;
        return;
      case "pending.entry": {
        const { key: entryId, value } = write;
        this.#pending.set(entryId, value);
        const { after } = operation ?? {};
        if (track && operation && after?.kind === "run" && after.inbox.writes.includes(entryId)) {
          const runId = operation.operation.operationId;
          this.tell(track.lane, { type: "write_pending", runId, entryId, entryType: value.type });
        }
        return;
      }
      case "lane.config":
        this.#configured(this.track(write.key), write.value);
        return;
      case "fact.name":
        this.events.emit({ type: "fact_update", fact: "name", name: write.value });
        return;
      case "fact.label":
        this.events.emit({ type: "fact_update", fact: "label", targetId: write.key, label: write.value });
        return;
      case "fact.custom":
        this.events.emit({ type: "fact_update", fact: "custom", key: write.key, value: write.value });
        return;
      case "lane.leaf":
      case "lane.lastResult":
      case "op.meta":
      case "op.tool_args":
      case "op.preparation":
        return;
    }
  }

  #deleted(namespace: string, key: string): void {
    switch (namespace) {
      case "pending.entry":
        this.#pending.delete(key);
        return;
      case "fact.name":
        this.events.emit({ type: "fact_update", fact: "name", name: undefined });
        return;
      case "fact.label":
        this.events.emit({ type: "fact_update", fact: "label", targetId: key, label: undefined });
        return;
      case "fact.custom":
        this.events.emit({ type: "fact_update", fact: "custom", key, value: undefined });
        return;
      default:
        return;
    }
  }

  #configured(track: LaneTrack, next: RegisterValues["lane.config"]): void {
    const before = track.configuration;
    track.configuration = next;
    if (before === undefined) return;
    const { lane } = track;
    const updated = { type: "config_update" } as const;
    if (before.model.provider !== next.model.provider || before.model.modelId !== next.model.modelId) {
      this.tell(lane, { ...updated, property: "model", value: next.model, previous: before.model });
    }
    if (before.thinkingLevel !== next.thinkingLevel) {
      const { thinkingLevel: value } = next;
      this.tell(lane, { ...updated, property: "thinkingLevel", value, previous: before.thinkingLevel });
    }
    if (before.activeToolNames.join("\n") !== next.activeToolNames.join("\n")) {
      const { activeToolNames: value } = next;
      this.tell(lane, { ...updated, property: "activeTools", value, previous: before.activeToolNames });
    }
  }

  #close(track: LaneTrack, operation: OperationCommit): void {
    const { before, after } = operation;
    const hadTurn = track.turn;
    if (isCancelledBy(before, after) && after.control.status === "cancel_requested") {
      const { drainedSteer, drainedFollowUp } = after.control;
      const messages = (ids: readonly string[]): AgentMessage[] =>
        this.#items(ids).map(({ message }) => message);
      const runId = operation.operation.operationId;
      const drained = { steer: messages(drainedSteer), followUp: messages(drainedFollowUp) };
      if (after.kind === "run") this.tell(track.lane, { type: "run_abort", runId, ...drained });
    }
    const events = closing(operation, track);
    if (events.some(({ type }) => type === "turn_end")) track.turn = undefined;
    const opened = openedTurn(before, after);
    if (opened !== undefined && track.turn === undefined) {
      track.turn = { turnId: opened, message: undefined, toolResults: [] };
    }
    if (
      after?.kind === "run" &&
      after.phase.kind === "assistant" &&
      after.phase.generation.status === "retry_wait"
    ) {
      const { nextAttempt: attempt, notBefore: nextAttemptAt, context } = after.phase.generation;
      track.retry = { attempt, maxAttempts: context.retryPolicy.maxAttempts, nextAttemptAt };
    } else track.retry = undefined;
    if (after === undefined) forgetOperation(track);
    else if (hadTurn !== undefined && turnIdOf(after) === undefined) track.turn = undefined;
    for (const event of events) this.tell(track.lane, event);
  }
}

interface ReadCommit {
  readonly track: LaneTrack | undefined;
  readonly entries: readonly Entry[];
  readonly operation?: OperationCommit;
}

/** Whether an entry settles an effect: its id was reserved for a response or a result. */
function isSettlement(id: string, before: OperationState | undefined): boolean {
  if (before?.kind !== "run") return false;
  const { phase } = before;
  switch (phase.kind) {
    case "assistant":
      return phase.generation.status === "effect_pending" && phase.generation.responseEntryId === id;
    case "deferred":
      return phase.deferred.status === "effect_pending" && phase.deferred.responseEntryId === id;
    case "tools":
      return phase.batch.calls.some(({ resultEntryId }) => resultEntryId === id);
    case "checkpoint":
    case "compaction":
    case "failure_drain":
      return false;
  }
}

function isCancelledBy(
  before: OperationState | undefined,
  after: OperationState | undefined,
): after is OperationState {
  return before?.control.status === "running" && after?.control.status === "cancel_requested";
}

function sameQueues(one: LaneQueues, other: LaneQueues): boolean {
  const ids = ({ steer, followUp, nextRun }: LaneQueues) =>
    [steer, followUp, nextRun].map((items) => items.map(({ entryId }) => entryId).join(" ")).join("|");
  return ids(one) === ids(other);
}

/** The value that a commit sets in a namespace. */
function setOf<N extends RegisterSetWrite["namespace"]>(
  writes: readonly Write[],
  namespace: N,
): Extract<RegisterSetWrite, { namespace: N }> | undefined {
  for (const write of writes) {
    if (write.kind === "register" && write.op === "set" && write.namespace === namespace) {
      return write as Extract<RegisterSetWrite, { namespace: N }>;
    }
  }
  return undefined;
}
