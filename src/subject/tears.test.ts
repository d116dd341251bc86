import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tearsOf } from "./tears.ts";

describe("tearsOf", () => {
  it.each([
    ["a short line in its middle, and before its line feed", 100, 200, [150, 199]],
    ["a line over a page at the page, and before its line feed", 4000, 4200, [4096, 4199]],
    ["a line that begins at a page not there", 4096, 4100, [4098, 4099]],
    ["a line of two bytes before its line feed", 10, 12, [11]],
  ])("tears %s", (_title, before, after, offsets) => {
    expect(tearsOf(before, after)).toEqual(offsets);
  });

  it("tears inside the line, in rising order, at nine places at the most", () => {
    fc.assert(
      fc.property(fc.nat(20_000), fc.integer({ min: 2, max: 2_000_000 }), (before, length) => {
        const offsets = tearsOf(before, before + length);
        expect(offsets.length).toBeGreaterThan(0);
        expect(offsets.length).toBeLessThanOrEqual(9);
        expect(offsets).toEqual([...new Set(offsets)].sort((left, right) => left - right));
        for (const offset of offsets) {
          expect(offset).toBeGreaterThan(before);
          expect(offset).toBeLessThan(before + length);
        }
      }),
    );
  });
});
