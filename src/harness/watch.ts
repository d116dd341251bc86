/**
 * Snapshots and what follows them, without a gap (spec §5.4).
 *
 * `watch` answers a snapshot and begins to buffer in the same moment: everything that happened before is in the
 * snapshot, everything after it in the buffer, nothing in both. `start` hands out the buffer in order and then each event
 * as it comes; `unsubscribe` drops both. A watcher that never starts buffers without a limit.
 *
 * How it is done: the durable part is read in a job on the mutation line of the lane, so no commit of the lane falls
 * in between; the rest is copied, and the buffer opened, at the end of that job, in one turn of the event loop.
 *
 * A watcher of a lane gets the events of that lane, those of no lane, and every `usage`.
 */
import type {
  AgentMessage,
  AgentToolResult,
  AssistantMessage,
  Entry,
  EntryType,
  JsonValue,
  OperationKind,
} from "../model/index.ts";
import { leafOf } from "../session/index.ts";
import type { Environment } from "./environment.ts";
import { HarnessFault } from "./errors.ts";
import { isolatedCopy, type Watcher } from "./event-bus.ts";
import type { EventListener, HarnessEvent, QueuedItem } from "./event-types.ts";
import { type LaneInfo, shownOperation, statusOf } from "./lane-creation.ts";
import type { SuspendedOperation } from "./outcomes.ts";
import { waitingRetry } from "./retry-events.ts";

export interface WatchHandle<Snapshot> {
  readonly snapshot: Snapshot;
  /** Hands out what was buffered, in order, and goes on live. Once. */
  start(listener: EventListener): void;
  unsubscribe(): void;
}

/** A write that waits until its run places it. */
export interface PendingWrite {
  entryId: string;
  type: EntryType;
  customType?: string;
  message?: AgentMessage;
  data?: JsonValue;
}

export interface LaneSnapshot {
  lane: string;
  /** The lane's context window, oldest first, with the compaction that it begins at. */
  transcript: Entry[];
  leafId: string | null;
  operation: null | {
    id: string;
    kind: OperationKind;
    status: "running" | "suspended" | "aborting";
    /** Unix ms. */
    startedAt: number;
    suspended?: SuspendedOperation;
    /** From its start until its entry is committed. */
    streamingMessage?: AssistantMessage;
    runningTools: { toolCallId: string; toolName: string; args: unknown; partialResult?: AgentToolResult }[];
    retry?: { attempt: number; maxAttempts: number; nextAttemptAt: number };
  };
  queues: { steer: QueuedItem[]; followUp: QueuedItem[]; nextRun: QueuedItem[] };
  pendingWrites: PendingWrite[];
  faulted: boolean;
}

export interface SessionSnapshot {
  lanes: (LaneInfo & { suspended?: SuspendedOperation })[];
  faulted: boolean;
}

/** Watches a lane. Called on its mutation line. */
export async function watchLane(
  environment: Environment,
  lane: string,
  suspended: () => SuspendedOperation | undefined,
): Promise<WatchHandle<LaneSnapshot>> {
  const leafId = await leafOf(environment.session, lane);
  const transcript = leafId === null ? [] : await transcriptAt(environment, leafId);
  // From here to the end nothing waits.
  const snapshot = structuredClone({
    lane,
    transcript,
    leafId,
    ...volatilePart(environment, lane, suspended()),
  });
  return watching(environment, snapshot, (event) => {
    return event.lane === undefined || event.lane === lane || event.type === "usage";
  });
}

/** A lane as a session shows it. */
export interface ShownLane {
  info(): Promise<LaneInfo>;
  readonly suspendedOperation: SuspendedOperation | undefined;
}

/** Watches all lanes. */
export async function watchSession(
  environment: Environment,
  lanes: () => readonly ShownLane[],
): Promise<WatchHandle<SessionSnapshot>> {
  environment.lifecycle.admit();
  for (;;) {
    const known = lanes();
    const commitsBefore = environment.publisher.commitCount;
    const infos: LaneInfo[] = [];
    for (const lane of known) infos.push(await lane.info());
    // A lane that moved while others were read is read again: one snapshot is of one moment.
    if (environment.publisher.commitCount !== commitsBefore || lanes().length !== known.length) continue;
    const described = infos.map(({ name, leafId }, index) => {
      // Stopping is no commit, so this is asked at the end and of all.
      const operation = shownOperation(environment.publisher.track(name));
      const suspended = known[index]?.suspendedOperation;
      return { name, leafId, operation, ...(suspended === undefined ? {} : { suspended }) };
    });
    const snapshot = structuredClone({ lanes: described, faulted: isFaulted(environment) });
    return watching(environment, snapshot, () => true);
  }
}

function volatilePart(
  environment: Environment,
  lane: string,
  suspended: SuspendedOperation | undefined,
): Omit<LaneSnapshot, "lane" | "transcript" | "leafId"> {
  const { publisher } = environment;
  const track = publisher.track(lane);
  const { operation, state, streamingMessage } = track;
  const retry = waitingRetry(state);
  const writes = state?.kind === "run" ? state.inbox.writes : [];
  return {
    operation:
      operation === undefined
        ? null
        : {
            id: operation.operationId,
            kind: operation.intent.kind,
            status: statusOf(track),
            startedAt: operation.startedAt,
            ...(suspended === undefined ? {} : { suspended }),
            ...(streamingMessage === undefined ? {} : { streamingMessage: isolatedCopy(streamingMessage) }),
            runningTools: [...track.runningTools.values()].map((running) => {
              const { partialResult } = running;
              return partialResult === undefined
                ? running
                : { ...running, partialResult: isolatedCopy(partialResult) };
            }),
            ...(retry === undefined ? {} : { retry }),
          },
    queues: publisher.queues(lane),
    pendingWrites: writes.flatMap((entryId): PendingWrite[] => {
      const content = publisher.pending(entryId);
      if (content === undefined) return [];
      if (content.type === "message") return [{ entryId, type: "message", message: content.payload }];
      const { customType, payload } = content;
      return [{ entryId, type: "custom", customType, ...(payload === undefined ? {} : { data: payload }) }];
    }),
    faulted: isFaulted(environment),
  };
}

async function transcriptAt({ session }: Environment, leafId: string): Promise<Entry[]> {
  const newestFirst = await session.scanBranch({
    start: leafId,
    order: "newestFirst",
    stopAtType: "compaction",
  });
  return newestFirst.toReversed();
}

function isFaulted({ lifecycle }: Environment): boolean {
  return lifecycle.end instanceof HarnessFault;
}

function watching<Snapshot>(
  { events }: Environment,
  snapshot: Snapshot,
  isMine: (event: HarnessEvent) => boolean,
): WatchHandle<Snapshot> {
  let buffer: Parameters<Watcher>[] | undefined = [];
  let listener: EventListener | undefined;
  const stop = events.watch((event, within) => {
    if (!isMine(event)) return;
    if (buffer !== undefined) buffer.push([event, within]);
    else if (listener !== undefined) events.call(listener, event, within);
  });
  return {
    snapshot,
    start(started) {
      if (listener !== undefined) throw new TypeError("a watcher is started once");
      listener = started;
      // What a listener causes while it reads the buffer stands behind what is in it.
      for (let next = buffer?.shift(); next !== undefined; next = buffer?.shift())
        events.call(started, ...next);
      buffer = undefined;
    },
    unsubscribe() {
      stop();
      buffer = undefined;
      listener = () => undefined;
    },
  };
}
