/** A seed and a path are the whole of a case. */
import { expect, it } from "vitest";
import { MIXTURES } from "./arbitrary.ts";
import { caseOf, draw, drawAgain, shrink } from "./cases.ts";
import type { CasePlan } from "./plan.ts";

const SEED = 7;

async function drawn(count: number): Promise<Map<string, CasePlan>> {
  const plans = new Map<string, CasePlan>();
  await draw("one-lane", { seed: SEED, from: 0, count }, async ({ plan, path }) => {
    plans.set(path, plan);
    return "go on";
  });
  return plans;
}

it("draws the same cases from the same seed, each again by its path alone", async () => {
  const plans = await drawn(20);
  expect([...plans.keys()]).toEqual(Array.from({ length: 20 }, (_, index) => String(index)));
  expect(await drawn(20)).toEqual(plans);
  for (const path of ["0", "7", "19"]) {
    expect(await drawAgain("one-lane", SEED, path)).toEqual(plans.get(path));
  }
});

it("draws the same cases in parts", async () => {
  const plans = await drawn(20);
  const paths: string[] = [];
  await draw("one-lane", { seed: SEED, from: 13, count: 4 }, async ({ plan, path }) => {
    paths.push(path);
    expect(plan).toEqual(plans.get(path));
    return "go on";
  });
  expect(paths).toEqual(["13", "14", "15", "16"]);
});

it("stops drawing when it is told to", async () => {
  const paths: string[] = [];
  await draw("one-lane", { seed: SEED, from: 0, count: 100 }, async ({ path }) => {
    paths.push(path);
    return path === "3" ? "enough" : "go on";
  });
  expect(paths).toEqual(["0", "1", "2", "3"]);
});

it("shrinks to the smallest case that still holds, whose path draws it again without shrinking", async () => {
  const path = [...(await drawn(50))].find(([, { faults }]) => faults.length > 2)?.[0] ?? "none";
  const found = await shrink("one-lane", { seed: SEED, path }, async ({ faults }) => faults.length >= 2);
  expect(found?.plan.faults).toHaveLength(2);
  expect(found?.plan.acts).toHaveLength(1);
  expect(found?.path.startsWith(`${path}:`)).toBe(true);
  expect(await drawAgain("one-lane", SEED, found?.path ?? "")).toEqual(found?.plan);
});

it("draws nothing where a path leads nowhere", async () => {
  expect(await drawAgain("one-lane", SEED, "0:0:99999:1")).toBeUndefined();
});

it("does not shrink what does not hold", async () => {
  expect(await shrink("one-lane", { seed: SEED, path: "0" }, async () => false)).toBeUndefined();
});

it.each(MIXTURES)(
  "makes a scenario of each plan of %s in which no text and no call is said twice",
  async (mixture) => {
    await draw(mixture, { seed: SEED, from: 0, count: 100 }, async ({ plan }) => {
      const { scenario } = caseOf(plan, mixture);
      const scripts = [scenario, ...(scenario.lanes ?? [])];
      const texts = scripts.flatMap(({ stimuli, meanwhile = [] }) =>
        [...stimuli, ...meanwhile].flatMap((call) =>
          "text" in call && call.call !== "cancelQueued" ? [call.text] : [],
        ),
      );
      const calls = scripts.flatMap(({ turns }) =>
        turns.flat().flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id)),
      );
      expect(new Set(texts).size).toBe(texts.length);
      expect(new Set(calls).size).toBe(calls.length);
      expect(JSON.parse(JSON.stringify(scenario))).toEqual(scenario);
      return "go on";
    });
  },
);
