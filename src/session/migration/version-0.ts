/**
 * The register shapes of storage version 0, as far as they differ from today's.
 *
 * Version 0 was written before the first release. It kept no replay declaration and no retry delay with an
 * operation, put the arguments of a started tool call into the operation state, and held what a compaction inside a
 * run was to summarize in memory only.
 *
 * `lane.leaf`, `op.preparation` and the facts had the shapes that they have today.
 */
import { type Static, type TProperties, type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import {
  AgentMessageSlotSchema,
  InboxSchema,
  JsonObjectSchema,
  JsonValueSchema,
  RunSettingsSchema,
} from "../../model/index.ts";

const Id = Type.String({ minLength: 1 });
const NullableId = Type.Union([Id, Type.Null()]);
const Ids = Type.Array(Id);
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Ordinal = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

function closed<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false });
}

export const LaneConfiguration0 = closed({
  provider: Id,
  modelId: Id,
  /** `none` is today's `off`. */
  thinkingLevel: Type.Enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]),
  tools: Type.Array(Type.String()),
});

export const LaneState0 = closed({ operation: NullableId, nextRun: Ids });

export const LastResult0 = closed({
  operation: Id,
  kind: Type.Enum(["run", "compaction", "navigation"]),
  leaf: NullableId,
  outcome: Type.Enum(["completed", "declined", "aborted", "failed"]),
  /** With `failed`. */
  message: Type.Optional(Type.String()),
  assistant: Type.Optional(Id),
});

export const PendingEntry0 = Type.Union([
  closed({ message: AgentMessageSlotSchema }),
  closed({ custom: Id, data: Type.Optional(JsonValueSchema) }),
]);

export const Operation0 = closed({
  operation: Id,
  lane: Id,
  leaf: NullableId,
  startedAt: Count,
  intent: Type.Union([
    closed({ kind: Type.Literal("run"), prompts: Ids }),
    closed({ kind: Type.Literal("compaction"), instructions: Type.Optional(Type.String()) }),
    closed({
      kind: Type.Literal("navigation"),
      target: NullableId,
      summarize: Type.Boolean(),
      label: Type.Optional(Type.String()),
    }),
  ]),
});

const Cancelled0 = Type.Union([Type.Null(), closed({ at: Count, steer: Ids, followUp: Ids })]);

const request = {
  step: Id,
  trigger: Id,
  configuration: LaneConfiguration0,
  attempt: Ordinal,
  maxAttempts: Ordinal,
};

export const ToolCall0 = Type.Union([
  closed({ status: Type.Literal("waiting"), result: Id }),
  closed({ status: Type.Literal("started"), result: Id, arguments: JsonObjectSchema }),
  closed({ status: Type.Literal("done"), result: Id, terminate: Type.Boolean() }),
]);

export const Phase0 = Type.Union([
  closed({
    kind: Type.Literal("checkpoint"),
    trigger: Id,
    next: Type.Enum(["assistant", "finish"]),
    overflowed: Type.Boolean(),
  }),
  closed({
    kind: Type.Literal("request"),
    ...request,
    /** The intent; null until it is committed. Limits in tokens. */
    sent: Type.Union([
      Type.Null(),
      closed({ response: Id, usage: Id, outputLimit: Count, contextWindow: Count }),
    ]),
  }),
  /** `until` in Unix ms. */
  closed({ kind: Type.Literal("backoff"), ...request, until: Count, message: Type.String() }),
  closed({
    kind: Type.Literal("tools"),
    assistant: Id,
    step: Id,
    configuration: LaneConfiguration0,
    calls: Type.Array(ToolCall0),
  }),
  /** Summarizing inside a run; what was to be summarized was in memory only. */
  closed({ kind: Type.Literal("compacting"), trigger: Id }),
  closed({ kind: Type.Literal("draining"), code: Id, message: Type.String(), response: Id }),
]);

export const State0 = Type.Union([
  closed({
    kind: Type.Literal("run"),
    cancelled: Cancelled0,
    settings: RunSettingsSchema,
    inbox: InboxSchema,
    latest: NullableId,
    phase: Phase0,
  }),
  closed({
    kind: Type.Literal("compaction"),
    cancelled: Cancelled0,
    task: Id,
    instructions: Type.Optional(Type.String()),
    /** A summary request was sent; its ids were not kept. */
    generating: Type.Boolean(),
  }),
  closed({
    kind: Type.Literal("navigation"),
    cancelled: Cancelled0,
    target: NullableId,
    label: Type.Optional(Type.String()),
    /** With a summary: its task, whose preparation is stored. */
    task: Type.Optional(Id),
  }),
]);

export type LaneConfiguration0 = Static<typeof LaneConfiguration0>;
export type LaneState0 = Static<typeof LaneState0>;
export type LastResult0 = Static<typeof LastResult0>;
export type PendingEntry0 = Static<typeof PendingEntry0>;
export type Operation0 = Static<typeof Operation0>;
export type Cancelled0 = Static<typeof Cancelled0>;
export type ToolCall0 = Static<typeof ToolCall0>;
export type Phase0 = Static<typeof Phase0>;
export type State0 = Static<typeof State0>;

/** Whether a value has a shape of version 0. Compiled at the first question: few processes ever ask. */
export function isShaped<Schema extends TSchema>(schema: Schema, value: unknown): value is Static<Schema> {
  let check = checks.get(schema);
  if (check === undefined) {
    const validator = Compile(schema);
    check = (each) => validator.Check(each);
    checks.set(schema, check);
  }
  return check(value);
}

const checks = new Map<TSchema, (value: unknown) => boolean>();
