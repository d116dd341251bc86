/** A process that is killed for real leaves what the simulated death left; and each way in which it does not is seen. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CutRef, cutRefName, type Scenario } from "../../faults/index.ts";
import type { Subject } from "../../subject/index.ts";
import { childProgram, KillPool } from "../../subprocess/index.ts";
import { notebook } from "../../subprocess/test-subject.ts";
import { runContext } from "../plan.ts";
import { type Judgement, verdictOf } from "../result.ts";
import { scratchHost } from "../testing/explorations.ts";
import { Watchdog } from "../watchdog.ts";
import { canBeKilled, exploreKills, killTarget } from "./kill.ts";

const scenario: Scenario = {
  name: "notes",
  title: "two notes",
  settings: {},
  tools: [],
  turns: [
    [{ text: "one!", stopReason: "stop", usage: { input: 1, output: 2 } }],
    [{ text: "two!", stopReason: "stop", usage: { input: 1, output: 2 } }],
  ],
  stimuli: [
    { call: "prompt", text: "one" },
    { call: "prompt", text: "two" },
  ],
};

const host = scratchHost();
let pool: KillPool;
let watchdog: Watchdog;
beforeAll(async () => {
  const entry = fileURLToPath(new URL("../../subprocess/test-child-program.ts", import.meta.url));
  watchdog = new Watchdog(host.clock);
  pool = new KillPool({ program: await childProgram({ entry }), clock: host.clock });
});
afterAll(async () => {
  watchdog.stop();
  await pool.close();
});

async function kill(
  subject: Subject,
  options: { wants?: (cut: CutRef) => boolean; sampleCount?: number } = {},
): Promise<{ cuts: CutRef[]; judgements: Judgement[] }> {
  const context = runContext(scenario, subject, 1, host, watchdog, []);
  const { wants = () => true, sampleCount = Number.POSITIVE_INFINITY } = options;
  const target = await killTarget(context, wants, sampleCount);
  const judgements: Judgement[] = [];
  await exploreKills([target], pool, host.folder, (from, judgement) => {
    expect(from).toBe(target);
    judgements.push(judgement);
  });
  return { cuts: target.deaths.map(({ cut }) => cut), judgements };
}

const failures = (judgements: readonly Judgement[]) =>
  new Set(judgements.filter((judgement) => verdictOf(judgement) !== "survived").map(({ id }) => id));

describe("real kills, held against simulated ones", () => {
  it("leave the same state and the same rows at every boundary, torn commits included", async () => {
    const { cuts, judgements } = await kill(notebook("notebook"));
    expect(judgements.flatMap((judgement) => judgement.violations)).toEqual([]);
    expect(judgements.map(verdictOf)).toEqual(cuts.map(() => "survived"));
    // Two turns of two commits and one request: each commit dies before, torn twice, and after.
    expect(cuts).toHaveLength(2 * (2 * 4 + 3));
    expect(judgements.map(({ id }) => id)).toContain("kill/notes/notebook/note.ask#2:inside@3");
  });

  it("show a process that writes something else than the simulation, at the cuts where it does", async () => {
    const { judgements } = await kill(notebook("forger"));
    const bad = judgements.flatMap(({ violations }) => violations);
    expect(new Set(bad.map(({ checker, signature }) => `${checker} ${signature}`))).toEqual(
      new Set(["simulation-agrees state-differs"]),
    );
    expect(bad.map(({ message }) => message).join()).toMatch(
      /simulated ".*note\.answer.*", real ".*NOTE\.ANSWER/,
    );
    expect(failures(judgements)).toContain("kill/notes/forger/note.answer#1:after");
    expect(failures(judgements)).not.toContain("kill/notes/forger/note.answer#1:before");
  });

  it("show a process that does other things outside than the simulation", async () => {
    const { judgements } = await kill(notebook("talker"), {
      wants: (cut) => cutRefName(cut) === "note.answer#1:before",
    });
    const signatures = judgements.flatMap(({ violations }) => violations.map(({ signature }) => signature));
    expect(signatures).toEqual(["rows-differ"]);
  });

  it("are in doubt, not green, when the child cannot take the session to its cut", async () => {
    const { cuts, judgements } = await kill(notebook("stranger"));
    expect(judgements.map(verdictOf)).toEqual(cuts.map(() => "inconclusive"));
  });

  it("are as many as a sample asks for, and only for subjects whose disk outlives a process", async () => {
    const { cuts, judgements } = await kill(notebook("notebook"), { sampleCount: 5 });
    expect(judgements).toHaveLength(5);
    expect(new Set(cuts.map(cutRefName)).size).toBe(5);
    expect(canBeKilled(notebook("notebook"))).toBe(true);
    expect(canBeKilled({ ...notebook("notebook"), grade: "memory" })).toBe(false);
  });
});
