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

const named = (cases: readonly ConformanceCase[], wanted: Pick<ConformanceCase, "group" | "name">) =>
  cases.filter(({ group, name }) => group === wanted.group && name === wanted.name);
const groupsOf = (cases: readonly Pick<ConformanceCase, "group">[]) =>
  new Set(cases.map(({ group }) => group));

describe("a right tool", () => {
  registerConformance(createToolConformance(toolWith("right")));
});

describe("right hooks", () => {
  registerConformance(createHookConformance(rightHooks));
});

describe("the tool suite", () => {
  it.each(WRONG_TOOLS.map((wrong) => [wrong.factory.name, wrong] as const))(
    "catches one that %s",
    async (_, { factory, caughtBy }) => {
      const outcomes = await runConformance(named(createToolConformance(factory), caughtBy));
      expect(outcomes.map(({ verdict }) => verdict)).toEqual(["broken"]);
    },
    10_000,
  );

  it("has a wrong tool for every group", () => {
    const groups = groupsOf(createToolConformance(toolWith("right")));
    expect(groupsOf(WRONG_TOOLS.map(({ caughtBy }) => caughtBy))).toEqual(groups);
  });
});

describe("the hook suite", () => {
  it.each(WRONG_HOOKS.map((wrong) => [wrong.factory.name, wrong] as const))(
    "catches one that %s",
    async (_, { factory, caughtBy }) => {
      const outcomes = await runConformance(named(createHookConformance(factory), caughtBy));
      expect(outcomes.map(({ verdict }) => verdict)).toEqual(["broken"]);
    },
  );

  it("has wrong hooks for every group", () => {
    const groups = groupsOf(createHookConformance(rightHooks));
    expect(groupsOf(WRONG_HOOKS.map(({ caughtBy }) => caughtBy))).toEqual(groups);
  });
});
