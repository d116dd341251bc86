import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  admitJson,
  canonicalJson,
  type JsonValue,
  jsonEquals,
  jsonEqualsBut,
  NotJson,
  rewrittenJson,
} from "./index.ts";

/** JSON values with awkward keys and texts; -0 is outside the domain. */
const jsonValue = fc
  .jsonValue({ maxDepth: 4, stringUnit: "binary" })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);

function refusalOf(value: unknown): { path: string; found: string } {
  try {
    admitJson(value);
  } catch (error) {
    if (error instanceof NotJson) return { path: error.path, found: error.found };
    throw error;
  }
  throw new Error("admitted");
}

function nest(levels: number, innermost: unknown = 1): unknown {
  let value = innermost;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

const cycle: { list: unknown[] } = { list: [] };
cycle.list.push({ back: cycle });
const named = Object.assign([1, 2], { index: 0 });
const hole: unknown[] = [1, 2, 3];
delete hole[1];

describe("admitJson", () => {
  it.each<[string, unknown, string, string]>([
    ["undefined itself", undefined, "", "undefined"],
    ["undefined as a property", { a: { b: undefined } }, "/a/b", "undefined"],
    ["undefined in an array", [1, [undefined]], "/1/0", "undefined"],
    ["a hole", hole, "/1", "undefined"],
    ["a function", { f: () => 1 }, "/f", "a function"],
    ["a symbol", [Symbol("s")], "/0", "a symbol"],
    ["a symbol as a key", { a: { [Symbol("s")]: 1 } }, "/a", "an object with a symbol as a key"],
    ["a bigint", { n: 1n }, "/n", "a bigint"],
    ["NaN", [Number.NaN], "/0", "NaN"],
    ["an infinity", { n: Number.NEGATIVE_INFINITY }, "/n", "-Infinity"],
    ["negative zero", { n: -0 }, "/n", "-0"],
    ["a lone high surrogate", ["ok", "\ud800"], "/1", "a string with a lone surrogate"],
    ["a lone low surrogate", { s: "a\udc00b" }, "/s", "a string with a lone surrogate"],
    ["a lone surrogate in a key", { o: { "\ud800": 1 } }, "/o", "an object with a lone surrogate in a key"],
    ["a cycle", { root: cycle }, "/root/list/0/back", "a reference to a value that contains it (a cycle)"],
    ["a date", { at: new Date(0) }, "/at", "an object that is neither plain nor an array"],
    ["a map", new Map([["a", 1]]), "", "an object that is neither plain nor an array"],
    [
      "an object that inherits",
      [Object.create({ a: 1 })],
      "/0",
      "an object that is neither plain nor an array",
    ],
    ["an array with a named property", { match: named }, "/match", "an array with named properties"],
    ["too deep a value", nest(514), "/0".repeat(513), "nested deeper than 512 levels"],
    ["the first of two, in reading order", { a: [1, Number.NaN], b: undefined }, "/a/1", "NaN"],
    ["a key with ~ and /", { "a/b~c": { "": undefined } }, "/a~1b~0c/", "undefined"],
    ["a member named __proto__", JSON.parse('{"__proto__":{"n":1e999}}'), "/__proto__/n", "Infinity"],
  ])("refuses %s, with the place and what is there", (_, value, path, found) => {
    expect(refusalOf(value)).toEqual({ path, found });
  });

  it("says in its message where and what, with a code that can be matched", () => {
    const error = new NotJson("/writes/0/value", "NaN");
    expect(error.message).toBe("value at /writes/0/value is NaN, which JSON cannot carry");
    expect(new NotJson("", "undefined").message).toBe(
      "value at the root is undefined, which JSON cannot carry",
    );
    expect([error.name, error.code]).toEqual(["NotJson", "NOT_JSON"]);
  });

  it("returns an equal, deeply frozen copy that shares nothing with what was offered", () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const before = JSON.stringify(value);
        const copy = admitJson(value);
        expect(JSON.stringify(copy)).toBe(before);
        expectDeeplyFrozen(copy);
        expect(JSON.stringify(value)).toBe(before);
        if (typeof value === "object" && value !== null) {
          expect(copy).not.toBe(value);
          expect(Object.isFrozen(value)).toBe(false);
        }
      }),
    );
  });

  it("comes back equal from JSON text: that is what the domain means", () => {
    fc.assert(
      fc.property(fc.anything({ maxDepth: 3, withBigInt: true, withDate: true, withMap: true }), (value) => {
        let admitted: unknown;
        try {
          admitted = admitJson(value);
        } catch (error) {
          expect(error).toBeInstanceOf(NotJson);
          return;
        }
        expect(JSON.parse(JSON.stringify(admitted))).toEqual(admitted);
        expect(jsonEquals(admitted, value)).toBe(true);
      }),
    );
  });

  it("keeps a member named __proto__ as a member", () => {
    const copy = admitJson(JSON.parse('{"__proto__":{"admin":true},"a":1}'));
    expect(Object.keys(copy)).toEqual(["__proto__", "a"]);
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(copy.admin).toBeUndefined();
    expect(canonicalJson(copy)).toBe('{"__proto__":{"admin":true},"a":1}');
  });

  it("returns what it has admitted as it is, on its own and inside another value", () => {
    const part = admitJson({ text: "part" });
    expect(admitJson(part)).toBe(part);
    expect(admitJson({ parts: [part] }).parts[0]).toBe(part);
  });

  it("admits a value that stands in two places, which is no cycle", () => {
    const shared = { n: 1 };
    expect(admitJson([shared, { shared }])).toEqual([{ n: 1 }, { shared: { n: 1 } }]);
  });

  it("admits plain objects and arrays of another realm, and objects without a prototype", () => {
    const foreign = runInNewContext("({ list: [{ n: 1 }] })") as JsonValue;
    expect(canonicalJson(admitJson(foreign))).toBe('{"list":[{"n":1}]}');
    expect(() => admitJson(runInNewContext("new Date(0)"))).toThrow(NotJson);
    expect(admitJson(Object.assign(Object.create(null), { n: 1 }))).toEqual({ n: 1 });
  });

  it("admits 512 levels below the root and not one more, also when they are admitted in parts", () => {
    expect(() => admitJson(nest(513))).not.toThrow();
    const part = admitJson(nest(300));
    expect(() => admitJson(nest(213, part))).not.toThrow();
    expect(refusalOf(nest(214, part))).toEqual({
      path: "/0".repeat(214),
      found: "nested deeper than 512 levels",
    });
    const whole = admitJson(nest(213, part));
    expect(() => admitJson([whole])).toThrow("nested deeper");
  });
});

describe("canonicalJson", () => {
  it("is the same text exactly for equal values", () => {
    fc.assert(
      fc.property(jsonValue, jsonValue, (left, right) => {
        expect(canonicalJson(left) === canonicalJson(right)).toBe(jsonEquals(left, right));
      }),
    );
  });

  it("does not depend on the order of keys, and is JSON of an equal value", () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(withKeysReversed(value))).toBe(text);
        expect(jsonEquals(JSON.parse(text), value)).toBe(true);
      }),
    );
  });

  it.each([
    [
      { b: 1, a: 2, c: 3 },
      { b: 1, "a\0c": 2 },
    ],
    [
      { "b\0a": 1, c: 2 },
      { b: 1, "a\0c": 2 },
    ],
    [
      { c: 1, "b\0a": 2 },
      { "c\0b": 1, a: 2 },
    ],
  ])("keeps keys apart that only a separator would: %j and %j", (first, second) => {
    for (const value of [first, second, first]) expect(JSON.parse(canonicalJson(value))).toEqual(value);
  });

  it("sorts keys by UTF-16 code unit at every depth", () => {
    const value = { b: { "\ufffd": 1, "\u{1f600}": 2, Z: 3, a: 4 }, "10": 1, "9": 2, a: [{ d: 1, c: 2 }] };
    expect(canonicalJson(value)).toBe(
      '{"10":1,"9":2,"a":[{"c":2,"d":1}],"b":{"Z":3,"a":4,"\u{1f600}":2,"\ufffd":1}}',
    );
  });
});

describe("rewrittenJson", () => {
  it("replaces every text and key in the order of the text, and nothing else", () => {
    const seen: string[] = [];
    const text = rewrittenJson({ b: ["x", 1], a: { c: 'say "y"' } }, (quoted) => {
      seen.push(quoted);
      return `"${seen.length}"`;
    });
    expect(text).toBe('{"1":{"2":"3"},"4":["5",1]}');
    expect(seen).toEqual(['"a"', '"c"', '"say \\"y\\""', '"b"', '"x"']);
  });
});

describe("jsonEqualsBut", () => {
  it("leaves out one member, and no other", () => {
    const left = { a: 1, b: { c: 2 }, d: [3] };
    expect(jsonEqualsBut("a", left, { d: [3], b: { c: 2 }, a: 4 })).toBe(true);
    expect(jsonEqualsBut("b", left, { ...left, a: 4 })).toBe(false);
    expect(jsonEqualsBut("c", left, { ...left, b: { c: 4 } })).toBe(false);
    expect(jsonEqualsBut("a", left, { b: { c: 2 }, d: [3] })).toBe(false);
    expect(jsonEqualsBut("a", left, { b: { c: 2 }, d: [3], e: 1 })).toBe(false);
  });
});

describe("jsonEquals", () => {
  it("holds for a value and its copy with another order of keys, and is symmetric", () => {
    fc.assert(
      fc.property(jsonValue, jsonValue, (left, right) => {
        expect(jsonEquals(left, withKeysReversed(left))).toBe(true);
        expect(jsonEquals(left, right)).toBe(jsonEquals(right, left));
      }),
    );
  });

  it.each<[string, unknown, unknown]>([
    ["an array and an object", [], {}],
    ["an object and an array", {}, []],
    ["null and an absent member", { a: null }, {}],
    ["null and an object", null, {}],
    ["arrays of another length", [1], [1, 1]],
    ["another member of the same count", { a: 1 }, { b: 1 }],
    ["a member and an inherited name", JSON.parse('{"toString":1}'), { a: 1 }],
    ["a number and its text", 1, "1"],
  ])("tells %s apart", (_, left, right) => {
    expect(jsonEquals(left, right)).toBe(false);
  });
});

function expectDeeplyFrozen(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  expect(Object.isFrozen(value)).toBe(true);
  for (const member of Object.values(value)) expectDeeplyFrozen(member);
}

function withKeysReversed(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withKeysReversed);
  const reversed = Object.create(null) as { [key: string]: JsonValue };
  for (const [key, member] of Object.entries(value).reverse()) reversed[key] = withKeysReversed(member);
  return reversed;
}
