/** The built-in subjects, killed for real at every boundary of their scenarios, held against the simulation. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SCENARIOS } from "../../../scenarios/index.ts";
import { builtInSubjects } from "../../subject/index.ts";
import { childProgram, KillPool } from "../../subprocess/index.ts";
import { runContext } from "../plan.ts";
import { type Judgement, verdictOf } from "../result.ts";
import { scratchHost } from "../testing/explorations.ts";
import { Watchdog } from "../watchdog.ts";
import { canBeKilled, exploreKills, type KillTarget, killTarget } from "./kill.ts";

/** Boundaries of each of the others, where one scenario is died through whole. */
const SAMPLE_COUNT = 6;
const WHOLE = "two-tools";

const host = scratchHost();
let pool: KillPool;
let watchdog: Watchdog;
beforeAll(async () => {
  watchdog = new Watchdog(host.clock);
  pool = new KillPool({ program: await childProgram(), clock: host.clock });
  pool.warm();
});
afterAll(async () => {
  watchdog.stop();
  await pool.close();
});

describe("a process of a built-in subject, killed for real", () => {
  it("leaves what the simulation left, at every boundary of one scenario and a sample of the others", async () => {
    const targets: KillTarget[] = [];
    for (const subject of builtInSubjects().filter(canBeKilled)) {
      for (const scenario of SCENARIOS) {
        const context = runContext(scenario, subject, 1, host, watchdog, []);
        const count = scenario.name === WHOLE ? Number.POSITIVE_INFINITY : SAMPLE_COUNT;
        targets.push(await killTarget(context, () => true, count));
      }
    }
    const judgements: Judgement[] = [];
    await exploreKills(targets, pool, host.folder, (_target, judgement) => judgements.push(judgement));
    expect(judgements.filter((judgement) => verdictOf(judgement) !== "survived")).toEqual([]);
    expect(judgements).toHaveLength(targets.reduce((sum, { deaths }) => sum + deaths.length, 0));
    // Torn commits are among them, where the medium can tear one.
    expect(judgements.some(({ id }) => /^kill\/two-tools\/jsonl\/.*:inside@\d+$/.test(id))).toBe(true);
    const { states, kills } = pool.counts;
    expect(states).toBe(judgements.length);
    expect(kills).toBeLessThan(states / 4);
  }, 180_000);
});
