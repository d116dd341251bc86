import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { admitJson, canonicalJson } from "../foundation/index.ts";
import { isPlainJson } from "./plain-json.ts";

const hole = [1, 2, 3];
delete hole[1];
const cycle: unknown[] = [];
cycle.push({ cycle });
function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

describe("the quick proof", () => {
  it("says yes only to what admission admits, and what its text gives back", () => {
    const odd = fc.anything({
      maxDepth: 3,
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
    });
    fc.assert(
      fc.property(fc.oneof(odd, fc.jsonValue({ stringUnit: "binary" })), (value) => {
        if (!isPlainJson(value)) return;
        expect(canonicalJson(admitJson(value))).toBe(canonicalJson(JSON.parse(JSON.stringify(value))));
      }),
      { numRuns: 500 },
    );
  });

  it("says yes to ordinary values, or it would be no use", () => {
    const ordinary = fc
      .jsonValue({ maxDepth: 4 })
      .map((value) => JSON.parse(JSON.stringify(value)) as unknown);
    fc.assert(
      fc.property(ordinary, (value) => {
        fc.pre(!JSON.stringify(value).includes("__proto__") && !JSON.stringify(value).includes("toJSON"));
        expect(isPlainJson(value)).toBe(true);
      }),
    );
  });

  it.each<[string, unknown]>([
    ["undefined", { a: undefined }],
    ["NaN", [Number.NaN]],
    ["an infinity", [Number.NEGATIVE_INFINITY]],
    ["-0", -0],
    ["a lone surrogate", ["\udc00"]],
    ["a lone surrogate in a key", { "\udc00": 1 }],
    ["a symbol as a key", { [Symbol("s")]: 1 }],
    ["a hole", hole],
    ["an array with a name", Object.assign([1], { name: 1 })],
    ["a cycle", cycle],
    ["a depth that admission might refuse", nested(202)],
    ["a date", new Date(0)],
    ["a hidden toJSON", Object.defineProperty({ a: 1 }, "toJSON", { value: () => 2, enumerable: false })],
    ["a function", () => 1],
    ["a bigint", 1n],
  ])("says no to %s", (_what, value) => {
    expect(isPlainJson(value)).toBe(false);
  });
});
