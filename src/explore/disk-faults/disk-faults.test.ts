/** Storage that fails: right systems lose nothing and say why, and each way to be wrong is seen. */
import { describe, expect, it } from "vitest";
import { scenarioByName } from "../../../scenarios/index.ts";
import type { MediumFault, MediumFaultKind, Scenario } from "../../faults/index.ts";
import { type Subject, subjectById } from "../../subject/index.ts";
import { explore } from "../explore.ts";
import { overallVerdict } from "../result.ts";
import { plan, repeat, scratchHost } from "../testing/explorations.ts";
import { faultName, parseFaultName } from "./fault-name.ts";

const host = scratchHost();

const oneTurn = scenarioByName("one-turn") as Scenario;
const named = (id: string) => subjectById(id) as Subject;

function look(subjects: readonly Subject[], calls: "every" | number = "every") {
  return explore(plan(subjects, { scenarios: [oneTurn], cuts: false, diskFaults: { calls } }), host);
}

const signatures = ({ failures }: Awaited<ReturnType<typeof look>>) =>
  new Set(failures.map(({ checker, signature }) => `${checker} ${signature}`));

/** A subject whose medium fails in no way but these. */
const failingAs = (subject: Subject, ...names: string[]): Subject => ({
  ...subject,
  mediumFaults: (subject.mediumFaults ?? []).filter(({ name }) => names.includes(name)),
});

describe("failing storage", () => {
  it.each([
    ["memory", "every"],
    ["jsonl", "every"],
    ["txlog", "every"],
    // A run of SQLite makes hundreds of calls; `crashproof disk-faults` lets each of them fail.
    ["sqlite", 3],
  ] as const)("loses nothing that was confirmed, at every call of every kind: %s, %s", async (id, calls) => {
    const result = await look([named(id)], calls);
    expect(result.failures).toEqual([]);
    expect(overallVerdict(result)).toBe("survived");
    const { faults } = result.coverage;
    expect(faults).toEqual({ covered: faults?.total, total: faults?.total, recoveries: faults?.total });
    expect(result.groups).toMatchObject([{ kind: "disk-faults", runs: faults?.total }]);
  });

  it("fails at each call until there is none, once and for good", async () => {
    const ids: string[] = [];
    const seen: Subject = {
      ...failingAs(named("memory"), "commit-refused"),
      boot: (boot) => {
        if (boot.mediumFault !== undefined) ids.push(`${boot.mediumFault.life}`);
        return named("memory").boot(boot);
      },
    };
    const { coverage } = await look([seen]);
    // Six commits in the first life; of the next, which begins in the middle, those that are left. Each count costs a life.
    expect(coverage.faults?.total).toBe(ids.length - 2);
    expect(ids.filter((life) => life === "first")).toHaveLength(6 * 2 + 1);
  });

  it("is in doubt of a kind that never fires", async () => {
    const never: MediumFaultKind = {
      name: "tape-torn",
      calls: ["rewind"],
      lives: ["first"],
      outcome: { kind: "throws", code: "EIO", after: "nothing" },
    };
    const result = await look([{ ...named("memory"), mediumFaults: [never] }]);
    expect(overallVerdict(result)).toBe("inconclusive");
    expect(result.failures.map(({ signature }) => signature)).toEqual(["fault-not-fired", "fault-not-fired"]);
    expect(result.coverage.faults).toMatchObject({ covered: 0, total: 2 });
  });

  it("is in doubt where already the run in which nothing fails does not come to its end", async () => {
    const broken: Subject = { ...named("memory"), view: () => Promise.reject(new Error("gone")) };
    const result = await look([broken]);
    expect(overallVerdict(result)).toBe("inconclusive");
    expect(new Set(result.failures.map(({ signature }) => signature))).toEqual(
      new Set(["nothing-to-damage"]),
    );
  });

  it("shows nothing of a subject that has no place to make it fail", async () => {
    const { mediumFaults: _faults, ...rest } = named("memory");
    expect(overallVerdict(await look([rest]))).toBe("inconclusive");
  });
});

describe("a system that is wrong about failing storage", () => {
  it("is seen where it ends as if nothing had failed", async () => {
    const { boot } = named("memory");
    const silent: Subject = {
      ...failingAs(named("memory"), "commit-refused"),
      boot: (how) => {
        const inner = boot(how);
        return { ...inner, life: inner.life.catch(() => undefined) };
      },
    };
    expect(signatures(await look([silent]))).toContain("failing-storage failure not told");
  });

  it("is seen where it does something outside after a failed commit", async () => {
    const { boot } = named("memory");
    const busy: Subject = {
      ...failingAs(named("memory"), "commit-refused"),
      boot: (how) => {
        const inner = boot(how);
        const { world, gate, timeline } = how;
        const life = inner.life.catch(async (error: unknown) => {
          await world.request({ gate, timeline }, 0, 1);
          throw error;
        });
        return { ...inner, life };
      },
    };
    const seen = signatures(await look([busy]));
    expect(seen).toContain("failing-storage went on after a failed commit: effect");
    expect(seen).toContain("effect-safety request without an intent");
  });

  it("is seen where a life without a failed commit ends elsewhere", async () => {
    const { view } = named("jsonl");
    let count = 0;
    const drifting: Subject = {
      ...failingAs(named("jsonl"), "close-eio"),
      view: async (disk, reading) => {
        const found = await view(disk, reading);
        return { ...found, exact: found.exact.replace("{", `{"count":${count++},`) };
      },
    };
    const seen = signatures(await look([drifting]));
    expect(seen).toContain("failing-storage left neither");
    expect(seen).toContain("failing-storage ended elsewhere");
  });

  it("is seen where the next life cannot read what was left", async () => {
    const { view } = named("memory");
    let fault: MediumFault | undefined;
    const broken: Subject = {
      ...failingAs(named("memory"), "commit-refused"),
      boot: (how) => {
        fault = how.mediumFault;
        return named("memory").boot(how);
      },
      view: (disk, reading) =>
        fault?.hasFired
          ? Promise.reject(Object.assign(new Error("gone"), { code: "GONE" }))
          : view(disk, reading),
    };
    expect([...signatures(await look([broken]))].join()).toContain("failing-storage unreadable:Error");
  });
});

describe("a failure", () => {
  const ON_JSONL = { scenario: oneTurn, subjects: [named("jsonl")] };

  it("is made again by its run id, with what was observed", async () => {
    const text = "disk-fault/one-turn/jsonl/first.write-enospc@5";
    const { judgement, events } = await repeat(text, ON_JSONL, host);
    expect(judgement).toEqual({ id: text, violations: [] });
    const told = events.map((event) => (event.kind === "crash" ? event.at : event.kind));
    expect(told.filter((one) => one === "commit-failed" || one.startsWith("first"))).toEqual([
      "commit-failed",
      "first.write-enospc@5",
    ]);
  });

  it.each(["first.write-enospc@999", "upkeep.truncate-eio@1", "first.none-such@1", "first.write-enospc@0"])(
    "is inconclusive where there is none such: %s",
    async (fault) => {
      const text = `disk-fault/one-turn/jsonl/${fault}`;
      expect((await repeat(text, ON_JSONL, host)).judgement.inconclusive).toBeDefined();
    },
  );

  it("has a name that is read as it is written", () => {
    const name = { life: "upkeep", kind: "sync-folder-eio", isLasting: true, call: 12 } as const;
    expect(faultName(name)).toBe("upkeep.sync-folder-eio+lasting@12");
    expect(parseFaultName(faultName(name))).toEqual(name);
    for (const text of ["", "first.write-eio", "last.write-eio@1", "first.write-eio@0", "first.Write@1"]) {
      expect(parseFaultName(text)).toBeUndefined();
    }
  });
});
