/**
 * Transitions of structural work: decision, attempts, nested requests, conclusion (spec §3.9, §4.5).
 *
 * One attempt makes one or two requests, each with a sandwich of its own: its intent reserves a usage id, its
 * settlement books the usage under it. What the requests answered is held in memory only, so an attempt of a lost
 * process is lost whole: its successor begins at the first request again.
 *
 * A compaction inside a run concludes here. One that is an operation of its own concludes with that operation, in the
 * terminal transaction (`transition-terminal.ts`), and so does a navigation.
 *
 * Order of a publication inside a run: usage row of a hook, entry, `lane.leaf`, state.
 */
import type {
  CheckpointPhase,
  DurableStructuralPreparation,
  EntryDraft,
  JsonValue,
  OperationError,
  RunState,
  StructuralDecision,
  SummaryContext,
  SummaryGeneration,
  Usage,
  Write,
} from "../model/index.ts";
import {
  type CurrentOperation,
  IllegalTransition,
  leafWrite,
  stateWrite,
  type Transition,
  withPhase,
} from "./current.ts";
import { retryNotBefore } from "./retry.ts";
import {
  preparationKey,
  type Summary,
  structuralOf,
  summaryGenerationOf,
  withStructural,
} from "./structural.ts";
import { OPERATION_ERROR_CODES } from "./synthetic.ts";

/** A summary with the ids under which it is stored. */
export interface Publication {
  readonly summary: Summary;
  readonly entryId: string;
  readonly fromHook: boolean;
  /** With a hook that reports usage: the id of its row. What requests cost is booked already. */
  readonly usageId?: string;
}

/** How a compaction inside a run ends. */
export type CompactionConclusion =
  | { readonly kind: "declined" }
  | { readonly kind: "failed"; readonly error: OperationError }
  | { readonly kind: "published"; readonly publication: Publication };

/** Everything that can happen to structural work inside an open operation. */
export type StructuralEvent =
  /** The context is small enough after all, or there is nothing to compact: not asked again at this trigger. */
  | { readonly kind: "threshold_checked" }
  | {
      readonly kind: "threshold_exceeded";
      readonly taskId: string;
      readonly preparation: DurableStructuralPreparation;
    }
  /** No hook answers: the summary is generated, with what is captured now. */
  | { readonly kind: "summary_started"; readonly context: SummaryContext }
  | { readonly kind: "summary_attempt_started" }
  | { readonly kind: "summary_request_intended"; readonly usageId: string }
  | { readonly kind: "summary_request_settled"; readonly usage: Usage }
  | { readonly kind: "summary_retried"; readonly errorMessage: string; readonly nowMs: number }
  /** The attempt was begun by a process that is gone. */
  | { readonly kind: "summary_attempt_given_up" }
  | { readonly kind: "compaction_concluded"; readonly conclusion: CompactionConclusion };

/** See the module header. */
export function structuralTransition(current: CurrentOperation, event: StructuralEvent): Transition {
  switch (event.kind) {
    case "threshold_checked": {
      const { run, checkpoint } = checkpointOf(current, event);
      return moveTo(run, withPhase(run.state, checked(checkpoint)));
    }
    case "threshold_exceeded": {
      const { run, checkpoint } = checkpointOf(current, event);
      const next = withPhase(run.state, {
        kind: "compaction",
        reason: "threshold",
        structural: { taskId: event.taskId, status: "deciding" },
        resumeAfter: checked(checkpoint),
      });
      const prepared = preparationWrite(current.operation.operationId, event.taskId, event.preparation);
      return moveTo(run, next, [prepared]);
    }
    case "summary_started": {
      const structural = structuralOf(current.state);
      if (structural?.status !== "deciding") throw new IllegalTransition(event.kind, current.state);
      return generating(current, { status: "ready", context: event.context, nextAttempt: 1 });
    }
    case "summary_attempt_started": {
      const planned = generationOf(current, event, "ready", "retry_wait");
      return generating(current, {
        status: "effect_pending",
        context: planned.context,
        attempt: planned.nextAttempt,
        usageIds: [],
      });
    }
    case "summary_request_intended": {
      const pending = generationOf(current, event, "effect_pending");
      if (pending.request !== undefined) throw new IllegalTransition(event.kind, current.state);
      const request = { index: pending.usageIds.length, usageId: event.usageId };
      return generating(current, { ...pending, request });
    }
    case "summary_request_settled": {
      const { request, ...pending } = generationOf(current, event, "effect_pending");
      if (request === undefined) throw new IllegalTransition(event.kind, current.state);
      const { usageId } = request;
      // Without an entry: whether this attempt comes to one is not known yet.
      const row: Write = { kind: "usage", row: { id: usageId, usage: event.usage, adjustment: false } };
      return generating(current, { ...pending, usageIds: [...pending.usageIds, usageId] }, [row]);
    }
    case "summary_retried": {
      const { context, attempt } = generationOf(current, event, "effect_pending");
      const notBefore = retryNotBefore(event.nowMs, context.retryPolicy.baseDelayMs, attempt);
      const { errorMessage } = event;
      return generating(current, {
        status: "retry_wait",
        context,
        nextAttempt: attempt + 1,
        notBefore,
        errorMessage,
      });
    }
    case "summary_attempt_given_up": {
      const { context, attempt } = generationOf(current, event, "effect_pending");
      return generating(current, { status: "ready", context, nextAttempt: attempt + 1 });
    }
    case "compaction_concluded":
      return conclude(current, event.conclusion);
  }
}

/** The writes that make a summary an entry below `parentId`: the hook's usage row, and the entry. */
export function publicationWrites(
  publication: Publication,
  parentId: string | null,
  fromId: string | null,
): { readonly usage: Write[]; readonly entry: Write } {
  const { summary, entryId, fromHook, usageId } = publication;
  const rows: Write[] =
    usageId === undefined || summary.usage === undefined
      ? []
      : [
          {
            kind: "usage",
            row: { id: usageId, usage: summary.usage, entryId, adjustment: false },
          },
        ];
  return {
    usage: rows,
    entry: { kind: "entry", entry: entryOf(summary, entryId, parentId, fromId, fromHook) },
  };
}

function conclude(current: CurrentOperation, conclusion: CompactionConclusion): Transition {
  const { state, operation } = current;
  if (state.kind !== "run" || state.phase.kind !== "compaction") {
    throw new IllegalTransition("compaction_concluded", state);
  }
  const { reason, structural, resumeAfter } = state.phase;
  const run = { ...current, state };
  const drain = (error: OperationError) =>
    moveTo(
      run,
      withPhase(state, {
        kind: "failure_drain",
        error,
        provenance: { kind: "structural", taskId: structural.taskId },
      }),
    );
  switch (conclusion.kind) {
    case "declined":
      if (reason === "threshold") return moveTo(run, withPhase(state, resumeAfter));
      return drain({
        code: OPERATION_ERROR_CODES.compactionDeclined,
        message: "the context does not fit, and a hook declined to compact it",
      });
    case "failed":
      return drain(conclusion.error);
    case "published": {
      const { usage, entry } = publicationWrites(conclusion.publication, current.leafId, null);
      const { entryId } = conclusion.publication;
      const step = moveTo(run, withPhase(state, resumeAfter), [
        ...usage,
        entry,
        leafWrite(operation.lane, entryId),
      ]);
      return { ...step, leafId: entryId };
    }
  }
}

function entryOf(
  summary: Summary,
  id: string,
  parentId: string | null,
  fromId: string | null,
  fromHook: boolean,
): EntryDraft {
  const common: { summary: string; details?: JsonValue; usage?: Usage } = {
    summary: summary.summary,
    ...(summary.details === undefined ? {} : { details: summary.details }),
    ...(summary.usage === undefined ? {} : { usage: summary.usage }),
  };
  if (summary.kind === "branch_summary") {
    if (fromId === null) throw new Error("a branch that is summarized has a leaf");
    return { type: "branch_summary", id, parentId, fromId, ...common, fromHook };
  }
  const { retainedTail, tokensBefore } = summary;
  return {
    type: "compaction",
    id,
    parentId,
    ...common,
    retainedTail: [...retainedTail],
    tokensBefore,
    fromHook,
  };
}

/** `op.preparation` of a task: written once, before the decision. */
export function preparationWrite(
  operationId: string,
  taskId: string,
  preparation: DurableStructuralPreparation,
): Write {
  const key = preparationKey(operationId, taskId);
  return { kind: "register", op: "set", namespace: "op.preparation", key, value: preparation };
}

function checked(checkpoint: CheckpointPhase): CheckpointPhase {
  return { ...checkpoint, thresholdCheckedTriggerEntryId: checkpoint.triggerEntryId };
}

function checkpointOf(
  current: CurrentOperation,
  event: StructuralEvent,
): { readonly run: CurrentOperation<RunState>; readonly checkpoint: CheckpointPhase } {
  const { state } = current;
  if (state.kind !== "run" || state.phase.kind !== "checkpoint") {
    throw new IllegalTransition(event.kind, state);
  }
  return { run: { ...current, state }, checkpoint: state.phase };
}

function generationOf<Status extends SummaryGeneration["status"]>(
  { state }: CurrentOperation,
  event: StructuralEvent,
  ...statuses: Status[]
): Extract<SummaryGeneration, { status: Status }> {
  const generation = summaryGenerationOf(state);
  if (generation === undefined || !(statuses as string[]).includes(generation.status)) {
    throw new IllegalTransition(event.kind, state);
  }
  return generation as Extract<SummaryGeneration, { status: Status }>;
}

function generating(
  current: CurrentOperation,
  generation: SummaryGeneration,
  before: readonly Write[] = [],
): Transition {
  const { taskId } = structuralOf(current.state) ?? generation.context;
  const structural: StructuralDecision = { taskId, status: "generating", generation };
  return moveTo(current, withStructural(current.state, structural), before);
}

function moveTo(
  { operation, leafId }: CurrentOperation,
  state: Transition["state"] & object,
  before: readonly Write[] = [],
): Transition {
  return { writes: [...before, stateWrite(operation.operationId, state)], state, leafId };
}
