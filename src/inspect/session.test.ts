/** Every state that a history goes through is restorable, and a forecast can be made and worded for it. */
import { describe, expect, it } from "vitest";
import { StoreModel } from "../checkers/store-model.ts";
import { dumpOf } from "../checkers/stored-state.ts";
import { HISTORIES } from "../checkers/testing/histories.ts";
import { sessionFinding } from "./session.ts";

describe("a stored session", () => {
  it.each(Object.keys(HISTORIES))("is described after each commit of %s", (name) => {
    const model = StoreModel.fresh();
    for (const event of HISTORIES[name]?.().events ?? []) {
      model.observe(event);
      if (event.kind !== "commit") continue;
      const finding = sessionFinding(dumpOf(model), { nowMs: 1_800_000_000_000, hasLedger: true });
      expect(finding.violations).toEqual([]);
      for (const lane of finding.lanes) {
        const isOpen = model.value("lane.state", lane.name)?.currentOperationId !== null;
        expect([lane.name, lane.operation !== undefined]).toEqual([lane.name, isOpen]);
        if (lane.operation === undefined || lane.refusal !== undefined) continue;
        expect(lane.operation.phase).not.toMatch(/undefined|\[object/);
        expect(lane.operation.next?.says).toMatch(/^[a-z]/);
        expect(lane.operation.next?.says).not.toMatch(/undefined|\[object/);
      }
    }
  });

  it("is refused for nothing that a harness restores: no history has a lane that is", () => {
    const refused = Object.keys(HISTORIES).flatMap((name) => {
      const model = StoreModel.fresh();
      const reasons = new Set<string>();
      for (const event of HISTORIES[name]?.().events ?? []) {
        model.observe(event);
        if (event.kind !== "commit") continue;
        const { lanes } = sessionFinding(dumpOf(model), { nowMs: 0, hasLedger: true });
        for (const { refusal } of lanes) if (refusal !== undefined) reasons.add(refusal.reason);
      }
      return [...reasons].map((reason) => `${name}: ${reason}`);
    });
    expect(refused).toEqual([]);
  });
});
