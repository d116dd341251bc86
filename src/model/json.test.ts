import { describe, expect, it } from "vitest";
import { admitJson, JSON_DEPTH_MAX } from "../foundation/index.ts";
import { isJsonObject, isJsonValue } from "./json.ts";

const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;
/** Lists inside each other, so many levels below the root. */
const nested = (levels: number) => JSON.parse("[".repeat(levels + 1) + "]".repeat(levels + 1));

describe("JSON values", () => {
  it.each([
    ["null", null],
    ["nested lists and objects", { a: [1, "x", true, { b: null }] }],
    ["an object without prototype", Object.assign(Object.create(null), { a: 1 })],
    ["a key named __proto__", JSON.parse('{"__proto__": 1}')],
    ["the deepest nesting", nested(JSON_DEPTH_MAX)],
  ])("accepts %s", (_name, value) => {
    expect(isJsonValue(value)).toBe(true);
  });

  it.each([
    ["undefined", undefined],
    ["an undefined property", { a: undefined }],
    ["a hole", new Array(1)],
    ["not a number", [Number.NaN]],
    ["infinity", { a: Number.NEGATIVE_INFINITY }],
    ["a bigint", 1n],
    ["a function", () => 1],
    ["a symbol key", { [Symbol("s")]: 1 }],
    ["a date", new Date(0)],
    ["a map", new Map()],
    ["a cycle", cyclic],
    ["one level too deep", nested(JSON_DEPTH_MAX + 1)],
  ])("rejects %s", (_name, value) => {
    expect(isJsonValue(value)).toBe(false);
    expect(isJsonObject(value)).toBe(false);
  });

  it("accepts what admission accepts, at its deepest too", () => {
    expect(isJsonValue(admitJson(nested(JSON_DEPTH_MAX)))).toBe(true);
  });

  it("tells objects from lists", () => {
    expect([isJsonObject({}), isJsonObject([]), isJsonObject(null)]).toEqual([true, false, false]);
  });
});
