import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createIdGenerator,
  idsOfIncarnation,
  isUuidV7,
  seededRandom,
  timestampOf,
  VIRTUAL_EPOCH_MS,
  VirtualClock,
} from "./index.ts";

describe("ids", () => {
  it("are UUIDv7 that carry the clock's time", () => {
    const ids = createIdGenerator(new VirtualClock(), seededRandom(1));
    const id = ids.next();
    expect(isUuidV7(id)).toBe(true);
    expect(timestampOf(id)).toBe(VIRTUAL_EPOCH_MS);
  });

  it("rise strictly on a clock that stands still", () => {
    const ids = createIdGenerator(new VirtualClock(), seededRandom(1));
    expectStrictlyRising(Array.from({ length: 2000 }, () => ids.next()));
  });

  it("rise strictly on a clock that steps back and forth, however far", () => {
    const hour = 3_600_000;
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -400 * hour, max: 400 * hour }), { maxLength: 30 }), (steps) => {
        const clock = new VirtualClock();
        const ids = createIdGenerator(clock, seededRandom(steps.length));
        const minted = [ids.next()];
        for (const stepMs of steps) {
          clock.step(stepMs);
          minted.push(ids.next(), ids.next());
        }
        expectStrictlyRising(minted);
      }),
    );
  });

  it("have followers that carry exactly the given time and are all different", () => {
    const clock = new VirtualClock();
    const ids = createIdGenerator(clock, seededRandom(3));
    const leader = ids.next();
    clock.step(86_400_000);
    const followers = Array.from({ length: 500 }, () => ids.next(timestampOf(leader)));
    expect(new Set(followers.map(timestampOf))).toEqual(new Set([timestampOf(leader)]));
    expect(new Set([leader, ...followers]).size).toBe(501);
    expect(followers.every(isUuidV7)).toBe(true);
    // A follower does not hold the leaders back.
    expect(timestampOf(ids.next())).toBe(clock.now());
  });

  it("of two incarnations are unrelated streams, and each stream repeats", () => {
    const mint = (seed: number, incarnation: number) => {
      const ids = idsOfIncarnation(seed, incarnation, new VirtualClock());
      return Array.from({ length: 50 }, (_, index) => (index % 3 === 0 ? ids.next(5) : ids.next()));
    };
    expect(mint(9, 0)).toEqual(mint(9, 0));
    const all = [...mint(9, 0), ...mint(9, 1), ...mint(9, 2), ...mint(10, 0)];
    expect(new Set(all).size).toBe(200);
  });

  it("are the same in every release for the same seed, incarnation and clock", () => {
    const ids = idsOfIncarnation(7, 1, new VirtualClock());
    expect([ids.next(), ids.next(), ids.next(VIRTUAL_EPOCH_MS)]).toEqual([
      "018bcfe5-6800-797f-9714-95dba4edef0c",
      "018bcfe5-6800-797f-9714-95dceadfa84a",
      "018bcfe5-6800-7e56-9317-93c79e19b046",
    ]);
  });
});

describe("isUuidV7", () => {
  it.each([
    ["canonical lower case", "0195c8d1-4a2e-7b31-8000-000000000000", true],
    ["upper case", "0195C8D1-4A2E-7B31-8000-000000000000", false],
    ["another version", "0195c8d1-4a2e-4b31-8000-000000000000", false],
    ["another variant", "0195c8d1-4a2e-7b31-c000-000000000000", false],
    ["without hyphens", "0195c8d14a2e7b318000000000000000", false],
    ["a short label", "e_1", false],
    ["something behind it", "0195c8d1-4a2e-7b31-8000-000000000000\n", false],
  ])("%s", (_, text, expected) => {
    expect(isUuidV7(text)).toBe(expected);
  });
});

describe("timestampOf", () => {
  it("reads all 48 bits", () => {
    expect(timestampOf("0195c8d1-4a2e-7b31-8000-000000000000")).toBe(0x0195c8d14a2e);
    expect(timestampOf("ffffffff-ffff-7000-8000-000000000000")).toBe(2 ** 48 - 1);
  });
});

function expectStrictlyRising(ids: readonly string[]): void {
  for (let index = 1; index < ids.length; index++) {
    const [before, after] = [ids[index - 1] ?? "", ids[index] ?? ""];
    if (!(before < after)) throw new Error(`id ${index} does not rise: ${before}, then ${after}`);
  }
}
