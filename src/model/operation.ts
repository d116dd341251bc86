/**
 * An operation: one accepted unit of work on a lane. `op.meta` holds it, written once at acceptance and deleted by
 * the terminal transaction (spec §3.1).
 */
import { type Static, Type } from "typebox";
import { JsonObjectSchema, JsonValueSchema } from "./json.ts";
import { closed, IdList, NonEmptyString, NullableId, SafeCount } from "./schema.ts";

/** Why an operation failed, as it is stored (spec §3.2). */
export const OperationErrorSchema = closed({
  code: NonEmptyString,
  message: Type.String(),
  details: Type.Optional(JsonValueSchema),
});
export type OperationError = Static<typeof OperationErrorSchema>;

/** What was asked for; `promptEntryIds` are the caller's own messages, placed by the acceptance transaction. */
export const OperationIntentSchema = Type.Union([
  closed({
    kind: Type.Literal("run"),
    promptEntryIds: IdList,
    systemPromptOverride: Type.Optional(Type.String()),
    /** What each `before_run` hook wants back after a crash, by hook id. */
    resumeData: Type.Optional(JsonObjectSchema),
  }),
  closed({ kind: Type.Literal("compaction"), customInstructions: Type.Optional(Type.String()) }),
  closed({
    kind: Type.Literal("navigation"),
    targetId: NullableId,
    summarize: Type.Boolean(),
    label: Type.Optional(Type.String()),
    customInstructions: Type.Optional(Type.String()),
  }),
]);
export type OperationIntent = Static<typeof OperationIntentSchema>;

/** The accepted operation; `sourceLeafId` is the lane's leaf before it did anything, `startedAt` in Unix ms. */
export const OperationSchema = closed({
  operationId: NonEmptyString,
  lane: NonEmptyString,
  sourceLeafId: NullableId,
  startedAt: SafeCount,
  intent: OperationIntentSchema,
});
export type Operation = Static<typeof OperationSchema>;
export type OperationKind = OperationIntent["kind"];
