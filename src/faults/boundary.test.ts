import { describe, expect, it } from "vitest";
import { BoundaryCounter, boundaryName, cutName } from "./index.ts";

describe("names of boundaries and cuts", () => {
  it("count occurrences by label, from 1", () => {
    const counter = new BoundaryCounter();
    const boundaries = [
      counter.next("commit", "tool.settle"),
      counter.next("effect", "tool.execute"),
      counter.next("commit", "tool.settle"),
    ];
    expect(boundaries.map(boundaryName)).toEqual(["tool.settle#1", "tool.execute#1", "tool.settle#2"]);
    expect(boundaries.map(({ kind }) => kind)).toEqual(["commit", "effect", "commit"]);
  });

  it("say boundary, position, and the bytes that a torn commit left", () => {
    const boundary = { kind: "commit", label: "tool.settle", occurrence: 2 } as const;
    expect([
      cutName({ boundary, position: "before" }),
      cutName({ boundary, position: "after" }),
      cutName({ boundary, position: "inside" }),
      cutName({ boundary, position: "inside", bytesWritten: 0 }),
      cutName({ boundary, position: "inside", bytesWritten: 117 }),
    ]).toEqual([
      "tool.settle#2:before",
      "tool.settle#2:after",
      "tool.settle#2:inside",
      "tool.settle#2:inside@0",
      "tool.settle#2:inside@117",
    ]);
  });
});
