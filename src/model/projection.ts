/**
 * The projected form of single entries and messages (spec §2.5): what of them stands in a context. `session` projects
 * whole branches with it, `operation` prepares structural work.
 */
import type { BranchSummaryEntry, CompactionEntry } from "./entry.ts";
import type { AgentMessage, BranchSummaryMessage, CompactionSummaryMessage } from "./message.ts";

/** Whether a message may stand in a context: every one but a response without an answer in it. */
export function isInContext(message: AgentMessage): boolean {
  if (message.role !== "assistant") return true;
  const { stopReason } = message;
  return stopReason !== "error" && stopReason !== "aborted" && stopReason !== "deferred";
}

/** The summary of a compaction; it carries the time of its commit. */
export function compactionSummaryOf({
  summary,
  tokensBefore,
  timestamp,
}: CompactionEntry): CompactionSummaryMessage {
  return { role: "compactionSummary", summary, tokensBefore, timestamp };
}

/** The summary of a branch that was left. An empty one stands in no context. */
export function branchSummaryOf({ summary, fromId, timestamp }: BranchSummaryEntry): BranchSummaryMessage {
  return { role: "branchSummary", summary, fromId, timestamp };
}
