/**
 * The first difference of two views, readable; and the patterns that an expected view may hold.
 *
 * A pattern stands where the specification fixes what a value is and leaves its wording open. It is an object with one
 * key: `{"$any": "text"}` a text that is not empty, `{"$any": "value"}` anything; a member whose pattern is
 * `{"$any": "optional"}` may also be absent. `{"$oneOf": [a, b]}` stands for values of which one must be found, where the
 * specification leaves a race open. No stored value looks like this: neither key is one of any durable shape.
 */
import { isRecord, pointerStep } from "../foundation/index.ts";

/** Where two values differ. */
export interface ViewDifference {
  /** JSON pointer from the root of the view. */
  readonly pointer: string;
  /** As JSON, shortened; `absent` if there is no such member. */
  readonly expected: string;
  readonly found: string;
}

/** A pattern of the header. */
export type Pattern =
  | { readonly $any: "text" | "value" | "optional" }
  | { readonly $oneOf: readonly unknown[] };

/** Compares two canonical texts. Undefined if `found` is what `expected` demands. */
export function compareViews(expected: string, found: string): ViewDifference | undefined {
  if (expected === found) return undefined;
  if (last?.text !== found) last = { text: found, value: JSON.parse(found) };
  return firstDifference(JSON.parse(expected), last.value);
}

/** Nearly all recoveries reach the same view, so the last one is remembered as it was parsed. */
let last: { readonly text: string; readonly value: unknown } | undefined;

/** A difference as one sentence. */
export function describeDifference({ pointer, expected, found }: ViewDifference): string {
  return `at ${pointer === "" ? "the root" : pointer}: expected ${expected}, found ${found}`;
}

/** The first difference of two JSON values, in reading order of the expected one. */
export function firstDifference(expected: unknown, found: unknown, pointer = ""): ViewDifference | undefined {
  const pattern = patternOf(expected);
  if (pattern !== undefined)
    return matches(pattern, found) ? undefined : difference(pointer, expected, found);
  if (Array.isArray(expected)) {
    if (!Array.isArray(found)) return difference(pointer, expected, found);
    const length = Math.max(expected.length, found.length);
    for (let index = 0; index < length; index++) {
      const item = firstDifference(expected[index], found[index], `${pointer}${pointerStep(index)}`);
      if (item !== undefined) return item;
    }
    return undefined;
  }
  if (!isRecord(expected) || !isRecord(found)) {
    return Object.is(expected, found) ? undefined : difference(pointer, expected, found);
  }
  for (const key of Object.keys(expected)) {
    const member = firstDifference(expected[key], found[key], `${pointer}${pointerStep(key)}`);
    if (member !== undefined) return member;
  }
  const extra = Object.keys(found).find((key) => !Object.hasOwn(expected, key));
  return extra === undefined
    ? undefined
    : difference(`${pointer}${pointerStep(extra)}`, undefined, found[extra]);
}

function patternOf(value: unknown): Pattern | undefined {
  if (!isRecord(value)) return undefined;
  const { $any, $oneOf } = value;
  if (Array.isArray($oneOf)) return { $oneOf };
  return $any === "text" || $any === "value" || $any === "optional" ? { $any } : undefined;
}

function matches(pattern: Pattern, found: unknown): boolean {
  if ("$oneOf" in pattern) return pattern.$oneOf.some((each) => firstDifference(each, found) === undefined);
  switch (pattern.$any) {
    case "text":
      return typeof found === "string" && found !== "";
    case "value":
      return found !== undefined;
    case "optional":
      return true;
  }
}

function difference(pointer: string, expected: unknown, found: unknown): ViewDifference {
  return { pointer, expected: shortened(expected), found: shortened(found) };
}

const TEXT_LENGTH_MAX = 300;

function shortened(value: unknown): string {
  if (value === undefined) return "absent";
  const text = JSON.stringify(value) ?? "absent";
  return text.length <= TEXT_LENGTH_MAX
    ? text
    : `${text.slice(0, TEXT_LENGTH_MAX)}… (${text.length} characters)`;
}
