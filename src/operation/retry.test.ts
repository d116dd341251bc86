import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { retryDelayMs, retryNotBefore } from "./retry.ts";

describe("retry arithmetic", () => {
  it.each([
    [1, 1000],
    [2, 2000],
    [3, 4000],
    [10, 512_000],
  ])("waits after attempt %i for %i ms on a base of 1000", (attempt, delayMs) => {
    expect(retryDelayMs(1000, attempt)).toBe(delayMs);
  });

  it("gives a safe integer that never shrinks, for every policy that can be stored", () => {
    const count = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(
        count,
        count,
        fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
        (nowMs, base, attempt) => {
          const notBefore = retryNotBefore(nowMs, base, attempt);
          expect(Number.isSafeInteger(notBefore)).toBe(true);
          expect(notBefore).toBeGreaterThanOrEqual(nowMs);
          expect(retryDelayMs(base, attempt + 1)).toBeGreaterThanOrEqual(retryDelayMs(base, attempt));
        },
      ),
    );
  });
});
