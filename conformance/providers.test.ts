/** A right provider keeps the whole suite; each wrong one is caught, by the promise that it breaks. */
import { describe, expect, it } from "vitest";
import { WRONG_PROVIDERS } from "../fixtures/providers/index.ts";
import { providerWith } from "../fixtures/providers/right-provider.ts";
import { createProviderConformance, runConformance } from "./index.ts";
import { registerConformance } from "./vitest.ts";

describe("a right provider", () => {
  registerConformance(createProviderConformance(providerWith("right")));
});

describe("the provider suite", () => {
  it.concurrent.each(WRONG_PROVIDERS.map((wrong) => [wrong.factory.name, wrong] as const))(
    "catches one that %s, by the promise that it breaks and no other",
    async (_, { factory, caughtBy, alsoBreaks = [] }) => {
      const cases = createProviderConformance(factory);
      expect(cases).toContainEqual(expect.objectContaining(caughtBy));
      const outcomes = (await Promise.all(cases.map((one) => runConformance([one])))).flat();
      const broken = outcomes.flatMap(({ verdict, case: { name } }) => (verdict === "broken" ? [name] : []));
      expect(broken.toSorted()).toEqual([caughtBy.name, ...alsoBreaks].toSorted());
    },
    20_000,
  );

  it("has a wrong provider for every promise, and promises of one name only once", () => {
    const names = createProviderConformance(providerWith("right")).map(({ name }) => name);
    expect(new Set(WRONG_PROVIDERS.map(({ caughtBy }) => caughtBy.name))).toEqual(new Set(names));
    expect(new Set(names).size).toBe(names.length);
  });

  it("skips what is not declared, with the reason", () => {
    const factory = { ...providerWith("plain"), capabilities: {} };
    const skipped = createProviderConformance(factory).flatMap(({ skip }) => (skip ? [skip] : []));
    expect(skipped).toContain("plain does not declare bill and failures");
    expect(skipped.length).toBeGreaterThan(8);
  });
});
