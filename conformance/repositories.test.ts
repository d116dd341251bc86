/** The repositories of this project, held against the contract that they are exported with. */
import { describe, expect, it } from "vitest";
import { jsonlRepositories, memoryRepositories, sqliteRepositories } from "./backends/repositories.ts";
import { createRepositoryConformance } from "./index.ts";
import { registerConformance } from "./vitest.ts";

for (const factory of [memoryRepositories, jsonlRepositories, sqliteRepositories]) {
  describe(factory.name, () => registerConformance(createRepositoryConformance(factory)));
}

describe("the repository suite", () => {
  it("names every promise once", () => {
    const names = createRepositoryConformance(memoryRepositories).map(
      ({ group, name }) => `${group}: ${name}`,
    );
    expect(new Set(names).size).toBe(names.length);
  });
});
