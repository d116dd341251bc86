/** Both orders of a race happen, are proven, and are cut; and every way in which a race can be wrong is found. */
import { describe, expect, it } from "vitest";
import abortVsSettlement from "../../../races/abort-vs-settlement.ts";
import type { Race, TimelineEvent } from "../../faults/index.ts";
import { type Subject, subjectById } from "../../subject/index.ts";
import { explore } from "../explore.ts";
import { plan, scratchHost, sights } from "../testing/explorations.ts";
import { ladder, silentJudge } from "../testing/ladder.ts";
import { judgeHistory } from "./history.ts";

const host = scratchHost();

const memory = subjectById("memory");
if (memory === undefined) throw new Error("there is no subject memory");

const race: Race = abortVsSettlement;
const [abortFirst, responseFirst] = race.orders;

function run(races: readonly Race[], { cuts = false, subject = memory } = {}) {
  return explore(plan([subject ?? ladder()], { scenarios: [], races: { races, cuts } }), host);
}

describe("a race", () => {
  it("is run in both orders, each proven from its timeline and cut at every boundary", async () => {
    const { totals, coverage, groups } = await run([race], { cuts: true });
    expect(groups.map(({ kind, scenario }) => `${kind} ${scenario}`)).toEqual([
      "race abort-vs-settlement/abort-first",
      "race abort-vs-settlement/response-first",
    ]);
    expect(coverage.orders).toEqual({ covered: 2, total: 2 });
    // Seven commits with two positions, one request with three; and the run that nobody cuts.
    expect(groups.map(({ runs }) => runs)).toEqual([2 * 7 + 3 + 1, 2 * 7 + 3 + 1]);
    expect(totals).toMatchObject({ violated: 0, inconclusive: 0 });
    expect(coverage.boundaries).toEqual({ covered: 34, total: 34 });
  });

  it("is in doubt where one store of a family did not recover from a death, and another one did", async () => {
    const lame: Subject = {
      ...memory,
      id: "lame",
      boot: (boot) => {
        const incarnation = memory.boot(boot);
        if (boot.incarnation === 0) return incarnation;
        incarnation.life.catch(() => undefined);
        return { ...incarnation, life: Promise.reject(new Error("lame")) };
      },
    };
    const result = await explore(
      plan([memory, lame], { scenarios: [], races: { races: [race], cuts: true } }),
      host,
    );
    const backends = result.groups.filter(({ kind }) => kind === "backends");
    // In each order the run that nobody cuts agrees, and of no death there is anything to hold against it.
    expect(backends.map(({ survived, inconclusive }) => [survived, inconclusive])).toEqual([
      [1, 17],
      [1, 17],
    ]);
  });

  it("is inconclusive where the order that is asked for does not happen", async () => {
    const late: Race = {
      ...race,
      orders: [{ ...abortFirst, schedule: responseFirst.schedule }, responseFirst],
    };
    const result = await run([late]);
    expect(sights(result)).toEqual([
      "race/abort-vs-settlement/memory/abort-first inconclusive explorer order-not-reached",
    ]);
    expect(result.coverage.orders).toEqual({ covered: 1, total: 2 });
  });

  it("is violated by another history of an order, and by another answer", async () => {
    const swapped: Race = {
      ...race,
      orders: [
        { ...abortFirst, history: responseFirst.history },
        { ...responseFirst, answers: { abort: "NoActiveOperation" } },
      ],
    };
    expect(sights(await run([swapped]))).toEqual([
      "race/abort-vs-settlement/memory/abort-first violated race-history history:abort-first",
      "race/abort-vs-settlement/memory/response-first violated race-history answer:abort",
    ]);
  });

  it("is violated by a recovery that reaches no history of it", async () => {
    const { elsewhere: _, ...narrow } = race;
    const { failures } = await run([narrow], { cuts: true });
    expect(new Set(failures.map(({ signature }) => signature))).toEqual(new Set(["no-legal-history"]));
    expect(failures.map(({ id }) => id)).toContain(
      "race/abort-vs-settlement/memory/abort-first/abort#1:after",
    );
  });

  it("is named with the reason where a subject cannot have it", async () => {
    const { skipped, groups } = await run([race], { subject: ladder() });
    expect(groups).toEqual([]);
    expect(skipped).toEqual([
      {
        scenario: "abort-vs-settlement",
        subject: "ladder",
        reason: "its application makes no calls beside a run",
      },
    ]);
  });
});

describe("a call that was answered before a death", () => {
  const [unmade] = race.elsewhere ?? [];
  const judged = (events: readonly TimelineEvent[]) => {
    const told = judgeHistory(silentJudge(), { story: () => unmade?.history ?? [] }, race, abortFirst);
    for (const event of events) told.observe(event);
    return told.finish({ view: { exact: "", canonical: "" }, rows: [] }).map(({ signature }) => signature);
  };
  const answer: TimelineEvent = { kind: "answer", name: "abort", text: "cancelled" };
  const death: TimelineEvent = { kind: "crash", at: "" };

  it("may not be missing in what recovery reaches; one that was not answered may", () => {
    expect(judged([answer, death])).toEqual(["answered-call-lost"]);
    expect(judged([death])).toEqual([]);
    expect(judged([death, answer])).toEqual([]);
    expect(judged([{ ...answer, text: "NoActiveOperation" }, death])).toEqual([]);
  });
});
