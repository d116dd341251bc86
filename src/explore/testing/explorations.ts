/** Explorations for the tests of this room: their plans and hosts, runs that are made again, and those of ladders. */
import { afterAll, beforeAll } from "vitest";
import { parseRunId } from "../../faults/index.ts";
import { type Clock, RealClock } from "../../foundation/index.ts";
import type { Subject } from "../../subject/index.ts";
import { openScratch, type Scratch } from "../../subprocess/index.ts";
import { explore } from "../explore.ts";
import type { ExploreHost, ExplorePlan } from "../plan.ts";
import { type ReproResult, repro } from "../repro.ts";
import type { ReproParts } from "../repro-parts.ts";
import type { ExploreResult } from "../result.ts";
import { CLIMB } from "./ladder.ts";

/** For subjects without files. */
export const HOST = { clock: new RealClock(), folder: "/nowhere" };

/** For subjects with files: a host whose folder is there while the tests of the file run that asks for it. */
export function scratchHost(): ExploreHost {
  let scratch: Scratch | undefined;
  beforeAll(() => {
    scratch = openScratch();
  });
  afterAll(() => scratch?.remove());
  return {
    clock: HOST.clock,
    get folder() {
      if (scratch === undefined) throw new Error("the folder is there for tests only");
      return scratch.folder;
    },
  };
}

/** Makes a run again by its id. */
export function repeat(
  text: string,
  of: Omit<ReproParts, "id" | "text">,
  host: ExploreHost = HOST,
): Promise<ReproResult> {
  const id = parseRunId(text);
  if (!id.ok) throw id.error;
  return repro({ id: id.value, text, ...of }, host);
}

/**
 * A host clock that stands still until something hangs. Then it lets the watchdog look twice, which is what it takes to
 * see that nothing moves, however slow the machine is.
 */
export class StallClock implements Clock {
  #looksLeft = 0;
  #wake: () => void = () => undefined;

  now(): number {
    return 0;
  }

  /** What never comes. */
  hang(): Promise<never> {
    this.#looksLeft = 2;
    this.#wake();
    return new Promise(() => undefined);
  }

  async sleep(_delayMs: number, signal?: AbortSignal): Promise<void> {
    while (this.#looksLeft === 0 && signal?.aborted !== true) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal?.addEventListener("abort", () => resolve(), { once: true });
      });
    }
    this.#looksLeft--;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

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
  clock: Clock = HOST.clock,
): Promise<ExploreResult> {
  return explore(plan(subjects, changed), { ...HOST, clock });
}

/** `verdict checker signature` of each failure, by run id. */
export function sights({ failures }: ExploreResult): string[] {
  return failures.map(({ id, verdict, checker, signature }) => `${id} ${verdict} ${checker} ${signature}`);
}
