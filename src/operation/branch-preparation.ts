/**
 * Branch preparation: which messages of a branch that is left go into its summary (compaction §5).
 *
 * The entries are those between the leaf that is left and the newest entry that both branches share. The newest come
 * first, until the budget of the model that summarizes is full; what is older is dropped, but a summary among it is
 * worth one overshoot. Results of tools are left out, because their calls say what was done and their texts are long.
 * A compaction counts by its summary; the messages that it kept stand before it on the same branch.
 */
import {
  type AgentMessage,
  branchSummaryOf,
  compactionSummaryOf,
  type DurableStructuralPreparation,
  type Entry,
  isInContext,
} from "../model/index.ts";
import { estimateTokens, wholeTokens } from "./context-size.ts";
import { FileOperations } from "./file-operations.ts";

export type BranchPreparation = Extract<DurableStructuralPreparation, { kind: "branch_summary" }>;

/** What a branch summary is prepared from. */
export interface BranchInput {
  /** The entries of the branch that is left, oldest first, without the newest shared one. */
  readonly entries: readonly Entry[];
  /** What the custom entries among them project to, by id; absent: nothing. */
  readonly projections: ReadonlyMap<string, readonly AgentMessage[]>;
  /** Tokens; 0 or absent: unknown. */
  readonly contextWindow?: number;
  readonly reserveTokens?: number;
}

/** Prepares the summary of a branch. It may have no messages: then there is nothing to summarize. */
export function prepareBranch(input: BranchInput): BranchPreparation {
  const files = new FileOperations();
  for (const entry of input.entries) {
    if (entry.type === "branch_summary" && !entry.fromHook) files.addDetails(entry.details);
  }
  const budget =
    (input.contextWindow || FALLBACK_CONTEXT_WINDOW) - (input.reserveTokens ?? FALLBACK_RESERVE_TOKENS);
  const messages: AgentMessage[] = [];
  let total = 0;
  const newestFirst = input.entries.toReversed().flatMap((entry) => {
    const isSummary = entry.type === "compaction" || entry.type === "branch_summary";
    return messagesOf(entry, input.projections)
      .toReversed()
      .map((message) => ({ message, isSummary }));
  });
  for (const { message, isSummary } of newestFirst) {
    files.addMessage(message);
    const tokens = estimateTokens(message);
    const isOver = budget > 0 && total + tokens > budget;
    if (isOver && !(isSummary && total < OVERSHOOT_SHARE * budget)) break;
    messages.unshift(message);
    total += tokens;
    if (isOver) break;
  }
  return {
    kind: "branch_summary",
    messages,
    fileOps: files.durable(),
    totalTokens: wholeTokens(total),
  };
}

const FALLBACK_CONTEXT_WINDOW = 128_000;
const FALLBACK_RESERVE_TOKENS = 16_384;
/** A summary may overshoot a budget that is filled to less than this. */
const OVERSHOOT_SHARE = 0.9;

function messagesOf(entry: Entry, projections: BranchInput["projections"]): readonly AgentMessage[] {
  switch (entry.type) {
    case "message":
      return entry.message.role === "toolResult" || !isInContext(entry.message) ? [] : [entry.message];
    case "compaction":
      return [compactionSummaryOf(entry)];
    case "branch_summary":
      return [branchSummaryOf(entry)];
    case "custom":
      return projections.get(entry.id) ?? [];
  }
}
