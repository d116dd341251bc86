/** An order is proven by marks that stand in it, and by nothing else. */
import { describe, expect, it } from "vitest";
import { firstUnproven, provenCount, type TimelineEvent } from "./index.ts";

const commit = (label: string): TimelineEvent => ({
  kind: "commit",
  boundary: { kind: "commit", label, occurrence: 1 },
  payload: undefined,
});
const events: readonly TimelineEvent[] = [
  { kind: "boot", incarnation: 0 },
  { kind: "call", name: "abort" },
  commit("abort"),
  { kind: "answer", name: "abort", text: "cancelled" },
  { kind: "asked", name: "after_response" },
  commit("generation.settle.aborted"),
];

describe("an order of marks", () => {
  it.each([
    [["call abort", "commit abort", "answer abort cancelled", "commit generation.settle.aborted"]],
    [["boot 0", "answer abort *", "asked after_response", "commit generation.settle*"]],
    [[]],
  ])("is proven by %j", (wanted) => {
    expect(firstUnproven(wanted, events)).toBeUndefined();
    expect(provenCount(wanted, events)).toBe(wanted.length);
  });

  it.each([
    [["commit generation.settle*", "answer abort *"], "answer abort *"],
    [["answer abort NoActiveOperation"], "answer abort NoActiveOperation"],
    [["commit generation"], "commit generation"],
    [["commit abort", "commit abort"], "commit abort"],
  ])("is not proven by %j, which lacks %j", (wanted, missing) => {
    expect(firstUnproven(wanted, events)).toBe(missing);
  });
});
