/**
 * Context: the messages that a request is built from, projected from the branch of a lane (spec §2.5).
 *
 * The branch is read from the leaf to the newest compaction, which is complete in itself: nothing older is read.
 * Turned around, the context is that compaction's summary, its retained tail, and every entry after it. Left out are
 * responses that ended in `error`, `aborted` or `deferred`, and custom entries for which no projector answers. An
 * output limit that is genuine (`length`) stays.
 *
 * Between two requests of a lane the context grows at its end only; a compaction is the one exception.
 */
import {
  type AgentMessage,
  branchSummaryOf,
  type CustomEntry,
  compactionSummaryOf,
  type Entry,
  isInContext,
} from "../model/index.ts";
import type { Session } from "./session.ts";

/** Turns a custom entry into messages; deterministic, because it may run again after a crash. */
export type EntryProjector = (
  entry: CustomEntry,
) => AgentMessage[] | undefined | Promise<AgentMessage[] | undefined>;

/** Projectors by `customType`. */
export type EntryProjectors = Readonly<Record<string, EntryProjector>>;

/** The context at a leaf, oldest first. A lane at the root has an empty one. */
export async function readContext(
  session: Session,
  leafId: string | null,
  projectors: EntryProjectors = {},
): Promise<AgentMessage[]> {
  if (leafId === null) return [];
  const newestFirst = await session.scanBranch({
    start: leafId,
    order: "newestFirst",
    stopAtType: "compaction",
  });
  return projectEntries(newestFirst.toReversed(), projectors);
}

/** Projects a branch, oldest first, that starts at its newest compaction if it has one. */
export async function projectEntries(
  oldestFirst: readonly Entry[],
  projectors: EntryProjectors = {},
): Promise<AgentMessage[]> {
  const context: AgentMessage[] = [];
  for (const entry of oldestFirst) {
    switch (entry.type) {
      case "message":
        if (isInContext(entry.message)) context.push(entry.message);
        break;
      case "compaction":
        context.push(compactionSummaryOf(entry), ...entry.retainedTail.filter(isInContext));
        break;
      case "branch_summary":
        if (entry.summary !== "") context.push(branchSummaryOf(entry));
        break;
      case "custom": {
        const project = Object.hasOwn(projectors, entry.customType)
          ? projectors[entry.customType]
          : undefined;
        const messages = await project?.(entry);
        if (messages) context.push(...messages);
        break;
      }
    }
  }
  return context;
}
