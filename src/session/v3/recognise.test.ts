import { describe, expect, it } from "vitest";
import { recognise } from "./recognise.ts";
import { file, fixture, HEADER } from "./test-support.ts";

describe("recognising", () => {
  it("tells what a file is from its first object", () => {
    expect(recognise(fixture("v3-damaged"))).toEqual({ kind: "legacy", version: 3, id: "dam-1" });
    expect(recognise(fixture("v2-hook-message"))).toMatchObject({ version: 2 });
    expect(recognise(fixture("v1-linear"))).toMatchObject({ version: 1, id: "one-1" });
    expect(recognise(fixture("version-0-open"))).toEqual({
      kind: "format4",
      id: "version-0-open",
      storageVersion: 0,
    });
    expect(recognise(file({ ...HEADER, version: 9 }))).toEqual({
      kind: "unknown_version",
      version: 9,
      id: "s",
    });
    expect(recognise(Buffer.alloc(0))).toEqual({ kind: "empty" });
    for (const other of ["[]\n", "hello", '{"type":"session"}', '{"a":1}', "\u0000\u0000"]) {
      expect(recognise(Buffer.from(other)).kind).toBe("other");
    }
    expect(recognise(fixture("v3-application").subarray(0, 200)).kind).toBe("legacy");
  });
});
