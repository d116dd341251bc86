/** Views that differ are told apart, with the place of the first difference. */
import { describe, expect, it } from "vitest";
import { compareViews, describeDifference, firstDifference } from "./compare-views.ts";

describe("comparing views", () => {
  const differences: Record<string, readonly [unknown, unknown, string]> = {
    "a changed value": [{ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] }, "at /a/1/b: expected 2, found 3"],
    "a missing member": [{ a: 1, b: 2 }, { a: 1 }, "at /b: expected 2, found absent"],
    "a member too much": [{ a: 1 }, { a: 1, c: null }, "at /c: expected absent, found null"],
    "a missing item": [[1, 2], [1], "at /1: expected 2, found absent"],
    "an item too much": [[1], [1, 2], "at /1: expected absent, found 2"],
    "another kind": [{ a: [] }, { a: {} }, "at /a: expected [], found {}"],
    "a key with a slash": [{ "a/b": 1 }, { "a/b": 2 }, "at /a~1b: expected 1, found 2"],
    "an empty text where some text is wanted": [
      { a: { $any: "text" } },
      { a: "" },
      'at /a: expected {"$any":"text"}, found ""',
    ],
    "neither of two values": [
      { a: { $oneOf: [{ b: 1 }, { b: 2 }] } },
      { a: { b: 3 } },
      'at /a: expected {"$oneOf":[{"b":1},{"b":2}]}, found {"b":3}',
    ],
    "a mixture of two values": [
      [
        {
          $oneOf: [
            { b: 1, c: 1 },
            { b: 2, c: 2 },
          ],
        },
      ],
      [{ b: 1, c: 2 }],
      'at /0: expected {"$oneOf":[{"b":1,"c":1},{"b":2,"c":2}]}, found {"b":1,"c":2}',
    ],
    "nothing where some value is wanted": [
      { a: { $any: "value" } },
      {},
      'at /a: expected {"$any":"value"}, found absent',
    ],
  };

  it.each(Object.entries(differences))("finds %s", (_, [expected, found, said]) => {
    const difference = compareViews(JSON.stringify(expected), JSON.stringify(found));
    expect(difference && describeDifference(difference)).toBe(said);
  });

  const equals: Record<string, readonly [unknown, unknown]> = {
    "equal values": [{ a: [1, null] }, { a: [1, null] }],
    "any text": [{ a: { $any: "text" } }, { a: "interrupted" }],
    "any value": [{ a: { $any: "value" } }, { a: null }],
    "the first of two values": [{ a: { $oneOf: [{ b: 1 }, { b: { $any: "text" } }] } }, { a: { b: 1 } }],
    "the second of two values": [{ a: { $oneOf: [{ b: 1 }, { b: { $any: "text" } }] } }, { a: { b: "x" } }],
    "an optional member that is there": [{ a: { $any: "optional" } }, { a: {} }],
    "an optional member that is not": [{ a: { $any: "optional" } }, {}],
  };

  it.each(Object.entries(equals))("passes %s", (_, [expected, found]) => {
    expect(firstDifference(expected, found)).toBeUndefined();
  });

  it("shortens what is long", () => {
    const difference = firstDifference("x".repeat(1000), "y");
    expect(difference?.expected).toMatch(/… \(1002 characters\)$/);
  });
});
