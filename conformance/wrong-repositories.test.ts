/** The repository suite can fail: each deliberately wrong one is caught, by the case that its description names. */
import { describe, expect, it } from "vitest";
import { WRONG_REPOSITORIES, wrongRepository } from "../fixtures/repositories/index.ts";
import { memoryRepositories } from "./backends/repositories.ts";
import { createRepositoryConformance, runConformance } from "./index.ts";

describe("the repository suite", () => {
  it.each(WRONG_REPOSITORIES.map((wrong) => [wrong.name, wrong] as const))(
    "catches one that %s",
    async (_, wrong) => {
      const { group, name } = wrong.caughtBy;
      const cases = createRepositoryConformance(wrong.factory).filter(
        (one) => one.group === group && one.name === name,
      );
      const outcomes = await runConformance(cases);
      expect(outcomes.map(({ verdict }) => verdict)).toEqual(["broken"]);
    },
  );

  it("has a wrong repository for every group", () => {
    const cases = createRepositoryConformance(memoryRepositories).filter(({ skip }) => skip === undefined);
    const groups = new Set(cases.map(({ group }) => group));
    expect(new Set(WRONG_REPOSITORIES.map(({ caughtBy }) => caughtBy.group))).toEqual(groups);
  });

  it("breaks nothing by the way in which wrong ones are made", async () => {
    const description = { name: "right", does: "Nothing wrong.", caughtBy: { group: "", name: "" } };
    const { factory } = wrongRepository(description, () => ({}));
    const outcomes = await runConformance(createRepositoryConformance(factory));
    expect(outcomes.filter(({ verdict }) => verdict === "broken")).toEqual([]);
    expect(outcomes.filter(({ verdict }) => verdict === "kept").length).toBeGreaterThan(30);
  });
});
