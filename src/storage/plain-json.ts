/**
 * A quick proof that a value is in the JSON domain, for a store that encodes it at once and keeps no copy.
 *
 * `admitJson` of foundation says what the domain is, copies and freezes, and names the place of a refusal. A store
 * that turns a transaction into text needs none of that when the values are plain, which they nearly always are: the
 * text is its copy. So this looks without copying, and answers only where it is sure.
 *
 * Invariant: when it says yes, `admitJson` would admit the value, and `JSON.stringify` then `JSON.parse` give back an
 * equal one. When it says no, nothing follows; ask `admitJson`.
 */

/** Whether a value is surely in the JSON domain. Values that are odd but legal get a no. */
export function isPlainJson(value: unknown): boolean {
  return isPlain(value, 0);
}

/** Less than `admitJson` allows; a cycle ends here too. */
const DEPTH_MAX = 200;

function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case "string":
      return value.isWellFormed();
    case "number":
      // The difference is NaN for NaN and the infinities; the quotient finds -0.
      return value - value === 0 && (value !== 0 || 1 / value > 0);
    case "boolean":
      return true;
    case "object":
      if (value === null) return true;
      if (depth > DEPTH_MAX || (value as { toJSON?: unknown }).toJSON !== undefined) return false;
      return Array.isArray(value) ? isPlainArray(value, depth) : isPlainObject(value, depth);
    default:
      return false;
  }
}

function isPlainArray(items: readonly unknown[], depth: number): boolean {
  for (let index = 0; index < items.length; index++) {
    if (!isPlain(items[index], depth + 1)) return false;
  }
  let keyCount = 0;
  for (const _key in items) keyCount += 1;
  return keyCount === items.length;
}

function isPlainObject(object: object, depth: number): boolean {
  if (Object.getPrototypeOf(object) !== Object.prototype) return false;
  if (Object.getOwnPropertySymbols(object).length > 0) return false;
  for (const key in object) {
    if (!key.isWellFormed() || !isPlain((object as Record<string, unknown>)[key], depth + 1)) return false;
  }
  return true;
}
