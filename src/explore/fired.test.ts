/** Reached and fired: what was not reached, or did not fire, is never green, whoever was to do it; and all is counted by kind. */
import { describe, expect, it } from "vitest";
import { scenarioByName } from "../../scenarios/index.ts";
import type { Scenario } from "../faults/index.ts";
import { type Subject, subjectById } from "../subject/index.ts";
import { explore } from "./explore.ts";
import { faultKindOf } from "./fired.ts";
import { killTarget } from "./kill/kill.ts";
import { exploreLeases } from "./lease/leases.ts";
import { type ExplorePlan, runContext } from "./plan.ts";
import { type Judgement, overallVerdict } from "./result.ts";
import { exploreLadders, plan, scratchHost, sights } from "./testing/explorations.ts";
import { ladder } from "./testing/ladder.ts";
import { Watchdog } from "./watchdog.ts";

const host = scratchHost();

const named = (id: string) => subjectById(id) as Subject;
const oneTurn = scenarioByName("one-turn") as Scenario;

function look(subject: Subject, looks: Partial<ExplorePlan>) {
  return explore(plan([subject], { scenarios: [oneTurn], cuts: false, ...looks }), host);
}

describe("nothing is green by silence", () => {
  it("where commits of a disk can be torn, and none is", async () => {
    const subject = ladder();
    const whole: Subject = {
      ...subject,
      provision: async (how) => Object.assign(await subject.provision(how), { size: () => 0 }),
    };
    const result = await exploreLadders([whole]);
    expect(sights(result)).toEqual(["walk/climb/ladder inconclusive explorer fault-not-fired"]);
    expect(overallVerdict(result)).toBe("inconclusive");
  });

  it("where a commit that was to be damaged does not come again", async () => {
    let boots = 0;
    const forgetful: Subject = {
      ...named("jsonl"),
      boot: (boot) => {
        boots++;
        return named("jsonl").boot(boot);
      },
      // The commits are surveyed and the run is made before they are visited to be damaged.
      view: (disk, reading) =>
        boots > 2 ? Promise.reject(new Error("gone")) : named("jsonl").view(disk, reading),
    };
    const torn = { places: 1, flips: 0, commitsMax: 2, recoverEach: false };
    const result = await look(forgetful, { torn });
    expect(new Set(result.failures.map(({ signature }) => signature))).toEqual(new Set(["not-reached"]));
    expect(result.failures).toHaveLength(2);
    expect(overallVerdict(result)).toBe("inconclusive");
  });

  it("where stores of a family are compared, and one of them did not come to a death", async () => {
    const lame = ladder(
      {
        beforeRung: async ({ incarnation }) =>
          incarnation > 0 ? Promise.reject(new Error("lame")) : undefined,
      },
      { id: "lame" },
    );
    const { groups } = await exploreLadders([ladder(), lame]);
    const [backends] = groups.filter(({ kind }) => kind === "backends");
    // Of the ten deaths, nine leave something to climb.
    expect(backends).toMatchObject({ runs: 11, survived: 2, inconclusive: 9 });
  });

  it("where a fault of the world is asked for by name, and the run has no place for it", async () => {
    const kinds = ["tool-hangs", "reply-hangs"];
    const result = await look(named("memory"), { worldFaults: { kinds, occurrences: 1, deaths: 0 } });
    expect(sights(result)).toEqual([
      "world-fault/one-turn/memory/tool-hangs inconclusive explorer fault-not-fired",
    ]);
    expect(result.coverage.fired).toEqual([
      { group: "world-faults", fault: "reply-hangs", fired: 1, total: 1 },
      { group: "world-faults", fault: "tool-hangs", fired: 0, total: 1 },
    ]);
  });

  it("where processes that were to want a session are gone", async () => {
    const watchdog = new Watchdog(host.clock);
    const found: Judgement[] = [];
    const launcher = "/nowhere/launcher.cjs";
    const program = { launcher, program: launcher, codeCache: launcher, requireFrom: launcher };
    const plan = { rounds: 1, processes: 2, commits: 1 };
    await exploreLeases(
      runContext(oneTurn, named("sqlite"), 1, host, watchdog, []),
      plan,
      (_name, { judgement }) => found.push(judgement),
      program,
    );
    watchdog.stop();
    expect(found.map(({ inconclusive }) => inconclusive?.signature)).toEqual(Array(4).fill("not-reached"));
  });
});

describe("a death that is to be died for real", () => {
  it("is a doubt where the simulated one left what cannot be read", async () => {
    const watchdog = new Watchdog(host.clock);
    let views = 0;
    const broken: Subject = {
      ...named("jsonl"),
      view: (disk, reading) =>
        ++views > 2 ? Promise.reject(new Error("gone")) : named("jsonl").view(disk, reading),
    };
    const context = runContext(oneTurn, broken, 1, host, watchdog, []);
    const { deaths, lost } = await killTarget(context, ({ position }) => position === "after", 3);
    watchdog.stop();
    expect([deaths.length, lost?.length]).toEqual([1, 2]);
  });
});

describe("faults", () => {
  it("are counted by kind, deaths by their positions", async () => {
    const { coverage } = await exploreLadders([ladder()]);
    expect(coverage.fired).toEqual([
      { group: "crash", fault: "before", fired: 4, total: 4 },
      { group: "crash", fault: "inside", fired: 2, total: 2 },
      { group: "crash", fault: "after", fired: 4, total: 4 },
    ]);
    const disk = await look(named("memory"), { diskFaults: { calls: 1 } });
    expect(disk.coverage.fired?.map(({ fault }) => fault)).toContain("commit-refused+lasting");
    const { faults, fired = [] } = disk.coverage;
    expect(fired.reduce((sum, { total }) => sum + total, 0)).toBe(faults?.total);
  });

  it.each([
    ["torn", "tool.settle#2:cut@117", "cut"],
    ["torn", "terminal.completed#1:flip-log@2048.3", "flip-log"],
    ["disk-faults", "first.write-eio+lasting@3", "write-eio+lasting"],
    ["world-faults", "reply-malformed.null@2+tool.settle#1:after", "reply-malformed.null"],
    ["lease", "stopped-held@3", "stopped-held"],
    ["race", "abort-first", "abort-first"],
  ] as const)("have a kind that is read from their names: %s, %s is %s", (group, name, kind) => {
    expect(faultKindOf(group, name)).toBe(kind);
  });
});
