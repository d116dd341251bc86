/**
 * Acceptance: the one transaction that turns a call into an operation (spec §3.6).
 *
 * Order of writes: entries, `pending.entry` deletes, `lane.leaf`, `op.preparation`, `op.meta`, `op.state`,
 * `lane.state`. The entries are those of the captured `nextRun` items first, in their order, then the caller's
 * messages, then what hooks injected.
 *
 * Precondition: the lane is idle. Acceptance stands on the lane's mutation line, so this is a check, not a
 * comparison of seqs.
 */
import { admitJson } from "../foundation/index.ts";
import {
  type AgentMessage,
  type EntryDraft,
  type Inbox,
  type JsonObject,
  type LaneState,
  type Operation,
  type PendingEntry,
  placed,
  type RunSettings,
  type RunState,
  type Write,
} from "../model/index.ts";
import { leafWrite, stateWrite, type Transition } from "./current.ts";
import { RUNNING } from "./transition-control.ts";

/** A message that gets its place now, under an id minted for it. */
export interface NewMessage {
  readonly id: string;
  readonly message: AgentMessage;
}

/** A queued item of `nextRun`, as its `pending.entry` register holds it. */
export interface CapturedItem {
  readonly id: string;
  readonly pending: PendingEntry;
}

export interface RunAcceptance {
  readonly lane: string;
  readonly laneState: LaneState;
  readonly leafId: string | null;
  readonly operationId: string;
  readonly startedAt: number;
  readonly settings: RunSettings;
  readonly captured: readonly CapturedItem[];
  /** The caller's own normalized messages; these alone are the prompt of the operation. */
  readonly prompt: readonly NewMessage[];
  /** Messages of `before_run` hooks. */
  readonly injected: readonly NewMessage[];
  readonly systemPromptOverride?: string;
  readonly resumeData?: JsonObject;
}

export interface AcceptedRun extends Transition {
  readonly operation: Operation;
  readonly state: RunState;
  readonly laneState: LaneState;
}

/** Accepts a run, or undefined if it would append nothing: then no entry could be the trigger of its checkpoint. */
export function acceptRun(acceptance: RunAcceptance): AcceptedRun | undefined {
  const { lane, operationId } = acceptance;
  const entries: EntryDraft[] = [];
  let parentId = acceptance.leafId;
  for (const { id, pending } of acceptance.captured) {
    entries.push(placed(id, parentId, pending));
    parentId = id;
  }
  for (const { id, message } of [...acceptance.prompt, ...acceptance.injected]) {
    entries.push({ type: "message", id, parentId, message });
    parentId = id;
  }
  const triggerEntryId = entries.at(-1)?.id;
  if (triggerEntryId === undefined) return undefined;

  const operation: Operation = {
    operationId,
    lane,
    sourceLeafId: acceptance.leafId,
    startedAt: acceptance.startedAt,
    intent: {
      kind: "run",
      promptEntryIds: acceptance.prompt.map(({ id }) => id),
      ...(acceptance.systemPromptOverride === undefined
        ? {}
        : { systemPromptOverride: acceptance.systemPromptOverride }),
      ...(acceptance.resumeData === undefined ? {} : { resumeData: acceptance.resumeData }),
    },
  };
  const state: RunState = {
    kind: "run",
    control: RUNNING,
    settings: acceptance.settings,
    phase: {
      kind: "checkpoint",
      continuation: { kind: "need_assistant", overflowRecoveryUsed: false },
      triggerEntryId,
      skipInboxOnce: true,
    },
    inbox: EMPTY_INBOX,
    latestAssistantEntryId: null,
  };
  const capturedIds = new Set(acceptance.captured.map(({ id }) => id));
  const laneState: LaneState = {
    currentOperationId: operationId,
    pendingNextRun: acceptance.laneState.pendingNextRun.filter((id) => !capturedIds.has(id)),
  };
  const writes: Write[] = [
    ...entries.map((entry): Write => ({ kind: "entry", entry })),
    ...acceptance.captured.map(
      ({ id }): Write => ({ kind: "register", op: "delete", namespace: "pending.entry", key: id }),
    ),
    leafWrite(lane, triggerEntryId),
    { kind: "register", op: "set", namespace: "op.meta", key: operationId, value: operation },
    stateWrite(operationId, state),
    { kind: "register", op: "set", namespace: "lane.state", key: lane, value: laneState },
  ];
  return { writes, operation, state, laneState, leafId: triggerEntryId };
}

/** Shared by all runs and admitted once, so that no commit of a run copies it again. */
const EMPTY_INBOX: Inbox = admitJson({ steer: [], followUp: [], writes: [] });
