/** Every interleaving within a bound is tried once, states are merged, and what is wrong in one of them is found and repeated. */
import { describe, expect, it } from "vitest";
import abortVsAbort from "../../../races/abort-vs-abort.ts";
import abortVsSettlement from "../../../races/abort-vs-settlement.ts";
import { type Race, unscheduled } from "../../faults/index.ts";
import { subjectById } from "../../subject/index.ts";
import { explore } from "../explore.ts";
import type { ExploreResult } from "../result.ts";
import { plan, repeat, scratchHost } from "../testing/explorations.ts";

const host = scratchHost();

const memory = subjectById("memory");
if (memory === undefined) throw new Error("there is no subject memory");
const subjects = [memory];

function run(race: Race, { preemptions = 2, randomRuns = 0, runsMax = 1_000, of = subjects } = {}) {
  const races = { races: [race], cuts: false, interleavings: { preemptions, randomRuns, runsMax } };
  return explore(plan(of, { scenarios: [], races }), host);
}

const explored = ({ groups }: ExploreResult) =>
  groups.find(({ interleavings }) => interleavings !== undefined);

describe("the interleavings of one call with a run", () => {
  it("have it in every place, once with each bound, and both orders are among them", async () => {
    const result = await run(abortVsSettlement);
    expect(result.totals).toMatchObject({ violated: 0, inconclusive: 0 });
    expect(result.coverage.orders).toEqual({ covered: 4, total: 4 });
    const again = await run(abortVsSettlement);
    expect(explored(again)?.interleavings).toEqual(explored(result)?.interleavings);
    expect(explored(again)?.runs).toBe(explored(result)?.runs);
  });

  it("are as many as there are places, where the call may interrupt the run once and nothing may interrupt the call", async () => {
    // Before the prompt, its acceptance, the start, the intent, the request, its answer, the end; and after the end.
    const result = await run(abortVsSettlement, { preemptions: 1 });
    expect(explored(result)).toMatchObject({ survived: 8, inconclusive: 1 });
    // A request that is under way goes on before the call only if the call is interrupted too.
    expect(result.failures).toMatchObject([
      { message: expect.stringContaining("abort-first happened in no") },
    ]);
  });

  it("are one where nobody may be interrupted: the call comes when the run has ended", async () => {
    const result = await run(abortVsSettlement, { preemptions: 0 });
    expect(explored(result)).toMatchObject({ runs: 2 + 1, survived: 1, inconclusive: 2 });
    const signatures = result.failures.map(({ signature }) => signature);
    expect(signatures).toEqual(["order-not-covered", "order-not-covered"]);
  });

  it("are all executed, and broken, where what is durable cannot be read", async () => {
    const unreadable = { ...memory, view: () => Promise.reject(new Error("gone")) };
    const { groups, failures } = await run(abortVsSettlement, { preemptions: 1, of: [unreadable] });
    const found = groups.find(({ interleavings }) => interleavings !== undefined);
    expect(found).toMatchObject({ violated: 8, interleavings: { merged: 0 } });
    expect(failures.map(({ signature }) => signature)).toContain("unreadable:Error");
  });

  it("are sampled with random priorities beyond the bound, the same ones for the same seed", async () => {
    const [first, second] = [
      await run(abortVsAbort, { preemptions: 0, randomRuns: 8 }),
      await run(abortVsAbort, { preemptions: 0, randomRuns: 8 }),
    ];
    expect(explored(first)?.runs).toBeGreaterThanOrEqual(9);
    expect(first.failures).toEqual(second.failures);
  });

  it("are inconclusive where there are more than may be run", async () => {
    const { failures } = await run(abortVsAbort, { runsMax: 3 });
    expect(failures.map(({ signature }) => signature)).toContain("runs-capped");
  });
});

describe("the interleavings of two calls", () => {
  it("meet in states that are known, and each of those is gone on from once", async () => {
    const result = await run(abortVsAbort);
    const { interleavings } = explored(result) ?? {};
    expect(result.totals).toMatchObject({ violated: 0, inconclusive: 0 });
    expect(interleavings?.merged).toBeGreaterThan(0);
    expect(interleavings?.transitions).toBeGreaterThan(interleavings?.states ?? 0);
  });
});

describe("an interleaving that leaves no legal history", () => {
  it("is found, and its id repeats it", async () => {
    const { elsewhere: _, ...narrow } = abortVsSettlement as Race;
    const { failures } = await run(narrow);
    const [failure] = failures.filter(({ signature }) => signature === "no-legal-history");
    const text = failure?.id ?? "";
    expect(text).toMatch(/^race\/abort-vs-settlement\/memory\/steps@[\d.]+$/);
    const parts = { scenario: unscheduled(narrow), subjects, race: narrow };
    const { judgement, events } = await repeat(text, parts, host);
    expect(judgement).toMatchObject({ id: text, violations: [{ signature: "no-legal-history" }] });
    expect(events.map(({ kind }) => kind)).toContain("call");
  });
});
