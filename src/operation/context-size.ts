/**
 * How large a context is, in tokens, and whether that calls for compaction (compaction §1, §2).
 *
 * An estimate: the newest usage that a provider reported, plus a quarter of a token per character of what came after
 * it. A reported usage already covers the system prompt and the tools; without one, only messages are counted.
 *
 * Stale usage. Responses that a compaction copied forward keep the usage of the large context that they came from.
 * A usage counts only if its message is at least as young as every message before it; the summary that leads a
 * compacted context carries the time of the compaction, so older retained responses lose.
 */
import type { AgentMessage, AssistantMessage, CompactionSettings, Usage } from "../model/index.ts";

/** Tokens that the context holds, by estimate. */
export function estimateContextTokens(messages: readonly AgentMessage[]): number {
  let newestMs = Number.NEGATIVE_INFINITY;
  let tokens = 0;
  for (const message of messages) {
    const isYoungest = message.timestamp >= newestMs;
    if (isYoungest) newestMs = message.timestamp;
    const reported = isYoungest ? reportedTokens(message) : 0;
    tokens = reported > 0 ? reported : tokens + estimateTokens(message);
  }
  return tokens;
}

/** Tokens of one message, by estimate. */
export function estimateTokens(message: AgentMessage): number {
  return Math.ceil(charactersOf(message) / 4);
}

/** Tokens of one response, by its provider. */
export function usageTokens(usage: Usage): number {
  return usage.totalTokens !== 0
    ? usage.totalTokens
    : usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
}

/** A count of tokens as a register can hold it: providers' figures are numbers of any kind, and none of them counts as 0. */
export function wholeTokens(tokens: number): number {
  return Number.isNaN(tokens) ? 0 : Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.ceil(tokens)));
}

/** Whether a context of this size is to be compacted before the next request; a window of 0 is an unknown one. */
export function shouldCompact(tokens: number, contextWindow: number, settings: CompactionSettings): boolean {
  return settings.enabled && contextWindow > 0 && tokens > contextWindow - settings.reserveTokens;
}

/** An image, wherever it stands, counts like this many characters. */
const IMAGE_CHARACTERS = 4800;

function reportedTokens(message: AgentMessage): number {
  if (message.role !== "assistant") return 0;
  const { stopReason, usage } = message;
  return stopReason === "error" || stopReason === "aborted" ? 0 : usageTokens(usage);
}

function charactersOf(message: AgentMessage): number {
  switch (message.role) {
    case "user":
    case "toolResult":
    case "custom":
      return typeof message.content === "string"
        ? message.content.length
        : message.content.reduce(
            (sum, block) => sum + (block.type === "text" ? block.text.length : IMAGE_CHARACTERS),
            0,
          );
    case "assistant":
      return message.content.reduce((sum, block) => sum + charactersOfBlock(block), 0);
    case "bashExecution":
      return message.command.length + message.output.length;
    case "branchSummary":
    case "compactionSummary":
      return message.summary.length;
    default:
      return 0;
  }
}

function charactersOfBlock(block: AssistantMessage["content"][number]): number {
  switch (block.type) {
    case "text":
      return block.text.length;
    case "thinking":
      return block.thinking.length;
    case "toolCall":
      return block.name.length + JSON.stringify(block.arguments).length;
  }
}
