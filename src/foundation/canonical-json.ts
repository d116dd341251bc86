/**
 * The canonical form of JSON: the text of two values is the same if and only if they are equal as JSON. Keys are sorted by
 * UTF-16 code unit at every depth, members that are undefined are left out, and nothing else is changed.
 *
 * Objects of one shape and keys of one name come by the thousand, so both are remembered. Applications choose keys too, so
 * both memories are bounded: full, they start again.
 */

/** The text of a JSON value with sorted keys: equal values, equal text. */
export function canonicalJson(value: unknown): string {
  return rewrittenJson(value, unchanged);
}

/** The same, with every text and key, as JSON writes it, replaced by what `rewrite` makes of it; in the order of the text. */
export function rewrittenJson(value: unknown, rewrite: (quoted: string) => string): string {
  if (typeof value === "string") return rewrite(quoted(value));
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  return Array.isArray(value) ? itemsOf(value, rewrite) : membersOf(value, rewrite);
}

function itemsOf(items: readonly unknown[], rewrite: (quoted: string) => string): string {
  let text = "[";
  for (let index = 0; index < items.length; index++) {
    if (index > 0) text += ",";
    text += rewrittenJson(items[index], rewrite);
  }
  return `${text}]`;
}

function membersOf(object: object, rewrite: (quoted: string) => string): string {
  let text = "{";
  let separator = "";
  for (const key of sortedKeys(object)) {
    const member = (object as Record<string, unknown>)[key];
    if (member === undefined) continue;
    text += `${separator}${rewrite(quotedKey(key))}:${rewrittenJson(member, rewrite)}`;
    separator = ",";
  }
  return `${text}}`;
}

function unchanged(text: string): string {
  return text;
}

/** A text as JSON writes it. */
export function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** A text that JSON writes as it is, between quotes. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A key as JSON writes it. */
export function quotedKey(key: string): string {
  const known = quotedKeys.get(key);
  if (known !== undefined) return known;
  if (quotedKeys.size >= KEYS_MAX) quotedKeys.clear();
  const text = quoted(key);
  quotedKeys.set(key, text);
  return text;
}

const quotedKeys = new Map<string, string>();
const KEYS_MAX = 2_000;

/** The keys of an object in order. An order is kept by the list of keys that it sorts. */
export function sortedKeys(object: object): readonly string[] {
  const keys = Object.keys(object);
  let isSorted = true;
  for (let index = 1; index < keys.length && isSorted; index++) {
    isSorted = (keys[index - 1] ?? "") < (keys[index] ?? "");
  }
  if (isSorted) return keys;
  const shape = keys.join("\u0000");
  const known = keyOrders.get(shape);
  // A key may hold the separator, so that other keys have the same list.
  if (known?.keys.every((key, index) => key === keys[index])) return known.sorted;
  if (keyOrders.size >= KEYS_MAX) keyOrders.clear();
  const sorted = keys.toSorted();
  keyOrders.set(shape, { keys, sorted });
  return sorted;
}

const keyOrders = new Map<string, { readonly keys: readonly string[]; readonly sorted: readonly string[] }>();
