/**
 * Messages of legacy entries, repaired where old programs are known to have written them otherwise, and the messages
 * that other entries become inside the retained tail of a compaction.
 *
 * The repairs: content `null` is an empty list; usage without a total gets the sum of its four counts, and missing
 * costs are 0; the role `hookMessage` is `custom`; a settled message that says `pending` ended in an error; an exit
 * code `null` is an unknown one. Unknown keys of messages and blocks stay.
 *
 * What is still invalid afterwards is not touched here; the caller holds every entry against its schema.
 */
import { isRecord } from "../../foundation/index.ts";
import type { AgentMessage } from "../../model/index.ts";
import type { LegacyNode } from "./nodes.ts";
import type { JsonRecord } from "./values.ts";

/** A message with the known repairs. Not yet held against a schema. */
export function repairedMessage(message: unknown): unknown {
  if (!isRecord(message)) return message;
  const repaired: Record<string, unknown> = { ...message };
  if (repaired.role === "hookMessage") repaired.role = "custom";
  if (repaired.content === null) repaired.content = [];
  if (repaired.usage !== undefined) repaired.usage = repairedUsage(repaired.usage);
  if (repaired.role === "assistant" && repaired.stopReason === "pending") repaired.stopReason = "error";
  if (repaired.role === "bashExecution" && repaired.exitCode === null) delete repaired.exitCode;
  return repaired;
}

/** Usage with the known repairs. */
export function repairedUsage(usage: unknown): unknown {
  if (!isRecord(usage)) return usage;
  const cost = isRecord(usage.cost) ? usage.cost : {};
  const repaired: Record<string, unknown> = { ...usage, cost: withZeros(cost, COST_AMOUNTS) };
  repaired.totalTokens ??= TOKEN_COUNTS.reduce((sum, name) => sum + amountOf(usage[name]), 0);
  return repaired;
}

/** The message of a `custom_message` entry at this time, Unix ms. */
export function customMessageOf({ record }: LegacyNode, timestamp: number): JsonRecord {
  const { customType, content, display, details } = record;
  return {
    role: "custom",
    customType,
    content: content === null ? [] : content,
    display,
    ...(details === undefined ? {} : { details }),
    timestamp,
  };
}

/** What the messages of a tail need of the rest of the session. */
export interface TailContext {
  /** The time of an entry, Unix ms. */
  timeOf(node: LegacyNode): number;
  /** A `fromId`, as the new ids have it. */
  remapped(fromId: unknown): unknown;
}

/** The message that a node is in the context of a model, or undefined if it is none there. */
export function tailMessageOf(node: LegacyNode, context: TailContext): AgentMessage | undefined {
  const timestamp = context.timeOf(node);
  const { message, summary, tokensBefore, fromId } = node.record;
  switch (node.type) {
    case "message":
      return repairedMessage(message) as AgentMessage;
    case "custom_message":
      return customMessageOf(node, timestamp) as unknown as AgentMessage;
    case "branch_summary":
      if (summary === "") return undefined;
      return { role: "branchSummary", summary, fromId: context.remapped(fromId), timestamp } as AgentMessage;
    case "compaction":
      return { role: "compactionSummary", summary, tokensBefore, timestamp } as AgentMessage;
    default:
      return undefined;
  }
}

const TOKEN_COUNTS = ["input", "output", "cacheRead", "cacheWrite"] as const;
const COST_AMOUNTS = [...TOKEN_COUNTS, "total"] as const;

function withZeros(amounts: JsonRecord, names: readonly string[]): Record<string, unknown> {
  const filled: Record<string, unknown> = { ...amounts };
  for (const name of names) filled[name] ??= 0;
  return filled;
}

function amountOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
