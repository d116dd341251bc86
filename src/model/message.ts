/**
 * Messages: the three provider roles, the four roles of the harness, and the door for an application's own.
 *
 * Terms:
 * - `Message`: what a provider understands: `user`, `assistant`, `toolResult`.
 * - `AgentMessage`: what the conversation tree holds: a `Message`, or a member of `CustomAgentMessages`.
 * - settled: an assistant message whose stop reason is not `pending`; only settled ones are stored (spec §2.1).
 *
 * Blocks and messages are open objects: unknown keys pass through untouched. A `deferred` assistant message must
 * carry its handle, because the handle is the only way back to the job.
 */
import { type Static, type TSchema, Type } from "typebox";
import { JsonObjectSchema, JsonValueSchema } from "./json.ts";
import { UsageSchema } from "./usage.ts";

/** Text; `textSignature` is an opaque provider token that must return untouched. */
export const TextContentSchema = Type.Object({
  type: Type.Literal("text"),
  text: Type.String(),
  textSignature: Type.Optional(Type.String()),
});
export type TextContent = Static<typeof TextContentSchema>;

/** Reasoning; when `redacted`, the text is withheld and its encrypted form stands in the signature. */
export const ThinkingContentSchema = Type.Object({
  type: Type.Literal("thinking"),
  thinking: Type.String(),
  thinkingSignature: Type.Optional(Type.String()),
  redacted: Type.Optional(Type.Boolean()),
});
export type ThinkingContent = Static<typeof ThinkingContentSchema>;

/** An inline image, `data` in base64. */
export const ImageContentSchema = Type.Object({
  type: Type.Literal("image"),
  data: Type.String(),
  mimeType: Type.String(),
});
export type ImageContent = Static<typeof ImageContentSchema>;

/** A tool call as the provider asked for it; `arguments` are not yet prepared or validated. */
export const ToolCallContentSchema = Type.Object({
  type: Type.Literal("toolCall"),
  id: Type.String(),
  name: Type.String(),
  arguments: JsonObjectSchema,
  thoughtSignature: Type.Optional(Type.String()),
  namespace: Type.Optional(Type.String()),
});
export type ToolCallContent = Static<typeof ToolCallContentSchema>;

const TextOrImageList = Type.Array(Type.Union([TextContentSchema, ImageContentSchema]));
const UserContentSchema = Type.Union([Type.String(), TextOrImageList]);
/** Unix milliseconds; messages of old files may hold fractions. */
const MessageTimestamp = Type.Number();

export const UserMessageSchema = Type.Object({
  role: Type.Literal("user"),
  content: UserContentSchema,
  timestamp: MessageTimestamp,
});
export type UserMessage = Static<typeof UserMessageSchema>;

/** A provider job that answers later; two handles are the same when they are deeply equal (spec §3.2). */
export const DeferredHandleSchema = Type.Object({
  provider: Type.String(),
  modelId: Type.String(),
  api: Type.String(),
  id: Type.String(),
  expiresAt: Type.Optional(Type.Number()),
  pollAfterMs: Type.Optional(Type.Number()),
  data: Type.Optional(JsonValueSchema),
});
export type DeferredHandle = Static<typeof DeferredHandleSchema>;

/** Every stop reason; `pending` exists only in streaming partials and is never stored. */
const STOP_REASONS = ["pending", "stop", "length", "toolUse", "error", "aborted", "deferred"] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** A provider's note on how a response came about; debug only. */
export const AssistantDiagnosticSchema = Type.Object({
  type: Type.String(),
  timestamp: Type.Number(),
  error: Type.Optional(JsonValueSchema),
  details: Type.Optional(JsonValueSchema),
});
export type AssistantDiagnostic = Static<typeof AssistantDiagnosticSchema>;

const assistantProperties = {
  role: Type.Literal("assistant"),
  content: Type.Array(Type.Union([TextContentSchema, ThinkingContentSchema, ToolCallContentSchema])),
  api: Type.String(),
  provider: Type.String(),
  /** The model id that was asked for; `responseModel` is the one that answered. */
  model: Type.String(),
  responseModel: Type.Optional(Type.String()),
  responseId: Type.Optional(Type.String()),
  diagnostics: Type.Optional(Type.Array(AssistantDiagnosticSchema)),
  usage: UsageSchema,
  errorMessage: Type.Optional(Type.String()),
  rawStopReason: Type.Optional(Type.String()),
  endTurn: Type.Optional(Type.Boolean()),
  timestamp: MessageTimestamp,
};

/** An assistant message, a streaming partial included. */
export const AssistantMessageSchema = Type.Object({
  ...assistantProperties,
  stopReason: Type.Enum([...STOP_REASONS]),
  deferred: Type.Optional(DeferredHandleSchema),
});
export type AssistantMessage = Static<typeof AssistantMessageSchema>;

/** An assistant message that may be stored (spec §0.7): any stop reason but `pending`. */
export type SettledAssistantMessage = AssistantMessage & { stopReason: Exclude<StopReason, "pending"> };

/** The settled form, as two branches: with `deferred` the handle is required. */
export const SettledAssistantMessageSchema = Type.Unsafe<SettledAssistantMessage>(
  Type.Union([
    Type.Object({
      stopReason: Type.Enum(["stop", "length", "toolUse", "error", "aborted"]),
      ...assistantProperties,
      deferred: Type.Optional(DeferredHandleSchema),
    }),
    Type.Object({
      stopReason: Type.Literal("deferred"),
      ...assistantProperties,
      deferred: DeferredHandleSchema,
    }),
  ]),
);

/** A tool's answer to one call. `terminate` is orchestration and lives on the entry, not here (spec §2.1). */
export const ToolResultMessageSchema = Type.Object({
  role: Type.Literal("toolResult"),
  toolCallId: Type.String(),
  toolName: Type.String(),
  content: TextOrImageList,
  details: Type.Optional(JsonValueSchema),
  /** The tool's own cost; never part of context accounting. */
  usage: Type.Optional(UsageSchema),
  addedToolNames: Type.Optional(Type.Array(Type.String())),
  isError: Type.Boolean(),
  timestamp: MessageTimestamp,
});
export type ToolResultMessage = Static<typeof ToolResultMessageSchema>;

/** A shell command that the user ran beside the conversation. `exitCode` is absent while unknown. */
export const BashExecutionMessageSchema = Type.Object({
  role: Type.Literal("bashExecution"),
  command: Type.String(),
  output: Type.String(),
  exitCode: Type.Optional(Type.Number()),
  cancelled: Type.Boolean(),
  truncated: Type.Boolean(),
  fullOutputPath: Type.Optional(Type.String()),
  excludeFromContext: Type.Optional(Type.Boolean()),
  timestamp: MessageTimestamp,
});
export type BashExecutionMessage = Static<typeof BashExecutionMessageSchema>;

/** A message that an extension put into the context; `display` says whether a user interface shows it. */
export const CustomMessageSchema = Type.Object({
  role: Type.Literal("custom"),
  customType: Type.String(),
  content: UserContentSchema,
  display: Type.Boolean(),
  details: Type.Optional(JsonValueSchema),
  timestamp: MessageTimestamp,
});
export type CustomMessage = Static<typeof CustomMessageSchema>;

/** The projected form of a `branch_summary` entry. */
export const BranchSummaryMessageSchema = Type.Object({
  role: Type.Literal("branchSummary"),
  summary: Type.String(),
  fromId: Type.String(),
  timestamp: MessageTimestamp,
});
export type BranchSummaryMessage = Static<typeof BranchSummaryMessageSchema>;

/** The projected form of a `compaction` entry. */
export const CompactionSummaryMessageSchema = Type.Object({
  role: Type.Literal("compactionSummary"),
  summary: Type.String(),
  tokensBefore: Type.Number(),
  timestamp: MessageTimestamp,
});
export type CompactionSummaryMessage = Static<typeof CompactionSummaryMessageSchema>;

/**
 * Every role that is not a provider's, by role. An application adds its own by declaration merging, and registers
 * a schema under the same role with its session (spec §2.8); each member must have that string as its `role`.
 */
export interface CustomAgentMessages {
  bashExecution: BashExecutionMessage;
  custom: CustomMessage;
  branchSummary: BranchSummaryMessage;
  compactionSummary: CompactionSummaryMessage;
}

/** A message of a provider role. */
export type Message = UserMessage | AssistantMessage | ToolResultMessage;
/** A message of any role: what entries, pending entries and preparations hold. */
export type AgentMessage = Message | CustomAgentMessages[keyof CustomAgentMessages];

/** Schemas of an application's own roles, keyed by `role` (spec §2.8). */
export type CustomMessageSchemas = Readonly<Record<string, TSchema>>;

/** No roles but the built-in ones. */
export const NO_CUSTOM_SCHEMAS: CustomMessageSchemas = Object.freeze({});

/** The roles that need no registration, each with the schema that a stored message of it must satisfy. */
export const BUILT_IN_MESSAGE_SCHEMAS = {
  user: UserMessageSchema,
  assistant: SettledAssistantMessageSchema,
  toolResult: ToolResultMessageSchema,
  bashExecution: BashExecutionMessageSchema,
  custom: CustomMessageSchema,
  branchSummary: BranchSummaryMessageSchema,
  compactionSummary: CompactionSummaryMessageSchema,
} as const;

/**
 * The place of a message inside another schema. It checks only that an object with a role stands there, since
 * the roles differ from session to session; `validate.ts` checks every such place by its role.
 */
export const AgentMessageSlotSchema = Type.Unsafe<AgentMessage>(Type.Object({ role: Type.String() }));
