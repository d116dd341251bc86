import { describe, expect, it } from "vitest";
import { absurd, err, isErr, isOk, ok, type Result, TaggedError } from "./index.ts";

class LaneBusy extends TaggedError("LaneBusy")<{ lane: string; operationId: string }>() {}
class Closed extends TaggedError("Closed")() {}

describe("Result", () => {
  it("carries a value or an error, and narrows to either", () => {
    const results: Result<number, string>[] = [ok(7), err("busy")];
    expect(results.map((result) => (isOk(result) ? result.value : result.error))).toEqual([7, "busy"]);
    expect(results.map((result) => isErr(result))).toEqual([false, true]);
    expect(ok(undefined)).toEqual({ ok: true, value: undefined });
  });
});

describe("TaggedError", () => {
  const busy = new LaneBusy({ message: "main is busy", lane: "main", operationId: "op_1" });

  it("is an Error named by its tag, with its fields on itself", () => {
    expect(busy).toBeInstanceOf(Error);
    expect(busy).toBeInstanceOf(LaneBusy);
    expect({ name: busy.name, tag: busy._tag, message: busy.message }).toEqual({
      name: "LaneBusy",
      tag: "LaneBusy",
      message: "main is busy",
    });
    expect([busy.lane, busy.operationId]).toEqual(["main", "op_1"]);
    expect(busy.stack).toContain("main is busy");
    expect(LaneBusy.tag).toBe("LaneBusy");
  });

  it("turns into its tag, its message and its fields as JSON, and into nothing else", () => {
    expect(JSON.parse(JSON.stringify(busy))).toEqual({
      _tag: "LaneBusy",
      message: "main is busy",
      lane: "main",
      operationId: "op_1",
    });
    expect(new Closed({ message: "closed" }).toJSON()).toEqual({ _tag: "Closed", message: "closed" });
  });

  it("knows its own, also across copies of the package, and no other", () => {
    class SameTagElsewhere extends TaggedError("LaneBusy")<{ lane: string; operationId: string }>() {}
    expect(LaneBusy.is(busy)).toBe(true);
    expect(
      LaneBusy.is(new SameTagElsewhere({ message: "of another copy", lane: "a", operationId: "b" })),
    ).toBe(true);
    const strangers = [
      new Closed({ message: "closed" }),
      new Error("LaneBusy"),
      { _tag: "LaneBusy" },
      undefined,
    ];
    expect(strangers.map((stranger) => LaneBusy.is(stranger))).toEqual([false, false, false, false]);
  });
});

describe("absurd", () => {
  it("throws, naming what should have been impossible and the value", () => {
    const impossible = { kind: "surprise" } as never;
    expect(() => absurd(impossible, "phase")).toThrow('unreachable phase: {"kind":"surprise"}');
  });
});
