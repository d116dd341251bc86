/**
 * Lanes: named cursors into the tree, each with a configuration, queues and at most one operation.
 * The four registers of a lane are `lane.leaf`, `lane.config`, `lane.state` and, once an operation has ended,
 * `lane.lastResult` (spec §2.3, §3.3, §3.13).
 */
import { type Static, Type } from "typebox";
import { OperationErrorSchema } from "./operation.ts";
import { closed, IdList, NonEmptyString, NullableId } from "./schema.ts";

const THINKING_LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export const ThinkingLevelSchema = Type.Enum([...THINKING_LEVELS]);
export type ThinkingLevel = Static<typeof ThinkingLevelSchema>;
export const DEFAULT_THINKING_LEVEL: ThinkingLevel = "off";

/** The durable identity of a model; `modelId` is the `id` of the registry's model. */
export const ModelIdentitySchema = closed({ provider: NonEmptyString, modelId: NonEmptyString });
export type ModelIdentity = Static<typeof ModelIdentitySchema>;

/** A lane's complete configuration; a setter overwrites the whole, never a part (spec §2.3). */
export const LaneConfigurationSchema = closed({
  model: ModelIdentitySchema,
  thinkingLevel: ThinkingLevelSchema,
  activeToolNames: Type.Array(Type.String()),
});
export type LaneConfiguration = Static<typeof LaneConfigurationSchema>;

/** Which operation a lane runs, and the reserved entry ids that wait for its next run (spec §3.3). */
export const LaneStateSchema = closed({ currentOperationId: NullableId, pendingNextRun: IdList });
export type LaneState = Static<typeof LaneStateSchema>;

/** The state of a lane that runs nothing and has nothing queued. */
export function idleLaneState(): LaneState {
  return { currentOperationId: null, pendingNextRun: [] };
}

const lastResultProperties = {
  operationId: NonEmptyString,
  kind: Type.Enum(["run", "compaction", "navigation"]),
  leafId: NullableId,
  /** The newest settled assistant entry, when the outcome includes one (runs only). */
  finalAssistantEntryId: Type.Optional(NonEmptyString),
};
const Absent = Type.Optional(Type.Never());

/** How the lane's latest operation ended; written by terminal transactions only, never read by recovery (spec §3.13). */
export const LaneLastResultSchema = Type.Union([
  closed({
    ...lastResultProperties,
    outcome: Type.Literal("failed"),
    error: OperationErrorSchema,
    runCompletion: Absent,
  }),
  closed({
    ...lastResultProperties,
    outcome: Type.Literal("completed"),
    error: Absent,
    runCompletion: Type.Optional(Type.Enum(["assistant", "terminated_tools"])),
  }),
  closed({
    ...lastResultProperties,
    outcome: Type.Literal("declined"),
    error: Absent,
    runCompletion: Absent,
  }),
  closed({ ...lastResultProperties, outcome: Type.Literal("aborted"), error: Absent, runCompletion: Absent }),
]);
export type LaneLastResult = Static<typeof LaneLastResultSchema>;
