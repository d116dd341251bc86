/**
 * Reads what structural work is prepared from: the branch of a lane, projected as for a request (compaction §3, §5).
 *
 * The reads are those of a request, bounded by the newest compaction; only a navigation with a summary reads the
 * placements of two whole branches, to find where they part.
 */
import type {
  AgentMessage,
  CompactionSettings,
  Entry,
  EntryDraft,
  LaneConfiguration,
} from "../model/index.ts";
import {
  type BranchPreparation,
  type CompactionPreparation,
  estimateContextTokens,
  prepareBranch,
  prepareCompaction,
} from "../operation/index.ts";
import { projectEntries } from "../session/index.ts";
import type { Environment } from "./environment.ts";

/**
 * Prepares a compaction of the branch that ends at `leafId`. `settled` is a response that is about to be committed
 * there. Undefined: there is nothing to compact.
 */
export async function prepareCompactionAt(
  environment: Environment,
  leafId: string | null,
  settings: CompactionSettings,
  settled?: Extract<EntryDraft, { type: "message" }>,
): Promise<CompactionPreparation | undefined> {
  const { session, entryProjectors } = environment;
  const newestFirst =
    leafId === null
      ? []
      : await session.scanBranch({ start: leafId, order: "newestFirst", stopAtType: "compaction" });
  const entries = newestFirst.toReversed();
  const context = await projectEntries(entries, entryProjectors);
  return prepareCompaction({
    entries: settled === undefined ? entries : [...entries, settled],
    projections: await projectionsOf(environment, entries),
    tokensBefore: estimateContextTokens(context),
    settings,
  });
}

/** Prepares the summary of the branch that is left for `targetId`. */
export async function prepareBranchTo(
  environment: Environment,
  branch: { readonly sourceLeafId: string; readonly targetId: string },
  configuration: LaneConfiguration,
): Promise<BranchPreparation> {
  const entries = await entriesToLeave(environment, branch.sourceLeafId, branch.targetId);
  const { provider, modelId } = configuration.model;
  return prepareBranch({
    entries,
    projections: await projectionsOf(environment, entries),
    contextWindow: environment.models.getModel(provider, modelId)?.contextWindow ?? 0,
    reserveTokens: environment.settings.run.compaction.reserveTokens,
  });
}

/** The entries of the source branch that the target's does not have, oldest first. */
async function entriesToLeave(
  { session }: Environment,
  sourceLeafId: string,
  targetId: string,
): Promise<Entry[]> {
  const targetPath = await session.scanBranch({ start: targetId });
  const shared = new Set(targetPath.map(({ id }) => id));
  const sourcePath = await session.scanBranch({ start: sourceLeafId, order: "newestFirst" });
  const length = sourcePath.findIndex(({ id }) => shared.has(id));
  return sourcePath.slice(0, length < 0 ? undefined : length).reverse();
}

async function projectionsOf(
  { entryProjectors }: Environment,
  entries: readonly Entry[],
): Promise<Map<string, readonly AgentMessage[]>> {
  const projections = new Map<string, readonly AgentMessage[]>();
  for (const entry of entries) {
    if (entry.type !== "custom") continue;
    const messages = await projectEntries([entry], entryProjectors);
    if (messages.length > 0) projections.set(entry.id, messages);
  }
  return projections;
}
