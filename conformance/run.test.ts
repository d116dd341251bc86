import { describe, expect, it } from "vitest";
import { type ConformanceCase, runConformance } from "./index.ts";

const one = (name: string, run: () => Promise<void>, skip?: string): ConformanceCase => {
  const it = { group: "g", name, cites: "contract 1", run };
  return skip === undefined ? it : { ...it, skip };
};

describe("runConformance", () => {
  it("runs every case in order, whatever became of the ones before it", async () => {
    const seen: string[] = [];
    const failure = new Error("broken promise");
    const outcomes = await runConformance(
      [
        one("kept", async () => undefined),
        one("broken", () => Promise.reject(failure)),
        one("skipped", () => Promise.reject(new Error("was run")), "not declared"),
        one("kept too", async () => undefined),
      ],
      { onOutcome: (outcome) => seen.push(`${outcome.case.name} ${outcome.verdict}`) },
    );
    expect(seen).toEqual(["kept kept", "broken broken", "skipped skipped", "kept too kept"]);
    expect(outcomes[1]).toMatchObject({ verdict: "broken", error: failure });
    expect(outcomes[2]).toMatchObject({ verdict: "skipped", reason: "not declared" });
  });

  it("calls a case broken that throws before it returns a promise, and one that never settles", async () => {
    const outcomes = await runConformance(
      [
        one("throws", () => {
          throw new Error("at once");
        }),
        one("hangs", () => new Promise(() => undefined)),
      ],
      { timeoutMs: 20 },
    );
    expect(outcomes.map(({ verdict }) => verdict)).toEqual(["broken", "broken"]);
    expect(String((outcomes[1] as { error: unknown }).error)).toContain("has not settled after 20 ms");
  });
});
