/**
 * The invariants of the tree that a timeline can show (spec §9.1, 7, 9 and 11).
 *
 * Not here: 6 (a stored parent never changes; `stored-state.ts` compares what is stored with what was confirmed),
 * 8 (nothing of orchestration is an entry type, so the schema of 7 refuses it) and 10 (private to one backend).
 */
import { validateEntryDraft, type Write } from "../../model/index.ts";
import type { ObservedCommit } from "../harness-check.ts";
import type { StoreModel } from "../store-model.ts";
import { type Invariant, ofWrites } from "./invariant.ts";
import { deletesOf, setsOf } from "./touched.ts";

export const TREE_INVARIANTS: readonly Invariant[] = [
  {
    number: 7,
    says: "an entry decodes by the schema of its type; only a custom one may lack its payload",
    unreadable: (writes, breaks) => {
      for (const write of writes) {
        if (write.kind !== "entry") continue;
        const issue = validateEntryDraft(write.entry);
        if (issue === undefined) continue;
        breaks(
          `a ${String(write.entry?.type)} entry does not decode`,
          `entry ${String(write.entry?.id)} at ${issue.path || "its root"}: expected ${issue.expected}, found ${issue.found}`,
        );
      }
    },
  },
  {
    number: 9,
    says: "a lane's leaf moves by an append or by a navigation, and by nothing else",
    before: ofWrites(["set lane.leaf", "delete lane.leaf"], (commit, model, breaks) => {
      for (const key of deletesOf(commit.writes, "lane.leaf")) {
        breaks("the leaf is deleted", `lane.leaf/${key} is deleted`);
      }
      for (const [lane, moved] of movedLeaves(commit.writes)) {
        const old = model.value("lane.leaf", lane);
        if (old === undefined) continue;
        if (moved === old || isAppend(commit, moved, old) || isNavigation(commit, model, moved)) continue;
        breaks(
          "the leaf jumps",
          `the leaf of ${lane} moves from ${old} to ${moved} without an append or a navigation`,
        );
      }
    }),
  },
  {
    number: 11,
    says: "a parent exists before its child",
    before: ofWrites(["entry"], ({ writes }, model, breaks) => {
      const fresh = new Set<string>();
      for (const write of writes) {
        if (write.kind !== "entry") continue;
        const { id, parentId } = write.entry;
        if (parentId !== null && !fresh.has(parentId) && model.entry(parentId) === undefined) {
          breaks("a parent is missing", `entry ${id} hangs below ${parentId}, which does not exist`);
        }
        fresh.add(id);
      }
    }),
  },
];

/** Lanes with the leaf that the transaction leaves them. */
function movedLeaves(writes: readonly Write[]): ReadonlyMap<string, string | null> {
  return new Map(setsOf(writes, "lane.leaf").map(({ key, value }) => [key, value]));
}

/** The new leaf is an entry of this transaction, and the entries of this transaction lead from it to the old leaf. */
function isAppend({ writes }: ObservedCommit, moved: string | null, old: string | null): boolean {
  const parents = new Map<string, string | null>();
  for (const write of writes) if (write.kind === "entry") parents.set(write.entry.id, write.entry.parentId);
  let at: string | null | undefined = moved;
  for (let step = 0; step <= parents.size; step++) {
    if (step > 0 && at === old) return true;
    if (at === null || at === undefined) return false;
    at = parents.get(at);
  }
  return false;
}

/** A navigation's terminal transaction moves the leaf to the target, or to the summary below it. */
function isNavigation({ writes }: ObservedCommit, model: StoreModel, moved: string | null): boolean {
  for (const write of writes) {
    if (write.kind !== "register" || write.op !== "delete" || write.namespace !== "op.meta") continue;
    const intent = model.value("op.meta", write.key)?.intent;
    if (intent?.kind !== "navigation") continue;
    if (!intent.summarize) return moved === intent.targetId;
    return writes.some(
      (other) =>
        other.kind === "entry" &&
        other.entry.type === "branch_summary" &&
        other.entry.id === moved &&
        other.entry.parentId === intent.targetId,
    );
  }
  return false;
}
