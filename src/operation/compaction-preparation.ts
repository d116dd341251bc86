/**
 * Compaction preparation: which messages of a branch are summarized and which are kept (compaction §3).
 *
 * Terms. *Unit*: one element of the branch as compaction sees it; a message, a branch summary, or a custom entry that
 * no projector answers for. *Cut*: the index of the first unit that is kept. *Turn start*: a user message, a shell
 * command or a branch summary. *Split*: the cut lies within a turn, so that the turn's beginning (the *prefix*) is
 * summarized by itself, for the sake of the kept rest of that turn.
 *
 * Invariants.
 * 1. `messagesToSummarize`, `turnPrefixMessages` and `retainedTail`, in this order, are the messages of the units,
 *    each exactly once.
 * 2. A tool result is never the first message kept: it stays with its call.
 * 3. Responses that stand in no context (`error`, `aborted`, `deferred`) are in none of the three.
 * 4. Nothing older than the newest compaction is read; what it kept comes from its retained tail.
 *
 * Decided here. A custom entry that directly precedes the cut is kept with it, and since such a unit is no user message,
 * the turn before it counts as split; this is the letter of the algorithm, and costs one more request, no content. A
 * branch summary that stands in no context because it is empty is a unit without a message.
 */
import {
  type AgentMessage,
  branchSummaryOf,
  type CompactionSettings,
  type DurableStructuralPreparation,
  type Entry,
  type EntryDraft,
  isInContext,
} from "../model/index.ts";
import { estimateTokens, wholeTokens } from "./context-size.ts";
import { FileOperations } from "./file-operations.ts";

export type CompactionPreparation = Extract<DurableStructuralPreparation, { kind: "compaction" }>;

/** What a compaction is prepared from. */
export interface CompactionInput {
  /**
   * The branch, oldest first, at least from its newest compaction on. A response that is about to be committed stands
   * at its end as the draft that it is.
   */
  readonly entries: readonly (Entry | Extract<EntryDraft, { type: "message" }>)[];
  /** What the custom entries among them project to, by id; absent: nothing. */
  readonly projections: ReadonlyMap<string, readonly AgentMessage[]>;
  /** The estimate of the projected context, in tokens. */
  readonly tokensBefore: number;
  readonly settings: CompactionSettings;
}

/** Prepares a compaction; undefined: there is nothing to compact. */
export function prepareCompaction(input: CompactionInput): CompactionPreparation | undefined {
  const newestIndex = input.entries.findLastIndex(({ type }) => type === "compaction");
  const newest = input.entries[newestIndex];
  if (input.entries.length === 0 || newestIndex === input.entries.length - 1) return undefined;

  const units: Unit[] = [];
  const files = new FileOperations();
  let previousSummary: string | undefined;
  if (newest?.type === "compaction") {
    previousSummary = newest.summary;
    if (!newest.fromHook) files.addDetails(newest.details);
    units.push(...messageUnits(newest.retainedTail));
  }
  for (const entry of input.entries.slice(newestIndex + 1)) units.push(...unitsOf(entry, input.projections));

  const cut = cutOf(units, input.settings.keepRecentTokens);
  const turnStart = turnStartOf(units, cut);
  const messagesToSummarize = messagesOf(units.slice(0, turnStart ?? cut));
  const turnPrefixMessages = turnStart === undefined ? [] : messagesOf(units.slice(turnStart, cut));
  if (messagesToSummarize.length === 0 && turnPrefixMessages.length === 0) return undefined;
  for (const message of [...messagesToSummarize, ...turnPrefixMessages]) files.addMessage(message);
  return {
    kind: "compaction",
    messagesToSummarize,
    turnPrefixMessages,
    retainedTail: messagesOf(units.slice(cut)),
    isSplitTurn: turnStart !== undefined,
    tokensBefore: wholeTokens(input.tokensBefore),
    ...(previousSummary === undefined ? {} : { previousSummary }),
    fileOps: files.durable(),
    settings: input.settings,
  };
}

type Unit =
  | { readonly kind: "message" | "branch_summary"; readonly message: AgentMessage }
  | { readonly kind: "unprojected" };

const UNPROJECTED: Unit = { kind: "unprojected" };

function unitsOf(
  entry: CompactionInput["entries"][number],
  projections: CompactionInput["projections"],
): Unit[] {
  switch (entry.type) {
    case "message":
      return messageUnits([entry.message]);
    case "branch_summary":
      return [
        entry.summary === "" ? UNPROJECTED : { kind: "branch_summary", message: branchSummaryOf(entry) },
      ];
    case "custom": {
      const projected = messageUnits(projections.get(entry.id) ?? []);
      return projected.length > 0 ? projected : [UNPROJECTED];
    }
    case "compaction":
      throw new Error("nothing up to the newest compaction is a unit");
  }
}

function messageUnits(messages: readonly AgentMessage[]): Unit[] {
  return messages.filter(isInContext).map((message) => ({ kind: "message", message }));
}

/** The first unit that is kept: the newest messages that fill the budget, moved to where a cut is possible. */
function cutOf(units: readonly Unit[], keepRecentTokens: number): number {
  const candidates = units.flatMap((unit, index) => (isCandidate(unit) ? [index] : []));
  const [first] = candidates;
  if (first === undefined) return 0;
  let cut = first;
  let tokens = 0;
  for (let index = units.length - 1; index >= 0; index--) {
    const unit = units[index];
    if (unit?.kind !== "message") continue;
    tokens += estimateTokens(unit.message);
    if (tokens < keepRecentTokens) continue;
    // Only tool results may follow: then the newest place where a cut is possible, so that something is summarized.
    cut = candidates.find((candidate) => candidate >= index) ?? candidates.at(-1) ?? first;
    break;
  }
  while (cut > 0 && units[cut - 1]?.kind !== "message") cut--;
  return cut;
}

const CANDIDATE_ROLES: ReadonlySet<string> = new Set([
  "user",
  "assistant",
  "bashExecution",
  "custom",
  "branchSummary",
  "compactionSummary",
]);

function isCandidate(unit: Unit): boolean {
  if (unit.kind === "unprojected") return false;
  return unit.kind === "branch_summary" || CANDIDATE_ROLES.has(unit.message.role);
}

/** Where the turn of the cut begins, if the cut splits one. */
function turnStartOf(units: readonly Unit[], cut: number): number | undefined {
  const at = units[cut];
  if (at === undefined || (at.kind === "message" && at.message.role === "user")) return undefined;
  for (let index = cut; index >= 0; index--) {
    const unit = units[index];
    if (unit !== undefined && isTurnStart(unit)) return index;
  }
  return undefined;
}

function isTurnStart(unit: Unit): boolean {
  if (unit.kind === "unprojected") return false;
  return (
    unit.kind === "branch_summary" || unit.message.role === "user" || unit.message.role === "bashExecution"
  );
}

function messagesOf(units: readonly Unit[]): AgentMessage[] {
  return units.flatMap((unit) => (unit.kind === "unprojected" ? [] : [unit.message]));
}
