/**
 * The durable input of structural work: what a compaction or a branch summary is made from (spec §1.3, §3.9).
 * `op.preparation/{operationId}:{taskId}` holds it, written once before the decision hook runs and never rebuilt,
 * so that the provider sees exactly what the hook approved.
 */
import { type Static, Type } from "typebox";
import { AgentMessageSlotSchema } from "./message.ts";
import { closed, SafeCount } from "./schema.ts";
import { CompactionSettingsSchema } from "./settings.ts";

/** Paths that the summarized messages touched; sorted arrays, because sets are not JSON. */
export const DurableFileOperationsSchema = closed({
  read: Type.Array(Type.String()),
  written: Type.Array(Type.String()),
  edited: Type.Array(Type.String()),
});
export type DurableFileOperations = Static<typeof DurableFileOperationsSchema>;

const Messages = Type.Array(AgentMessageSlotSchema);

export const DurableStructuralPreparationSchema = Type.Union([
  closed({
    kind: Type.Literal("compaction"),
    messagesToSummarize: Messages,
    turnPrefixMessages: Messages,
    retainedTail: Messages,
    isSplitTurn: Type.Boolean(),
    tokensBefore: SafeCount,
    previousSummary: Type.Optional(Type.String()),
    fileOps: DurableFileOperationsSchema,
    settings: CompactionSettingsSchema,
  }),
  closed({
    kind: Type.Literal("branch_summary"),
    messages: Messages,
    fileOps: DurableFileOperationsSchema,
    totalTokens: SafeCount,
  }),
]);
/** Token counts are estimates of the preparation algorithm, whole tokens. */
export type DurableStructuralPreparation = Static<typeof DurableStructuralPreparationSchema>;
