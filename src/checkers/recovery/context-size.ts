/**
 * Whether a context is to be compacted (compaction §1, §2): a second reading, for conversations whose messages have the
 * roles of scenarios. A text that is the runtime's own counts nothing here, so scenarios keep clear of the threshold.
 */
import { MODEL_LIMITS, type ScenarioSettings } from "../../faults/index.ts";
import { DEFAULT_COMPACTION_SETTINGS } from "../../model/index.ts";
import type { ParsedMessage } from "./parsed-view.ts";

/** Whether the messages of a context are more than a request may hold. */
export function isTooLarge(context: readonly ParsedMessage[], settings: ScenarioSettings): boolean {
  const { enabled, reserveTokens } = settings.compaction ?? DEFAULT_COMPACTION_SETTINGS;
  const window = settings.contextWindow ?? MODEL_LIMITS.contextWindow;
  return enabled && window > 0 && tokensOf(context) > window - reserveTokens;
}

/** The usage of the newest response that is as young as all before it, and a quarter token a character after it. */
function tokensOf(context: readonly ParsedMessage[]): number {
  const newest = context.findLastIndex(({ role, usage, timestamp }, index) => {
    const isReported = role === "assistant" && (usage?.totalTokens ?? 0) > 0;
    return isReported && context.slice(0, index).every((before) => before.timestamp <= timestamp);
  });
  const reported = context[newest]?.usage?.totalTokens ?? 0;
  return context
    .slice(newest + 1)
    .reduce((sum, message) => sum + Math.ceil(charactersOf(message) / 4), reported);
}

function charactersOf({ content, summary }: ParsedMessage): number {
  if (summary !== undefined) return summary.length;
  if (typeof content === "string") return content.length;
  if (!Array.isArray(content)) return 0;
  return content.reduce((sum: number, block) => sum + charactersOfBlock(block), 0);
}

function charactersOfBlock(block: { text?: unknown; name?: unknown; arguments?: unknown }): number {
  if (typeof block.name === "string") return block.name.length + JSON.stringify(block.arguments).length;
  return typeof block.text === "string" ? block.text.length : 0;
}
