/** A fault fires at its call and says so, counts without failing, and leaves aside what is asked aside. */
import { describe, expect, it } from "vitest";
import { MediumFault, type MediumFaultKind } from "./medium-fault.ts";

const KIND: MediumFaultKind = {
  name: "write-eio",
  calls: ["write", "append"],
  lives: ["first"],
  outcome: { kind: "throws", code: "EIO", after: "nothing" },
};

const outcomes = (fault: MediumFault, ...calls: string[]) => calls.map((call) => fault.next(call)?.kind);

describe("a fault of a medium", () => {
  it("fires at the call that it names, counted over all calls of its kind, and once", () => {
    const fault = new MediumFault(KIND, "first", 2, false);
    expect(outcomes(fault, "write", "read", "append", "write")).toEqual([
      undefined,
      undefined,
      "throws",
      undefined,
    ]);
    expect([fault.hasFired, fault.callCount]).toEqual([true, 3]);
  });

  it("goes on from there, if it lasts", () => {
    const fault = new MediumFault(KIND, "first", 2, true);
    expect(outcomes(fault, "write", "write", "append")).toEqual([undefined, "throws", "throws"]);
  });

  it("has not fired where its call was not reached, and only counts with call 0", () => {
    const late = new MediumFault(KIND, "first", 9, true);
    const never = new MediumFault(KIND, "first", 0, true);
    for (const fault of [late, never]) {
      expect(outcomes(fault, "write", "write")).toEqual([undefined, undefined]);
      expect([fault.hasFired, fault.callCount]).toEqual([false, 2]);
    }
  });

  it("is not met by what is asked aside", () => {
    const fault = new MediumFault(KIND, "first", 1, true);
    expect(fault.aside(() => outcomes(fault, "write"))).toEqual([undefined]);
    expect([fault.hasFired, fault.callCount]).toEqual([false, 0]);
    expect(() =>
      fault.aside(() => {
        throw new Error("asked in vain");
      }),
    ).toThrow("in vain");
    expect(outcomes(fault, "write")).toEqual(["throws"]);
  });
});
