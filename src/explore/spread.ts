/** How much of a list is looked at, where all of it may be too much. */

/** All of the items, or at most so many of them: the first and the last among them, evenly spread. */
export function spread<T>(items: readonly T[], budget: "every" | number): readonly T[] {
  if (budget === "every" || items.length <= budget) return items;
  if (budget <= 1) return items.slice(0, budget);
  const step = (items.length - 1) / (budget - 1);
  return Array.from({ length: budget }, (_, index) => items[Math.round(index * step)] as T);
}
