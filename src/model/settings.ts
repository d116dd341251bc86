/**
 * Settings: what a harness is configured with, and what an operation captures of it (spec §0.7, §5.2).
 *
 * All of these are durable, in a register or inside an operation state, so all are JSON-safe: there is no signal,
 * no callback and no credential among the stream options.
 */
import { type Static, Type } from "typebox";
import { JsonObjectSchema } from "./json.ts";
import { closed, SafeCount, SafeOrdinal } from "./schema.ts";

/** How many queued inputs one checkpoint consumes. */
export const QueueModeSchema = Type.Enum(["all", "one-at-a-time"]);
export type QueueMode = Static<typeof QueueModeSchema>;
export const DEFAULT_QUEUE_MODE: QueueMode = "one-at-a-time";

/** Whether the calls of one batch run one after another. */
export const ToolExecutionModeSchema = Type.Enum(["sequential", "parallel"]);
export type ToolExecutionMode = Static<typeof ToolExecutionModeSchema>;
export const DEFAULT_TOOL_EXECUTION_MODE: ToolExecutionMode = "parallel";

/** The public retry policy. `maxRetries` + 1 must still be a safe integer. */
export const RetryPolicySchema = closed({
  enabled: Type.Boolean(),
  maxRetries: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER - 1 }),
  baseDelayMs: SafeCount,
});
export type RetryPolicy = Static<typeof RetryPolicySchema>;
export const DEFAULT_RETRY_POLICY: Readonly<RetryPolicy> = Object.freeze({
  enabled: false,
  maxRetries: 0,
  baseDelayMs: 1000,
});

/** The retry policy as an operation state stores it: attempts instead of retries. */
export const NormalizedRetryPolicySchema = closed({ maxAttempts: SafeOrdinal, baseDelayMs: SafeCount });
export type NormalizedRetryPolicy = Static<typeof NormalizedRetryPolicySchema>;

/** The stored form of a policy; a disabled policy allows one attempt (spec §0.7). */
export function normalizeRetryPolicy(policy: RetryPolicy): NormalizedRetryPolicy {
  return { maxAttempts: policy.enabled ? policy.maxRetries + 1 : 1, baseDelayMs: policy.baseDelayMs };
}

/** When and how far a context is compacted; both counts are tokens. */
export const CompactionSettingsSchema = closed({
  enabled: Type.Boolean(),
  reserveTokens: SafeCount,
  keepRecentTokens: SafeCount,
});
export type CompactionSettings = Static<typeof CompactionSettingsSchema>;
export const DEFAULT_COMPACTION_SETTINGS: Readonly<CompactionSettings> = Object.freeze({
  enabled: true,
  reserveTokens: 16384,
  keepRecentTokens: 20000,
});

/** Whether the provider may answer later, and within which window. */
export const DeferredOptionSchema = Type.Union([
  Type.Boolean(),
  closed({ window: Type.Optional(Type.Enum(["15m", "1h", "24h"])) }),
]);
export type DeferredOption = Static<typeof DeferredOptionSchema>;

/**
 * Any key, every value a string. Not `Type.Record`, whose key pattern skips the value of a key with a line break.
 */
const StringMapSchema = Type.Unsafe<Record<string, string>>(
  Type.Object({}, { additionalProperties: Type.String() }),
);

/** The curated, JSON-safe options of a provider request; every one is optional (spec §0.7, §5.2). */
export const AgentHarnessStreamOptionsSchema = closed({
  transport: Type.Optional(Type.Enum(["sse", "websocket", "websocket-cached", "auto"])),
  timeoutMs: Type.Optional(Type.Number({ minimum: 0 })),
  maxRetries: Type.Optional(Type.Number({ minimum: 0 })),
  /** 0 means no cap. */
  maxRetryDelayMs: Type.Optional(Type.Number({ minimum: 0 })),
  headers: Type.Optional(StringMapSchema),
  metadata: Type.Optional(JsonObjectSchema),
  cacheRetention: Type.Optional(Type.Enum(["none", "short", "long"])),
  deferred: Type.Optional(DeferredOptionSchema),
});
export type AgentHarnessStreamOptions = Static<typeof AgentHarnessStreamOptionsSchema>;

/**
 * A change of stream options, judged by own-property presence: absent leaves a key alone, present replaces it,
 * `undefined` removes it. In `headers` and `metadata` an `undefined` value removes its key.
 */
export type AgentHarnessStreamOptionsPatch = {
  [Key in Exclude<keyof AgentHarnessStreamOptions, "headers" | "metadata">]?:
    | AgentHarnessStreamOptions[Key]
    | undefined;
} & {
  headers?: Record<string, string | undefined> | undefined;
  metadata?: Record<string, unknown> | undefined;
};
