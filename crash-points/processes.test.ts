/** Real processes that want one session: one gets it, a stale owner changes nothing, and stores that are wrong are seen. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canarySubject } from "../fixtures/canaries/index.ts";
import { leaseTakenAway } from "../fixtures/children/contender.ts";
import twoTools from "../scenarios/two-tools.ts";
import type { Judgement } from "../src/explore/index.ts";
import {
  type ExploreHost,
  exploreLeases,
  type LeasesPlan,
  repro,
  runContext,
  Watchdog,
} from "../src/explore/index.ts";
import { parseRunId } from "../src/faults/index.ts";
import { RealClock } from "../src/foundation/index.ts";
import { type Subject, subjectById } from "../src/subject/index.ts";
import { type ChildProgram, childProgram, openScratch, type Scratch } from "../src/subprocess/index.ts";

let scratch: Scratch;
let host: ExploreHost;
let watchdog: Watchdog;
let program: ChildProgram;
beforeAll(async () => {
  scratch = openScratch();
  host = { clock: new RealClock(), folder: scratch.folder };
  watchdog = new Watchdog(host.clock);
  const entry = new URL("../fixtures/children/contender.ts", import.meta.url);
  program = await childProgram({ entry: fileURLToPath(entry) });
});
afterAll(() => {
  watchdog.stop();
  scratch.remove();
});

const named = (id: string) => (canarySubject(id) ?? subjectById(id)) as Subject;

/** What is found, by the name of the round. */
async function look(
  subject: Subject,
  plan: Partial<LeasesPlan> = {},
): Promise<ReadonlyMap<string, Judgement>> {
  const found = new Map<string, Judgement>();
  const context = runContext(twoTools, subject, 1, host, watchdog, []);
  await exploreLeases(
    context,
    { rounds: 2, processes: 3, commits: 1, ...plan },
    (name, { judgement }) => found.set(name, judgement),
    program,
  );
  return found;
}

const signatures = (found: ReadonlyMap<string, Judgement>) =>
  new Set([...found.values()].flatMap(({ violations }) => violations.map(({ signature }) => signature)));

describe("processes that want one session", () => {
  it("get it one at a time from a store that promises it, whoever stops, races or died", async () => {
    const found = await look(named("sqlite"));
    expect(
      [...found.values()].filter(({ violations, inconclusive }) => violations.length > 0 || inconclusive),
    ).toEqual([]);
    const rounds = [...found.keys()].map((name) => name.replace(/\d+$/, ""));
    expect(rounds).toEqual([...Array(2).fill("resume@"), "stopped-held@", "stopped-released@", "race@"]);
  });

  it.each([
    ["jsonl", "second opener is let in"],
    ["txlog", "second opener is not told"],
  ])("are a limit where nobody promises it: %s, %s", async (id, signature) => {
    const found = await look(named(id));
    expect([...found]).toMatchObject([["second-opener@1", { violations: [], limit: { signature } }]]);
  });

  it("are no question to a store that does not outlive its process", async () => {
    expect((await look(named("memory"))).size).toBe(0);
  });

  it("all get it from a store that ignores who holds a session", async () => {
    const found = await look(leaseTakenAway, { commits: 0 });
    expect(signatures(found)).toEqual(new Set(["several winners"]));
  });

  it("see an owner that was superseded commit, where the fence is not looked at", async () => {
    const found = await look(named("canary:stale-fence-accepted"), { rounds: 0, commits: 3 });
    expect(signatures(found)).toContain("stale-commit-accepted");
  });
});

describe("a round", () => {
  const again = (text: string, subject: Subject) => {
    const id = parseRunId(text);
    if (!id.ok) throw id.error;
    return repro({ id: id.value, text, scenario: twoTools, subjects: [subject] }, host);
  };

  it("is made again by its id", async () => {
    const text = "lease/two-tools/sqlite/stopped-released@5";
    expect((await again(text, named("sqlite"))).judgement).toEqual({ id: text, violations: [] });
  });

  it.each(["race@99", "second-opener@1", "resume@0", "stopped@1"])(
    "is inconclusive where there is none such: %s",
    async (round) => {
      const { judgement } = await again(`lease/two-tools/sqlite/${round}`, named("sqlite"));
      expect(judgement.inconclusive).toBeDefined();
    },
  );
});
