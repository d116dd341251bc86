/**
 * The operation state: the durable program counter (spec §3.2). `op.state/{operationId}` holds exactly one complete
 * `OperationState`, and every transition overwrites it whole. There is no finished member: an operation that has
 * ended has no state.
 *
 * The states of a single provider request stand in `generation.ts`.
 */
import { type Static, Type } from "typebox";
import { DeferredSchema, GenerationSchema, StructuralDecisionSchema } from "./generation.ts";
import { LaneConfigurationSchema } from "./lane.ts";
import { OperationErrorSchema } from "./operation.ts";
import { closed, IdList, NonEmptyString, NullableId, SafeCount } from "./schema.ts";
import { CompactionSettingsSchema, QueueModeSchema, ToolExecutionModeSchema } from "./settings.ts";

/** Whether the operation is to go on; orthogonal to its phase. `requestedAt` in Unix ms. */
export const ControlSchema = Type.Union([
  closed({ status: Type.Literal("running") }),
  closed({
    status: Type.Literal("cancel_requested"),
    requestedAt: SafeCount,
    /** Drained queue ids; their `pending.entry` registers live until the terminal transaction. */
    drainedSteer: IdList,
    drainedFollowUp: IdList,
  }),
]);
export type Control = Static<typeof ControlSchema>;

/** Reserved entry ids by queue; the payloads stand in their `pending.entry` registers. */
export const InboxSchema = closed({ steer: IdList, followUp: IdList, writes: IdList });
export type Inbox = Static<typeof InboxSchema>;

/** What a checkpoint leads to. */
export const ContinuationSchema = Type.Union([
  closed({ kind: Type.Literal("need_assistant"), overflowRecoveryUsed: Type.Boolean() }),
  closed({ kind: Type.Literal("may_finish"), includeFinalAssistant: Type.Boolean() }),
]);
export type Continuation = Static<typeof ContinuationSchema>;

/** A boundary between steps, where queues are consumed and the size of the context is judged. */
export const CheckpointPhaseSchema = closed({
  kind: Type.Literal("checkpoint"),
  continuation: ContinuationSchema,
  /** The entry that caused this boundary; always an existing one. */
  triggerEntryId: NonEmptyString,
  /** The trigger for which threshold compaction was already tried: at most once per boundary. */
  thresholdCheckedTriggerEntryId: Type.Optional(NonEmptyString),
  /** Generate before draining another queued input. */
  skipInboxOnce: Type.Optional(Type.Boolean()),
});
export type CheckpointPhase = Static<typeof CheckpointPhaseSchema>;

const toolCallProperties = { sourceIndex: SafeCount, resultEntryId: NonEmptyString };

/** One call of a batch; `sourceIndex` points into the content of the batch's assistant entry. */
export const ToolCallSchema = Type.Union([
  closed({ status: Type.Literal("planned"), ...toolCallProperties }),
  closed({
    status: Type.Literal("effect_pending"),
    ...toolCallProperties,
    replay: Type.Enum(["never", "safe"]),
  }),
  closed({ status: Type.Literal("completed"), ...toolCallProperties, terminate: Type.Boolean() }),
]);
export type ToolCall = Static<typeof ToolCallSchema>;

/** The calls of one assistant response, in source order. */
export const ToolBatchSchema = closed({
  assistantEntryId: NonEmptyString,
  /** Of the step that produced the batch; the active tool names come from here. */
  configuration: LaneConfigurationSchema,
  /** The step id of the producing generation; recovered tool events use it as their turn. */
  turnId: NonEmptyString,
  calls: Type.Array(ToolCallSchema),
});
export type ToolBatch = Static<typeof ToolBatchSchema>;

/** Where an operation's failure came from: a settled response, or a structural task. */
export const FailureProvenanceSchema = Type.Union([
  closed({ kind: Type.Literal("response"), entryId: NonEmptyString }),
  closed({ kind: Type.Literal("structural"), taskId: NonEmptyString }),
]);
export type FailureProvenance = Static<typeof FailureProvenanceSchema>;

/** The phase of a run. */
export const RunPhaseSchema = Type.Union([
  CheckpointPhaseSchema,
  closed({ kind: Type.Literal("assistant"), generation: GenerationSchema }),
  closed({ kind: Type.Literal("tools"), batch: ToolBatchSchema }),
  closed({
    kind: Type.Literal("compaction"),
    reason: Type.Enum(["threshold", "overflow"]),
    structural: StructuralDecisionSchema,
    resumeAfter: CheckpointPhaseSchema,
  }),
  closed({ kind: Type.Literal("deferred"), deferred: DeferredSchema }),
  closed({
    kind: Type.Literal("failure_drain"),
    error: OperationErrorSchema,
    provenance: FailureProvenanceSchema,
  }),
]);
export type RunPhase = Static<typeof RunPhaseSchema>;

/** Captured at acceptance; later setters affect later operations only. */
export const RunSettingsSchema = closed({
  compaction: CompactionSettingsSchema,
  steeringMode: QueueModeSchema,
  followUpMode: QueueModeSchema,
  toolExecution: ToolExecutionModeSchema,
});
export type RunSettings = Static<typeof RunSettingsSchema>;

/** A run: prompt, generations, tools, until nothing is owed. */
export const RunStateSchema = closed({
  kind: Type.Literal("run"),
  control: ControlSchema,
  settings: RunSettingsSchema,
  phase: RunPhaseSchema,
  inbox: InboxSchema,
  /** The newest durable assistant response of this operation. */
  latestAssistantEntryId: NullableId,
});
export type RunState = Static<typeof RunStateSchema>;

/** A compaction that the caller asked for. */
export const CompactionStateSchema = closed({
  kind: Type.Literal("compaction"),
  control: ControlSchema,
  customInstructions: Type.Optional(Type.String()),
  structural: StructuralDecisionSchema,
});
export type CompactionState = Static<typeof CompactionStateSchema>;

/** A move of the lane's leaf, with or without a summary of the branch that is left. */
export const NavigationStateSchema = Type.Union([
  closed({
    kind: Type.Literal("navigation"),
    summarize: Type.Literal(false),
    control: ControlSchema,
    targetId: NullableId,
    label: Type.Optional(Type.String()),
    phase: closed({ kind: Type.Literal("ready_to_commit") }),
  }),
  closed({
    kind: Type.Literal("navigation"),
    summarize: Type.Literal(true),
    control: ControlSchema,
    targetId: NonEmptyString,
    label: Type.Optional(Type.String()),
    customInstructions: Type.Optional(Type.String()),
    phase: closed({ kind: Type.Literal("summary"), structural: StructuralDecisionSchema }),
  }),
]);
export type NavigationState = Static<typeof NavigationStateSchema>;

export const OperationStateSchema = Type.Union([
  RunStateSchema,
  CompactionStateSchema,
  NavigationStateSchema,
]);
/** Everything that an open operation can be (spec §3.2). */
export type OperationState = RunState | CompactionState | NavigationState;
