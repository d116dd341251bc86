/** Samples of cuts: seeded, and spread over the kinds of places where a process can die. */
import type { CutRef } from "../../faults/index.ts";
import type { Random } from "../../foundation/index.ts";

/**
 * `count` of the items, or all if there are no more: the kinds take turns (`before`, inside an effect, inside a commit,
 * `after`), so that a rare one is not missed; which items of a kind is up to `random`. In the order of the run.
 */
export function sample<T extends { readonly cut: CutRef }>(
  items: readonly T[],
  count: number,
  random: Random,
): T[] {
  const kinds = new Map<string, T[]>();
  for (const item of items) {
    const { position, bytesWritten } = item.cut;
    const kind = bytesWritten === undefined ? position : "torn";
    const others = kinds.get(kind);
    if (others === undefined) kinds.set(kind, [item]);
    else others.push(item);
  }
  const chosen = new Set<T>();
  for (let left = [...kinds.values()]; left.length > 0 && chosen.size < count; ) {
    for (const kind of left) {
      if (chosen.size < count)
        for (const item of kind.splice(random.nextInt(kind.length), 1)) chosen.add(item);
    }
    left = left.filter((kind) => kind.length > 0);
  }
  return items.filter((item) => chosen.has(item));
}
