/** A world that misbehaves: right systems take it for what it is, each fault fires, and a failure is made again by its id. */
import { describe, expect, it } from "vitest";
import { scenarioByName } from "../../../scenarios/index.ts";
import type { Scenario, WorldFaultKind } from "../../faults/index.ts";
import { type Subject, subjectById } from "../../subject/index.ts";
import { explore } from "../explore.ts";
import { overallVerdict } from "../result.ts";
import { plan, repeat, scratchHost } from "../testing/explorations.ts";
import type { WorldFaultsPlan } from "./world-faults.ts";

const host = scratchHost();

const scenario = (name: string) => scenarioByName(name) as Scenario;
const named = (id: string) => subjectById(id) as Subject;

function look(
  subject: Subject,
  worldFaults: Partial<WorldFaultsPlan> = {},
  of: Scenario = scenario("two-tools"),
) {
  const faults = { occurrences: 1, deaths: 0, ...worldFaults };
  return explore(plan([subject], { scenarios: [of], cuts: false, worldFaults: faults }), host);
}

function again(text: string, subject: Subject, of = scenario("two-tools")) {
  return repeat(text, { scenario: of, subjects: [subject] }, host);
}

const signatures = ({ failures }: Awaited<ReturnType<typeof look>>) =>
  failures.map(({ checker, signature }) => `${checker} ${signature}`);

describe("a world that misbehaves", () => {
  it.each([
    ["memory", 1],
    ["txlog", 3],
  ] as const)("breaks no promise of %s, in any way, nor when it dies afterwards", async (id, deaths) => {
    const result = await look(named(id), { deaths });
    expect(result.failures).toEqual([]);
    expect(overallVerdict(result)).toBe("survived");
    const { faults } = result.coverage;
    expect(faults).toMatchObject({ covered: faults?.total });
    // Each kind has a place in this scenario.
    expect(faults?.total).toBeGreaterThanOrEqual(named(id).worldFaults?.length ?? 0);
    expect(result.groups).toMatchObject([{ kind: "world-faults", runs: faults?.total }]);
  });

  it.each([
    ["deferred-ready", "reply-malformed.handle-of-nothing"],
    ["navigate-summary", "stream-throws"],
    ["compact-by-hook", "hook-throws"],
    ["parallel-tools", "tool-returns.throwing-member"],
  ])("breaks none where answers are polled, summarized, hooked and billed: %s, %s", async (name, kind) => {
    const result = await look(named("memory"), { kinds: [kind], occurrences: 3, deaths: 1 }, scenario(name));
    expect(result.failures).toEqual([]);
    expect(result.coverage.faults?.total).toBeGreaterThan(1);
  });

  it.each(["jsonl", "sqlite"])("breaks none of %s where it dies afterwards", async (id) => {
    const kinds = ["stream-ends", "tool-returns.cycle", "clock-back", "other-answer-after-restart"];
    const result = await look(named(id), { kinds, deaths: 2 });
    expect(result.failures).toEqual([]);
    expect(result.coverage.fired?.map(({ fired }) => fired > 0)).toEqual(Array(4).fill(true));
  });

  it("goes on to the last occurrence, and no further", async () => {
    const subject = named("memory");
    const kind = (subject.worldFaults ?? []).find(({ name }) => name === "listener-throws") as WorldFaultKind;
    const of = scenario("one-turn");
    const { coverage } = await look(subject, { kinds: [kind.name], occurrences: "every" }, of);
    const count = coverage.faults?.total ?? 0;
    expect(count).toBeGreaterThan(10);
    const last = await again(`world-fault/one-turn/memory/${kind.name}@${count}`, subject, of);
    expect(last.judgement.inconclusive).toBeUndefined();
    const beyond = await again(`world-fault/one-turn/memory/${kind.name}@${count + 1}`, subject, of);
    expect(beyond.judgement.inconclusive).toMatchObject({ signature: "fault-not-fired" });
  });

  it("counts a limit where the size of a context is measured by a clock that stepped", async () => {
    const of = scenario("compact-by-hook");
    const { limits, totals } = await look(
      named("memory"),
      { kinds: ["clock-back"], occurrences: "every" },
      of,
    );
    expect(totals).toMatchObject({ violated: 0, inconclusive: 0 });
    expect(limits).toMatchObject([{ signature: "context measured by a clock that stepped" }]);
  });
});

describe("a fault that does not fire", () => {
  const deaf = (changed: (boot: Parameters<Subject["boot"]>[0]) => object): Subject => ({
    ...named("memory"),
    boot: (boot) => named("memory").boot({ ...boot, ...changed(boot) } as typeof boot),
  });

  it("is a doubt where a subject does not heed a disturbance", async () => {
    const subject = deaf(() => ({ disturbance: undefined }));
    const result = await look(subject, { kinds: ["hook-throws", "listener-throws", "clock-back"] });
    expect(signatures(result)).toEqual(Array(3).fill("explorer fault-not-fired"));
    expect(overallVerdict(result)).toBe("inconclusive");
  });

  it("is a doubt where a subject does not heed the scenario", async () => {
    const subject = deaf(() => ({ scenario: scenario("two-tools") }));
    const result = await look(subject, { kinds: ["tool-hook-throws"] });
    expect(signatures(result)).toEqual(["explorer fault-not-fired"]);
  });

  it("is a doubt where already the run to which nothing is done does not come to its end", async () => {
    const broken: Subject = { ...named("memory"), view: () => Promise.reject(new Error("gone")) };
    expect(signatures(await look(broken))).toEqual(["explorer nothing-to-damage"]);
  });
});

describe("a run in a world that misbehaves", () => {
  it("is broken where it dies before another answer, and what it left cannot be read", async () => {
    let viewCount = 0;
    const broken: Subject = {
      ...named("memory"),
      // The run to which nothing is done, and the one that is answered otherwise from the beginning.
      view: (disk, reading) =>
        ++viewCount > 2 ? Promise.reject(new Error("gone")) : named("memory").view(disk, reading),
    };
    const kinds = ["other-answer-after-restart"];
    const seen = signatures(await look(broken, { kinds, occurrences: 1, deaths: 1 }));
    expect(new Set(seen)).toEqual(new Set(["recovery unreadable:Error"]));
  });

  it("is made again by its id, with the fault in its timeline, and with the death after it", async () => {
    const text = "world-fault/two-tools/memory/reply-malformed.null@2";
    const { judgement, events } = await again(text, named("memory"));
    expect(judgement).toEqual({ id: text, violations: [] });
    expect(events.filter(({ kind }) => kind === "fault")).toEqual([
      { kind: "fault", name: "reply malformed: null" },
    ]);
    const dead = await again("world-fault/two-tools/jsonl/tool-hangs@1+tool.settle#1:before", named("jsonl"));
    expect(dead.judgement.violations).toEqual([]);
    expect(dead.events.map(({ kind }) => kind)).toContain("crash");
  });

  it.each(["reply-hangs@99", "none-such@1", "hook-throws@1+nonsense", "reply-hangs@0"])(
    "is inconclusive where there is none such: %s",
    async (fault) => {
      const { judgement } = await again(`world-fault/two-tools/memory/${fault}`, named("memory"));
      expect(judgement.inconclusive).toBeDefined();
    },
  );
});
