/** Counting is honest: what was not cut without doubt is not covered, and every run is in exactly one column. */
import { describe, expect, it } from "vitest";
import type { CutRef } from "../faults/index.ts";
import { collect, groupResultOf } from "./collect.ts";
import type { Judgement } from "./result.ts";
import { GroupTally } from "./tally.ts";

const cut = (label: string, position: CutRef["position"], bytesWritten?: number): CutRef =>
  bytesWritten === undefined
    ? { label, occurrence: 1, position }
    : { label, occurrence: 1, position, bytesWritten };
const survived: Judgement = { id: "crash/s/m/c#1:before", violations: [] };
const broken: Judgement = {
  ...survived,
  violations: [{ checker: "recovery", signature: "refused:Error", message: "the run ended with Error" }],
};
const doubtful: Judgement = { ...survived, inconclusive: { signature: "stalled", message: "stood still" } };
const head = {
  version: "1.2.3",
  seed: 5,
  command: "npx crashproof",
  elapsedMs: 1500,
  kills: undefined,
  skipped: [{ scenario: "s", subject: "m", reason: "why" }],
  checkersOff: ["a"],
  notReached: [],
};

function tally(kind: GroupTally["kind"] = "crash", checkersOff: readonly string[] = []): GroupTally {
  return new GroupTally(kind, "s", "m", checkersOff);
}

describe("a group", () => {
  it("puts every run into exactly one column", () => {
    const group = tally();
    for (const judgement of [survived, broken, doubtful, { ...broken, ...doubtful, ...broken }]) {
      group.judged(judgement);
    }
    expect(groupResultOf(group.record)).toMatchObject({ runs: 4, survived: 1, violated: 2, inconclusive: 1 });
  });

  it("covers a boundary that survived or was broken, and not one in doubt", () => {
    const group = tally();
    for (const label of ["a", "b", "c", "d"]) group.saw(cut(label, "before"));
    group.judged(survived, [cut("a", "before")]);
    group.judged(broken, [cut("b", "before")]);
    group.judged(doubtful, [cut("c", "before")]);
    expect(group.boundaries.total).toHaveLength(4);
    expect(group.boundaries.covered).toEqual(["a#1:before", "b#1:before"]);
  });

  it("does not cover a boundary of which one run is in doubt, whatever the others say", () => {
    const group = tally();
    group.saw(cut("a", "before"));
    for (const judgement of [survived, doubtful, survived]) group.judged(judgement, [cut("a", "before")]);
    expect(group.boundaries.covered).toEqual([]);
  });

  it("takes a commit that is torn at several bytes for one boundary", () => {
    const group = tally();
    for (const bytes of [4096, 8192]) {
      group.saw(cut("a", "inside", bytes));
      group.judged(survived, [cut("a", "inside", bytes)]);
    }
    expect(group.boundaries).toEqual({ total: ["a#1:inside"], covered: ["a#1:inside"] });
    expect(groupResultOf(group.record).runs).toBe(2);
  });

  it("counts a row as cut only when it was cut before and after", () => {
    const group = tally();
    for (const [label, positions] of [
      ["both", ["before", "after"]],
      ["half", ["before", "inside"]],
    ] as const) {
      for (const position of positions) group.judged(survived, [cut(label, position)]);
    }
    expect(group.rows).toEqual(["both"]);
  });

  it("counts a row as cut where a second death cut it, and its boundary as none of the scenario's", () => {
    const group = tally();
    group.saw(cut("a", "after"));
    for (const position of ["before", "after"] as const) {
      group.judged(survived, [cut("a", "after"), cut("only in recoveries", position)]);
    }
    expect(group.rows).toEqual(["only in recoveries"]);
    expect(group.boundaries.total).toEqual(["a#1:after"]);
    group.judged(doubtful, [cut("a", "after"), cut("only in recoveries", "after")]);
    expect(group.rows).toEqual([]);
  });

  it("does not listen to checkers that are switched off, and to the others it does", () => {
    const group = tally("crash", ["recovery"]);
    group.judged(broken);
    group.judged({
      ...broken,
      violations: [...broken.violations, { checker: "own", signature: "seen", message: "" }],
    });
    expect(groupResultOf(group.record)).toMatchObject({ survived: 1, violated: 1 });
    expect(group.failures.map(({ checker }) => checker)).toEqual(["own"]);
  });

  it("says how fast it was, and nothing where nothing was measured", () => {
    const group = tally();
    group.judged(survived);
    group.judged(survived);
    expect(groupResultOf(group.record).perSecond).toBe(0);
    group.elapsedMs = 500;
    expect(groupResultOf(group.record).perSecond).toBe(4);
  });
});

describe("a failure", () => {
  it("says what broke, where, and the line that repeats it", () => {
    const group = tally();
    group.judged(broken);
    group.judged(doubtful);
    const common = { id: survived.id, repro: "npx crashproof repro 'crash/s/m/c#1:before'" };
    expect(group.failures).toEqual([
      {
        ...common,
        verdict: "violated",
        checker: "recovery",
        signature: "refused:Error",
        message: "the run ended with Error",
      },
      {
        ...common,
        verdict: "inconclusive",
        checker: "explorer",
        signature: "stalled",
        message: "stood still",
      },
    ]);
  });
});

describe("a result", () => {
  it("adds its groups up", () => {
    const [one, other] = [tally(), tally("takeover")];
    one.saw(cut("a", "before"));
    one.judged(survived, [cut("a", "before")]);
    other.saw(cut("a", "before"));
    other.judged(broken, [cut("a", "before")]);
    other.judged(doubtful);
    const result = collect([one.record, other.record], head, new Map([["m", ["a", "b"]]]));
    const { kills: _kills, ...rest } = head;
    expect(result).toMatchObject({ ...rest, schema: "crashproof-result/1" });
    expect(result).not.toHaveProperty("kills");
    const kills = { states: 64, kills: 1 };
    expect(collect([one.record, other.record], { ...head, kills }, new Map())).toMatchObject({ kills });
    expect(result.totals).toEqual({ runs: 3, survived: 1, violated: 1, inconclusive: 1 });
    expect(result.coverage.boundaries).toEqual({ covered: 2, total: 2 });
    expect(result.groups).toEqual([one, other].map(({ record }) => groupResultOf(record)));
    expect(result.failures).toHaveLength(2);
  });

  it("names every expected row that was not cut, by subject, and counts a row over all scenarios", () => {
    const [one, other] = [tally(), tally()];
    for (const [group, label] of [
      [one, "a"],
      [other, "b"],
    ] as const) {
      for (const position of ["before", "after"] as const) group.judged(survived, [cut(label, position)]);
    }
    const { rows } = collect([one.record, other.record], head, new Map([["m", ["a", "b", "c"]]])).coverage;
    expect(rows).toEqual({ covered: 2, total: 3, missing: ["m:c"] });
  });

  it("takes a row for cut by crashes only", () => {
    const group = tally("takeover");
    for (const position of ["before", "after"] as const) group.judged(survived, [cut("a", position)]);
    expect(collect([group.record], head, new Map([["m", ["a"]]])).coverage.rows.missing).toEqual(["m:a"]);
  });
});
