/** Right tools and handlers keep their suites; each wrong one is caught by the promise that its fixture names. */
import { describe, expect, it } from "vitest";
import { rightHooks, WRONG_HOOKS } from "../fixtures/hooks/index.ts";
import { toolWith, WRONG_TOOLS } from "../fixtures/tools/index.ts";
import {
  type ConformanceCase,
  createHookConformance,
  createToolConformance,
  runConformance,
} from "./index.ts";
import { registerConformance } from "./vitest.ts";

const namesOf = (cases: readonly Pick<ConformanceCase, "name">[]) => new Set(cases.map(({ name }) => name));

/** The names of the promises that an implementation breaks. */
async function brokenOf(cases: readonly ConformanceCase[]): Promise<string[]> {
  const outcomes = (await Promise.all(cases.map((one) => runConformance([one])))).flat();
  return outcomes.flatMap(({ verdict, case: { name } }) => (verdict === "broken" ? [name] : [])).toSorted();
}

describe("a right tool", () => {
  registerConformance(createToolConformance(toolWith("right")));
});

describe("right hooks", () => {
  registerConformance(createHookConformance(rightHooks));
});

describe("the tool suite", () => {
  it.concurrent.each(WRONG_TOOLS.map((wrong) => [wrong.factory.name, wrong] as const))(
    "catches one that %s, by the promise that it breaks and no other",
    async (_, { factory, caughtBy }) => {
      expect(await brokenOf(createToolConformance(factory))).toEqual([caughtBy.name]);
    },
    20_000,
  );

  it("has a wrong tool for every promise", () => {
    const names = namesOf(createToolConformance(toolWith("right")));
    expect(namesOf(WRONG_TOOLS.map(({ caughtBy }) => caughtBy))).toEqual(names);
  });
});

describe("the hook suite", () => {
  it.each(WRONG_HOOKS.map((wrong) => [wrong.factory.name, wrong] as const))(
    "catches one that %s, by the promise that it breaks and no other",
    async (_, { factory, caughtBy, alsoBreaks = [] }) => {
      const broken = await brokenOf(createHookConformance(factory));
      expect(broken).toEqual([caughtBy.name, ...alsoBreaks].toSorted());
    },
  );

  it("has wrong hooks for every promise", () => {
    const names = namesOf(createHookConformance(rightHooks));
    expect(namesOf(WRONG_HOOKS.map(({ caughtBy }) => caughtBy))).toEqual(names);
  });
});
