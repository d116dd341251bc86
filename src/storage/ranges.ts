/**
 * Ranges and limits of queries, the same for every store; and listings over what is in memory in order: a range is found
 * by binary search, then filtered and cut off.
 */
import type { EntryScan, UsageScan } from "./contract.ts";

/**
 * How many rows a query gives at the most, as a whole number that every store can count to. No limit, an infinite one and
 * one beyond all numbers of rows are the same.
 */
export function rowsAtMost(limit = Number.POSITIVE_INFINITY): number {
  return limit > 0 ? Math.min(Math.ceil(limit), Number.MAX_SAFE_INTEGER) : 0;
}

/** What of items in rising seq a listing is of, in the order that it asks for. */
export function scanRange<Item extends { readonly seq: number }>(
  ordered: readonly Item[],
  { fromSeq = 0, toSeq = Number.POSITIVE_INFINITY, limit, order }: UsageScan,
  isWanted: (item: Item) => boolean,
): Item[] {
  const from = firstIndex(ordered.length, (index) => (ordered[index] as Item).seq >= fromSeq);
  const end = firstIndex(ordered.length, (index) => (ordered[index] as Item).seq > toSeq);
  const found: Item[] = [];
  const count = rowsAtMost(limit);
  for (let step = 0; step < end - from && found.length < count; step++) {
    const item = ordered[order === "desc" ? end - 1 - step : from + step] as Item;
    if (isWanted(item)) found.push(item);
  }
  return found;
}

/** Whether an entry, whole or as it is stored, is of the types that a scan is of. */
export function hasType(
  entry: { readonly type: string; readonly customType?: string | undefined },
  { type, customType }: Pick<EntryScan, "type" | "customType">,
): boolean {
  if (type !== undefined && entry.type !== type) return false;
  return customType === undefined || entry.customType === customType;
}

/** The first index below `count` from which on `holds` holds; `count` if it holds nowhere. */
export function firstIndex(count: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
