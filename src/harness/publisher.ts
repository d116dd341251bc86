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
  CommitResult,
  Entry,
  LaneConfiguration,
  LaneLastResult,
  OperationState,
  PendingEntry,
  RegisterSetWrite,
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
  turnAt,
  turnIdOf,
} from "./commit-events.ts";
import { EventBus } from "./event-bus.ts";
import type { HarnessEvent, LaneEvent } from "./event-types.ts";
import { followActivity, forgetOperation, type LaneTrack, newLaneTrack } from "./lane-track.ts";
import { configurationEvents, factEvent } from "./register-events.ts";
import type { RestoredLane } from "./restore.ts";
import { NO_TELEMETRY, type TelemetryContext } from "./telemetry.ts";
import { type LaneQueues, sameQueues, WaitingItems } from "./waiting-items.ts";

/** See the module header. */
export class Publisher {
  readonly events: EventBus;
  readonly #tracks = new Map<string, LaneTrack>();
  readonly #waiting = new WaitingItems();
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
      for (const [id, content] of pending) this.#waiting.set(id, content);
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
      track.turn = turnAt(current.state, entries);
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
    return this.#waiting.get(id);
  }

  /** Tells what this process is doing on a lane. */
  tell(lane: string, event: LaneEvent, recovery = false): void {
    const told = { ...event, lane, ...(recovery ? { recovery: true } : {}) } as HarnessEvent;
    const track = this.track(lane);
    followActivity(track, told);
    this.events.emit(told, track.spanNow?.());
  }

  /** Whether the totals of usage are asked for with these writes. */
  wantsTotals(writes: readonly Write[]): boolean {
    return this.events.hasAudience("usage") && writes.some(({ kind }) => kind === "usage");
  }

  /**
   * Takes a commit that has succeeded; with the totals after it, if they are wanted, and its lane, where its writes do not
   * tell.
   */
  committed(
    writes: readonly Write[],
    result: CommitResult,
    { totals, lane }: { readonly totals?: Usage | undefined; readonly lane?: string | undefined } = {},
  ): void {
    this.commitCount++;
    const commit = this.#read(writes, result, lane);
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

  /** An application resumes an operation, of whatever kind. */
  resumed(lane: string): void {
    const { operation, isRestored } = this.track(lane);
    if (operation !== undefined) {
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
    const { turn } = track;
    if (turn !== undefined) this.tell(lane, { type: "turn_start", runId, turnId: turn.turnId }, true);
  }

  /** An operation stops and waits for a `resume()`. */
  suspended(lane: string, event: Extract<LaneEvent, { type: "run_suspend" }>): void {
    this.track(lane).isSuspended = true;
    this.tell(lane, event);
  }

  /** A drive found that somebody else had ended its operation, with these entries. */
  endedElsewhere(lane: string, result: LaneLastResult, entries: readonly Entry[]): void {
    const track = this.track(lane);
    const { operation, state } = track;
    if (operation === undefined || operation.operationId !== result.operationId) return;
    for (const entry of entries) {
      if (entry.type === "message" && entry.message.role === "assistant") {
        track.latestAssistant = { entryId: entry.id, message: entry.message };
      }
    }
    // Who ended it without the entry that a compaction publishes left nothing to tell.
    const isEmpty = result.kind === "compaction" && result.outcome === "completed" && entries.length === 0;
    if (!isEmpty)
      this.tell(lane, endOf({ operation, before: state, after: undefined, entries, result }, result, track));
    forgetOperation(track);
  }

  /** The queues of a lane as they are now. */
  queues(lane: string): LaneQueues {
    return this.#waiting.queuesOf(this.track(lane));
  }

  /** What a commit is about: the lane, the operation, the entries as they are stored. */
  #read(writes: readonly Write[], { seqs, timestamp }: CommitResult, lane: string | undefined): ReadCommit {
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
          ? lane === undefined
            ? this.#laneOf(writes)
            : this.track(lane)
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
        if (totals)
          this.events.emit(
            { type: "usage", lane: track?.lane ?? MAIN_LANE, row, totals },
            track?.spanNow?.(),
          );
        return;
      }
      case "register": {
        const fact = factEvent(write);
        if (fact !== undefined) this.events.emit(fact);
        else if (write.op === "set") this.#set(write, commit);
        else if (write.namespace === "pending.entry") this.#waiting.delete(write.key);
      }
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
        this.#waiting.set(entryId, value);
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
      default:
        return;
    }
  }

  #configured(track: LaneTrack, next: LaneConfiguration): void {
    const before = track.configuration;
    track.configuration = next;
    if (before === undefined) return;
    for (const event of configurationEvents(before, next)) this.tell(track.lane, event);
  }

  #close(track: LaneTrack, operation: OperationCommit): void {
    const { before, after } = operation;
    const hadTurn = track.turn;
    if (isCancelledBy(before, after) && after.control.status === "cancel_requested") {
      const { drainedSteer, drainedFollowUp } = after.control;
      const runId = operation.operation.operationId;
      const drained = {
        steer: this.#waiting.messages(drainedSteer),
        followUp: this.#waiting.messages(drainedFollowUp),
      };
      if (after.kind === "run") this.tell(track.lane, { type: "run_abort", runId, ...drained });
    }
    const events = closing(operation, track);
    if (events.some(({ type }) => type === "turn_end")) track.turn = undefined;
    const opened = openedTurn(before, after);
    if (opened !== undefined && track.turn === undefined) {
      track.turn = { turnId: opened, message: undefined, toolResults: [] };
    }
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
