/** The stores of this project, held against the contract that they are exported with. */
import { describe, expect, it } from "vitest";
import { jsonlBackend, jsonlBackendInDoubt } from "./backends/jsonl.ts";
import { memoryBackend } from "./backends/memory.ts";
import { sqliteBackend, sqliteBackendInDoubt } from "./backends/sqlite.ts";
import { createStorageConformance } from "./index.ts";
import { registerConformance } from "./vitest.ts";

for (const factory of [memoryBackend, jsonlBackend, sqliteBackend]) {
  describe(factory.name, () => registerConformance(createStorageConformance(factory)));
}

for (const factory of [jsonlBackendInDoubt, sqliteBackendInDoubt]) {
  describe(factory.name, () => {
    // It differs from the one above in nothing but how a commit fails.
    const cases = createStorageConformance(factory);
    registerConformance(cases.filter(({ group, name }) => group === "failing" && name.includes("fail")));
  });
}

describe("the storage suite", () => {
  const cases = createStorageConformance(memoryBackend);

  it("names every promise once", () => {
    const names = cases.map(({ group, name }) => `${group}: ${name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it("lists what a backend does not declare as skipped, with the reason", () => {
    const bare = { ...memoryBackend, name: "bare", capabilities: { survivesReopen: false } };
    const skipped = createStorageConformance(bare).filter(({ skip }) => skip !== undefined);
    expect(createStorageConformance(bare).length).toBe(cases.length);
    expect(new Set(skipped.map(({ skip }) => skip))).toEqual(
      new Set([
        "bare does not declare survivesReopen",
        "bare does not declare survivesReopen and survivesCrash",
        "bare does not declare survivesReopen and tornTail",
        "bare does not declare survivesReopen and failedCommit",
        "bare does not declare failedCommit",
      ]),
    );
  });
});
