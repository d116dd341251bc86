/** The suite can fail: each deliberately wrong store is caught, by the case that its description names. */
import { describe, expect, it } from "vitest";
import { WRONG_STORES } from "../fixtures/stores/index.ts";
import { memoryBackend } from "./backends/memory.ts";
import { createStorageConformance, runConformance } from "./index.ts";

describe("the storage suite", () => {
  it.each(WRONG_STORES.map((store) => [store.name, store] as const))("catches %s", async (_, store) => {
    const { group, name } = store.caughtBy;
    const cases = createStorageConformance(store.factory).filter(
      (one) => one.group === group && one.name === name,
    );
    const outcomes = await runConformance(cases);
    expect(outcomes.map(({ verdict }) => verdict)).toEqual(["broken"]);
  });

  it("has a wrong store for every group", () => {
    const groups = new Set(createStorageConformance(memoryBackend).map(({ group }) => group));
    expect(new Set(WRONG_STORES.map(({ caughtBy }) => caughtBy.group))).toEqual(groups);
  });

  it("breaks nothing by the way in which wrong stores are made", async () => {
    // The same wrapper without an override is a right store.
    const { wrongStore } = await import("../fixtures/stores/wrong-store.ts");
    const right = wrongStore(
      { name: "right", does: "Nothing wrong.", caughtBy: { group: "", name: "" } },
      () => ({}),
    );
    const outcomes = await runConformance(createStorageConformance(right.factory));
    expect(outcomes.filter(({ verdict }) => verdict === "broken")).toEqual([]);
    expect(outcomes.filter(({ verdict }) => verdict === "kept").length).toBeGreaterThan(200);
  });
});
