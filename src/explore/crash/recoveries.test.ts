/** Sharing a recovery changes no verdict, is counted, and is never believed without a sample that is executed. */
import { describe, expect, it } from "vitest";
import type { WorldRow } from "../../faults/index.ts";
import type { Subject } from "../../subject/index.ts";
import { exploreLadders, sights } from "../testing/explorations.ts";
import { ladder } from "../testing/ladder.ts";
import { type Imprint, isSame } from "./death.ts";

describe("deaths that left the very same", () => {
  it("share one recovery, and each has its own verdict", async () => {
    const { recoveries, totals, coverage } = await exploreLadders([ladder()]);
    // What two rungs can leave: nothing; a request; a rung; a second request; both rungs. Of ten deaths five are like
    // one before them, and the first of those is repeated.
    expect(recoveries).toEqual({ deaths: 10, executed: 6, repeated: 1 });
    expect(totals).toMatchObject({ runs: 11, survived: 11 });
    expect(coverage.boundaries).toEqual({ covered: 10, total: 10 });
  });

  it("are recovered from one by one if the plan says so, with the same verdicts", async () => {
    const shared = await exploreLadders([ladder()], { depth: 2 });
    const each = await exploreLadders([ladder()], { depth: 2, recoverEach: true });
    expect(each.recoveries).toEqual({ deaths: 75, executed: 75, repeated: 0 });
    expect(shared.recoveries.deaths).toBe(75);
    expect(shared.recoveries.executed).toBeLessThan(60);
    expect({ ...shared.totals, coverage: shared.coverage }).toEqual({
      ...each.totals,
      coverage: each.coverage,
    });
  });

  it("are asked one by one what is demanded there", async () => {
    const subject = ladder({
      expect: async ({ cut, uninterrupted }) => ({
        canonical: cut.position === "inside" ? '{"rungs":"none"}' : uninterrupted.canonical,
        demands: [],
      }),
    });
    expect(sights(await exploreLadders([subject]))).toEqual([
      "crash/climb/ladder/provider.request#1:inside violated recovery-equality differs:/rungs",
      "crash/climb/ladder/provider.request#2:inside violated recovery-equality differs:/rungs",
    ]);
  });
});

describe("a death like no other", () => {
  it("is one whose recovery was found broken: every like of it is recovered from by itself", async () => {
    let lives = 0;
    const subject = ladder({
      beforeRung: ({ incarnation }, rung) => {
        if (incarnation === 1 && rung === 1) lives++;
        return incarnation === 1 && rung === 1 ? Promise.reject(new Error("gone")) : undefined;
      },
    });
    const { recoveries, totals } = await exploreLadders([subject]);
    // After the first rung nobody gets on, and before it nobody gets that far.
    expect([recoveries, totals.violated, lives]).toEqual([{ deaths: 10, executed: 10, repeated: 0 }, 9, 9]);
  });

  it("is one on a disk that cannot be compared", async () => {
    const { recoveries } = await exploreLadders([withoutImprint(ladder())]);
    expect(recoveries).toEqual({ deaths: 10, executed: 10, repeated: 0 });
  });

  const row: WorldRow = { kind: "request", turn: 0, ask: 1, usage: { input: 1, output: 1 } };
  const left: Imprint = { disk: ["a"], rows: [row], nowMs: 5, downtimes: [], events: [] };
  it.each<Partial<Imprint>>([
    { disk: ["b"] },
    { disk: ["a", "a"] },
    { disk: [] },
    { rows: [] },
    { rows: [row, row] },
    { nowMs: 6 },
    { downtimes: [{ atMs: 1, durationMs: 1 }] },
    { events: [{ kind: "boot", incarnation: 0 }] },
  ])("is one whose imprint has another %o", (other) => {
    expect(isSame(left, { ...left, disk: ["a"], rows: [row], events: [] })).toBe(true);
    expect(isSame(left, { ...left, ...other })).toBe(false);
  });
});

describe("a recovery that depends on something undeclared", () => {
  it("is found by the sample that is executed again", async () => {
    let boots = 0;
    const subject = ladder({
      word: ({ incarnation }, rung, word) => (incarnation > 0 && rung === 0 ? `${word} ${boots++}` : word),
      expect: async ({ atCut }) => ({ canonical: (await atCut()).canonical, demands: [] }),
    });
    const seen = sights(await exploreLadders([subject]));
    expect(seen).toContain(
      "crash/climb/ladder/provider.request#1:after violated determinism recovery-differs",
    );
  });
});

/** A subject whose disks say nothing of what is on them. */
function withoutImprint(subject: Subject): Subject {
  return {
    ...subject,
    provision: async (options) => hidden(await subject.provision(options)),
  };
}

function hidden(disk: Awaited<ReturnType<Subject["provision"]>>): typeof disk {
  const { fork } = disk;
  return Object.assign(disk, {
    imprint: () => undefined,
    fork: (folder: string) => fork.call(disk, folder),
  });
}
