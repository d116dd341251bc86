/** A right provider keeps the whole suite, and so does the scripted one of the subjects; each wrong one is caught. */
import { describe, expect, it } from "vitest";
import { WRONG_PROVIDERS } from "../fixtures/providers/index.ts";
import { providerWith } from "../fixtures/providers/right-provider.ts";
import { createProviderConformance, runConformance } from "./index.ts";
import { registerConformance } from "./vitest.ts";

describe("a right provider", () => {
  registerConformance(createProviderConformance(providerWith("right")));
});

describe("the provider suite", () => {
  it.each(WRONG_PROVIDERS.map((wrong) => [wrong.factory.name, wrong] as const))(
    "catches one that %s",
    async (_, { factory, caughtBy }) => {
      const cases = createProviderConformance(factory).filter(
        ({ group, name }) => group === caughtBy.group && name === caughtBy.name,
      );
      expect((await runConformance(cases)).map(({ verdict }) => verdict)).toEqual(["broken"]);
    },
    10_000,
  );

  it("has a wrong provider for every group, and promises of one name only once", () => {
    const cases = createProviderConformance(providerWith("right"));
    expect(new Set(WRONG_PROVIDERS.map(({ caughtBy }) => caughtBy.group))).toEqual(
      new Set(cases.map(({ group }) => group)),
    );
    expect(new Set(cases.map(({ group, name }) => `${group}: ${name}`)).size).toBe(cases.length);
  });

  it("skips what is not declared, with the reason", () => {
    const factory = { ...providerWith("plain"), capabilities: {} };
    const skipped = createProviderConformance(factory).flatMap(({ skip }) => (skip ? [skip] : []));
    expect(skipped).toContain("plain does not declare bill and failures");
    expect(skipped.length).toBeGreaterThan(8);
  });
});
