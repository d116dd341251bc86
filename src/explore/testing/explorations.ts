/** Explorations of ladders, for the tests of this room. */
import { type Clock, RealClock } from "../../foundation/index.ts";
import type { Subject } from "../../subject/index.ts";
import { type ExplorePlan, explore } from "../explore.ts";
import type { ExploreResult } from "../result.ts";
import { CLIMB } from "./ladder.ts";

/** Host milliseconds of a watchdog's tick in tests: long beside a step of a ladder, short beside a test. */
const TICK_MS = 50;

/** A host clock whose sleeps, and with them the watchdog's ticks, are short. */
export const impatientClock: Clock = {
  now: () => 0,
  sleep: (_delayMs, signal) => new RealClock().sleep(TICK_MS, signal),
};

export const HOST = { clock: impatientClock, folder: "/nowhere" };

export function plan(subjects: readonly Subject[], changed: Partial<ExplorePlan> = {}): ExplorePlan {
  return {
    scenarios: [CLIMB],
    subjects,
    seed: 1,
    depth: 1,
    skip: [],
    checkersOff: [],
    kill: "none",
    version: "0.0.0",
    command: "npx crashproof crash-points climb",
    ...changed,
  };
}

export function exploreLadders(
  subjects: readonly Subject[],
  changed: Partial<ExplorePlan> = {},
): Promise<ExploreResult> {
  return explore(plan(subjects, changed), HOST);
}

/** `verdict checker signature` of each failure, by run id. */
export function sights({ failures }: ExploreResult): string[] {
  return failures.map(({ id, verdict, checker, signature }) => `${id} ${verdict} ${checker} ${signature}`);
}
