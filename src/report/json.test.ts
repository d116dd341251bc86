/** The JSON report is the result, whole, in the published shape. */
import { describe, expect, it } from "vitest";
import { RESULT_SCHEMA } from "../explore/index.ts";
import { jsonReport } from "./json.ts";
import { PLAIN_SHAPE, RESULT_SHAPE, shapeOf } from "./testing/result-shape.ts";
import { GREEN, SAMPLE } from "./testing/sample.ts";

describe("the JSON report", () => {
  it("loses nothing of the result, and ends with one line feed", () => {
    const text = jsonReport(SAMPLE);
    expect(JSON.parse(text)).toEqual(SAMPLE);
    expect(text).toMatch(/[^\n]\n$/);
  });

  it("has exactly the members of crashproof-result/1, each of its type", () => {
    expect(RESULT_SCHEMA).toBe("crashproof-result/1");
    expect(shapeOf(JSON.parse(jsonReport(SAMPLE)))).toEqual(RESULT_SHAPE);
  });

  it("leaves out kills, faults, orders and limits where there were none, and nothing else", () => {
    const { kills: _kills, limits: _limits, ...green } = GREEN;
    const { faults: _faults, orders: _orders, ...coverage } = green.coverage;
    const rest = { ...green, coverage };
    expect(shapeOf(JSON.parse(jsonReport(rest)))).toEqual({
      ...PLAIN_SHAPE,
      skipped: [],
      checkersOff: [],
      notReached: [],
      failures: [],
    });
  });

  it("is held by a check that can fail: a member more, less or of another type is seen", () => {
    const { seed: _seed, ...less } = SAMPLE;
    for (const wrong of [less, { ...SAMPLE, more: 1 }, { ...SAMPLE, seed: "1" }]) {
      expect(shapeOf(wrong)).not.toEqual(RESULT_SHAPE);
    }
  });
});
