/** The built-in subjects, killed for real at every boundary of their scenarios, held against the simulation. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SCENARIOS } from "../../../scenarios/index.ts";
import { RealClock } from "../../foundation/index.ts";
import { builtInSubjects } from "../../subject/index.ts";
import { childProgram, KillPool, openScratch, type Scratch } from "../../subprocess/index.ts";
import { runContext } from "../plan.ts";
import { type Judgement, verdictOf } from "../result.ts";
import { Watchdog } from "../watchdog.ts";
import { canBeKilled, exploreKills, type KillTarget, killTarget } from "./kill.ts";

/** Boundaries of each of the others, where one scenario is died through whole. */
const SAMPLE_COUNT = 6;
const WHOLE = "two-tools";

let pool: KillPool;
let scratch: Scratch;
let watchdog: Watchdog;
beforeAll(async () => {
  const clock = new RealClock();
  scratch = openScratch();
  watchdog = new Watchdog(clock);
  pool = new KillPool({ program: await childProgram(), clock });
  pool.warm();
});
afterAll(async () => {
  watchdog.stop();
  await pool.close();
  scratch.remove();
});

describe("a process of a built-in subject, killed for real", () => {
  it("leaves what the simulation left, at every boundary of one scenario and a sample of the others", async () => {
    const host = { clock: new RealClock(), folder: scratch.folder };
    const targets: KillTarget[] = [];
    for (const subject of builtInSubjects().filter(canBeKilled)) {
      for (const scenario of SCENARIOS) {
        const context = runContext(scenario, subject, 1, host, watchdog, []);
        const count = scenario.name === WHOLE ? Number.POSITIVE_INFINITY : SAMPLE_COUNT;
        targets.push(await killTarget(context, () => true, count));
      }
    }
    const judgements: Judgement[] = [];
    await exploreKills(targets, pool, scratch.folder, (_target, judgement) => judgements.push(judgement));
    expect(judgements.filter((judgement) => verdictOf(judgement) !== "survived")).toEqual([]);
    expect(judgements).toHaveLength(targets.reduce((sum, { deaths }) => sum + deaths.length, 0));
    // Torn commits are among them, where the medium can tear one.
    expect(judgements.some(({ id }) => /^kill\/two-tools\/jsonl\/.*:inside@\d+$/.test(id))).toBe(true);
    const { states, kills } = pool.counts;
    expect(states).toBe(judgements.length);
    expect(kills).toBeLessThan(states / 4);
  });
});
