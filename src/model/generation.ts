/**
 * The states of one request to a provider: assistant generation, summary generation, deferred polling (spec §3.2).
 *
 * Each follows the effect sandwich: `ready` plans, `effect_pending` is the durable intent that reserves the ids of
 * the settlement, and a settlement or `retry_wait` follows. Contexts carry everything that the attempt was
 * captured with, so that recovery never looks at today's settings.
 */
import { type Static, Type } from "typebox";
import { LaneConfigurationSchema } from "./lane.ts";
import { closed, IdList, NonEmptyString, SafeCount, SafeOrdinal } from "./schema.ts";
import { AgentHarnessStreamOptionsSchema, NormalizedRetryPolicySchema } from "./settings.ts";

/** What one generation step captured at its start. */
export const GenerationContextSchema = closed({
  stepId: NonEmptyString,
  triggerEntryId: NonEmptyString,
  configuration: LaneConfigurationSchema,
  streamOptions: AgentHarnessStreamOptionsSchema,
  retryPolicy: NormalizedRetryPolicySchema,
  /** Copied from the producing checkpoint, so that a settlement after a crash knows it too. */
  overflowRecoveryUsed: Type.Boolean(),
});
export type GenerationContext = Static<typeof GenerationContextSchema>;

/** Assistant generation; attempts count from 1, `notBefore` in Unix ms, the two limits in tokens. */
export const GenerationSchema = Type.Union([
  closed({ status: Type.Literal("ready"), context: GenerationContextSchema, nextAttempt: SafeOrdinal }),
  closed({
    status: Type.Literal("effect_pending"),
    context: GenerationContextSchema,
    attempt: SafeOrdinal,
    responseEntryId: NonEmptyString,
    usageId: NonEmptyString,
    intendedOutputLimit: SafeCount,
    contextWindow: SafeCount,
  }),
  closed({
    status: Type.Literal("retry_wait"),
    context: GenerationContextSchema,
    nextAttempt: SafeOrdinal,
    notBefore: SafeCount,
    errorMessage: Type.String(),
  }),
]);
export type Generation = Static<typeof GenerationSchema>;

const deferredProperties = {
  stepId: NonEmptyString,
  /** The entry whose handle is polled. */
  sourceEntryId: NonEmptyString,
  configuration: LaneConfigurationSchema,
  streamOptions: AgentHarnessStreamOptionsSchema,
};

/** A provider job that answers later. Suspended, `poll` counts finished polls; pending, it is the one in flight. */
export const DeferredSchema = Type.Union([
  closed({ status: Type.Literal("suspended"), poll: SafeCount, ...deferredProperties }),
  closed({
    status: Type.Literal("effect_pending"),
    poll: SafeOrdinal,
    responseEntryId: NonEmptyString,
    usageId: NonEmptyString,
    ...deferredProperties,
  }),
]);
export type Deferred = Static<typeof DeferredSchema>;

/** What one summary generation captured at its start. */
export const SummaryContextSchema = closed({
  taskId: NonEmptyString,
  resultEntryId: NonEmptyString,
  kind: Type.Enum(["compaction", "branch_summary"]),
  configuration: LaneConfigurationSchema,
  streamOptions: AgentHarnessStreamOptionsSchema,
  retryPolicy: NormalizedRetryPolicySchema,
  reason: Type.Optional(Type.Enum(["manual", "threshold", "overflow"])),
});
export type SummaryContext = Static<typeof SummaryContextSchema>;

/** Summary generation; one attempt makes one or two nested requests, each with its own intent in `request`. */
export const SummaryGenerationSchema = Type.Union([
  closed({ status: Type.Literal("ready"), context: SummaryContextSchema, nextAttempt: SafeOrdinal }),
  closed({
    status: Type.Literal("effect_pending"),
    context: SummaryContextSchema,
    attempt: SafeOrdinal,
    request: Type.Optional(closed({ index: SafeCount, usageId: NonEmptyString })),
    usageIds: IdList,
  }),
  closed({
    status: Type.Literal("retry_wait"),
    context: SummaryContextSchema,
    nextAttempt: SafeOrdinal,
    notBefore: SafeCount,
    errorMessage: Type.String(),
  }),
]);
export type SummaryGeneration = Static<typeof SummaryGenerationSchema>;

/** Structural work: the hook decides first, then a summary is generated. The preparation is found by `taskId`. */
export const StructuralDecisionSchema = Type.Union([
  closed({ taskId: NonEmptyString, status: Type.Literal("deciding") }),
  closed({
    taskId: NonEmptyString,
    status: Type.Literal("generating"),
    generation: SummaryGenerationSchema,
  }),
]);
export type StructuralDecision = Static<typeof StructuralDecisionSchema>;
