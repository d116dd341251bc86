/** Damaged bytes, read and gone on with: a right store survives them all, and each way to be wrong is seen. */
import { describe, expect, it } from "vitest";
import { scenarioByName } from "../../../scenarios/index.ts";
import type { Scenario } from "../../faults/index.ts";
import { type Disk, type Subject, subjectById } from "../../subject/index.ts";
import { explore } from "../explore.ts";
import { overallVerdict } from "../result.ts";
import { plan, repeat, scratchHost } from "../testing/explorations.ts";
import { chooseCommits } from "./commits.ts";
import type { TornPlan } from "./torn.ts";

const host = scratchHost();

const oneTurn = scenarioByName("one-turn") as Scenario;
const jsonl = subjectById("jsonl") as Subject;
const SOME: TornPlan = { places: 4, flips: 0, commitsMax: 2, recoverEach: false };

function look(subjects: readonly Subject[], torn: TornPlan, scenario = oneTurn) {
  return explore(plan(subjects, { scenarios: [scenario], cuts: false, torn }), host);
}

const signatures = ({ failures }: Awaited<ReturnType<typeof look>>) =>
  new Set(failures.map(({ checker, signature }) => `${checker} ${signature}`));

describe("torn bytes", () => {
  it.each(["jsonl", "txlog"])(
    "leave the session before or after the commit, at every byte: %s",
    async (id) => {
      const result = await look([subjectById(id) as Subject], { ...SOME, places: "every" });
      expect(result.failures).toEqual([]);
      expect(overallVerdict(result)).toBe("survived");
      const { faults } = result.coverage;
      expect(faults?.covered).toBe(faults?.total);
      expect(faults?.total).toBeGreaterThan(300);
      expect(faults?.recoveries).toBeGreaterThan(20);
      expect(result.groups).toMatchObject([{ kind: "torn", runs: faults?.total }]);
    },
  );

  it("leave one or the other in a database and its log, or are refused, or promised by nobody: sqlite", async () => {
    const result = await look([subjectById("sqlite") as Subject], { ...SOME, places: 6, flips: 60 });
    expect(result.failures).toEqual([]);
    expect(overallVerdict(result)).toBe("survived");
    const signatures = (result.limits ?? []).map(({ signature }) => signature);
    // Without its log a database is an earlier session, and a log ends where a sum does not fit.
    expect(signatures).toContain("log-missing: the last commits are gone");
    expect(signatures).toContain("flip-log: the last commits are gone");
    expect(signatures.filter((one) => /^log-(cut|zeros|doubled|garbage|foreign)/.test(one))).toEqual([]);
  });

  it("tear text in the middle of every character, and recover from each", async () => {
    const scenario = scenarioByName("every-character") as Scenario;
    const result = await look([jsonl], { ...SOME, places: 24, recoverEach: true }, scenario);
    expect(result.failures).toEqual([]);
  });

  it("are not looked at where a disk has no bytes, and nothing is green by that", async () => {
    const result = await look([subjectById("memory") as Subject], SOME);
    expect(result.groups).toEqual([]);
    expect(overallVerdict(result)).toBe("inconclusive");
  });

  it("are in doubt where already the run that nobody damages does not come to its end", async () => {
    const broken: Subject = { ...jsonl, view: () => Promise.reject(new Error("gone")) };
    const result = await look([broken], SOME);
    expect(overallVerdict(result)).toBe("inconclusive");
    expect(result.failures.map(({ signature }) => signature)).toEqual(["nothing-to-damage"]);
  });

  it("are in doubt where a commit was visited and the session whose log is to be put beside it cannot be read", async () => {
    const sqlite = subjectById("sqlite") as Subject;
    const others = new WeakSet<Disk>();
    const broken: Subject = {
      ...sqlite,
      provision: async (how) => {
        const disk = await sqlite.provision(how);
        if (how.seed !== 1) others.add(disk);
        return disk;
      },
      view: (disk, reading) =>
        others.has(disk) ? Promise.reject(new Error("gone")) : sqlite.view(disk, reading),
    };
    const { failures } = await look([broken], { ...SOME, commitsMax: 1 });
    expect(failures.map(({ signature }) => signature)).toEqual(["not-reached", "not-reached"]);
  });

  it("are in doubt where the session whose log is to be put beside a commit has none", async () => {
    const sqlite = subjectById("sqlite") as Subject;
    const broken: Subject = {
      ...sqlite,
      provision: async (how) => {
        const disk = await sqlite.provision(how);
        return how.seed === 1 ? disk : Object.assign(disk, { files: () => [] });
      },
    };
    const { failures } = await look([broken], { ...SOME, commitsMax: 1 });
    expect(failures.map(({ signature }) => signature)).toEqual(["not-reached", "not-reached"]);
  });

  it("count flips that pass unnoticed apart: no checksum is promised", async () => {
    const result = await look([jsonl], { ...SOME, places: 0, flips: 200 });
    expect(result.failures).toEqual([]);
    const [limit] = result.limits ?? [];
    expect(limit).toMatchObject({ subject: "jsonl", signature: "flip: unnoticed" });
    expect(limit?.runs).toBeGreaterThan(0);
    const [group] = result.groups;
    expect(group?.unpromised).toBe(limit?.runs);
    expect((group?.runs ?? 0) + (group?.unpromised ?? 0)).toBe(result.coverage.faults?.total);
  });
});

describe("a store that is wrong about damaged bytes", () => {
  it("is seen where it refuses without a reason", async () => {
    const careless: Subject = {
      ...jsonl,
      view: (disk, reading) =>
        jsonl.view(disk, reading).catch(() => {
          throw new TypeError("x is undefined");
        }),
    };
    expect(signatures(await look([careless], SOME))).toContain("torn-bytes unnamed refusal:TypeError");
  });

  it("is seen where it opens what its reader refuses", async () => {
    const strict: Subject = {
      ...jsonl,
      view: async (disk, reading) => {
        const [file] = disk.files?.() ?? [];
        if (file?.bytes.at(-1) === 0x0a) return jsonl.view(disk, reading);
        throw Object.assign(new Error("torn"), { reason: "torn" });
      },
    };
    const seen = signatures(await look([strict], SOME));
    expect(seen).toContain("torn-bytes cut: refused");
    expect(seen).not.toContain("torn-bytes opened");
    const lenient: Subject = {
      ...jsonl,
      boot: (boot) =>
        boot.incarnation === 0
          ? jsonl.boot(boot)
          : { life: Promise.resolve(), drop: () => boot.gate.drop(), close: async () => undefined },
    };
    expect(signatures(await look([lenient], SOME))).toContain("torn-bytes opened");
  });

  it("is seen where recovery from torn bytes goes elsewhere, by the checker of recovery", async () => {
    const forgetful: Subject = {
      ...jsonl,
      expect: async (question) => ({ ...(await jsonl.expect(question)), canonical: "{}" }),
    };
    const seen = [...signatures(await look([forgetful], SOME))];
    expect(seen.some((one) => one.startsWith("recovery-equality differs"))).toBe(true);
  });
});

describe("a damage", () => {
  const again = (text: string, subject: Subject) =>
    repeat(text, { scenario: oneTurn, subjects: [subject] }, host);

  it("is done again by its run id, with what was observed", async () => {
    const text = "torn/one-turn/jsonl/generation.settle.finish#1:cut@500";
    const { judgement, events } = await again(text, jsonl);
    expect(judgement).toEqual({ id: text, violations: [] });
    expect(events.filter(({ kind }) => kind === "crash")).toEqual([
      { kind: "crash", at: "generation.settle.finish#1:cut@500" },
    ]);
    expect(events.at(-1)).toMatchObject({ kind: "commit", boundary: { label: "terminal.failed" } });
  });

  it.each([
    ["jsonl", "terminal.completed#1:byte-order-mark"],
    ["sqlite", "acceptance.prompt#1:log-foreign"],
    ["txlog", "operationFinished.completed#1:doubled"],
  ])("that is refused is refused again, by %s: %s", async (id, fault) => {
    const text = `torn/one-turn/${id}/${fault}`;
    expect((await again(text, subjectById(id) as Subject)).judgement).toEqual({ id: text, violations: [] });
  });

  it("is done again to what its commit left, and not to what the end of the run left", async () => {
    const text = "torn/one-turn/sqlite/acceptance.prompt#1:database-missing";
    const { events } = await again(text, subjectById("sqlite") as Subject);
    expect(events.filter(({ kind }) => kind === "crash")).toEqual([
      { kind: "crash", at: "acceptance.prompt#1:database-missing" },
    ]);
  });

  it.each(["terminal.completed#1:melted", "terminal.completed#9:doubled", "terminal.completed#1:cut@99999"])(
    "is inconclusive where there is none such: %s",
    async (fault) => {
      const text = `torn/one-turn/jsonl/${fault}`;
      expect((await again(text, jsonl)).judgement.inconclusive?.signature).toBe("not-reached");
    },
  );
});

describe("the commits that are chosen", () => {
  const place = (name: string, byteCount: number, isArray = false) => ({ name, byteCount, isArray });
  const places = [place("a", 10), place("b", 20, true), place("c", 99), place("d", 30), place("e", 5)];

  it("are all of a small scenario", () => {
    expect([...chooseCommits(places, 5)]).toEqual(["a", "b", "c", "d", "e"]);
  });

  it("are the longest, the last, the first and one of several parts before others", () => {
    expect(chooseCommits(places, 4)).toEqual(new Set(["c", "e", "a", "b"]));
  });
});
