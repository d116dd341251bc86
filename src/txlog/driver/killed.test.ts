/** The driver killed at every place of a run, and again in recovery. */
import { describe, expect, it } from "vitest";
import {
  type During,
  Life,
  newSession,
  type Remains,
  sessionOf,
  violations,
} from "../../../fixtures/txlog/lives.ts";
import type { MemorySessionFiles } from "../store/memory-files.ts";
import type { Rest, SessionDriver } from "./driver.ts";

/** What happens in a first life, and what someone outside does meanwhile. */
interface Drama {
  readonly name: string;
  readonly play: (driver: SessionDriver) => Promise<unknown>;
  readonly during?: During;
}

function prompts(...contents: readonly string[]): Drama["play"] {
  return async (driver) => {
    for (const content of contents) {
      await driver.prompt(content);
      await driver.resume();
    }
  };
}

async function compact(driver: SessionDriver, retainCount: number): Promise<void> {
  await driver.compact(retainCount);
  await driver.resume();
}

const dramas: readonly Drama[] = [
  { name: "runs with tools", play: prompts("work", "talk") },
  { name: "calls that are not to be started", play: prompts("odd") },
  {
    name: "answers that are cut, blank, failed and unusable",
    play: prompts("cut", "blank", "fail", "twice", "broken"),
  },
  {
    name: "a compaction between runs",
    play: async (driver) => {
      await prompts("talk", "odd")(driver);
      await compact(driver, 2);
      await prompts("talk")(driver);
    },
  },
  {
    name: "an abort while a tool runs",
    play: prompts("stop"),
    during: async (driver, deed) => {
      if (deed.type === "execute") await driver.abort();
    },
  },
  {
    name: "an abort while a request runs",
    play: prompts("talk"),
    during: async (driver) => {
      await driver.abort();
    },
  },
  {
    name: "an abort while a summary is written",
    play: async (driver) => {
      await prompts("talk")(driver);
      await compact(driver, 0);
    },
    during: async (driver, deed) => {
      if (deed.type === "request" && deed.request.purpose === "compaction") await driver.abort();
    },
  },
];

/** What one life came to. */
interface Ending extends Remains {
  readonly isDead: boolean;
  readonly placeCount: number;
}

/** Runs one life on a copy of what the lives before it left; it dies at a place if it is told one and comes so far. */
async function live(
  before: Remains,
  incarnation: number,
  diesAt: number | undefined,
  act: (driver: SessionDriver) => Promise<unknown>,
  during?: During,
): Promise<Ending> {
  const disk = before.disk.fork();
  const deeds = before.deeds.slice();
  const life = new Life(disk, deeds, incarnation, diesAt);
  const ending = (isDead: boolean) => ({ disk, deeds, isDead, placeCount: life.mortality.passedCount });
  try {
    await act(await life.driver(sessionOf(disk).id, during));
    return ending(false);
  } catch (error) {
    if (!life.mortality.isDead) throw error;
    return ending(true);
  }
}

async function resume(driver: SessionDriver): Promise<void> {
  expect(await driver.resume()).toEqual({ type: "idle" });
}

/** Brings a session to rest for good, and goes on: a request that was lost twice needs an abort first. */
async function settle(driver: SessionDriver): Promise<void> {
  const rest: Rest = await driver.resume();
  if (rest.type === "blocked") {
    expect(rest.reason).toBe("attempts_exhausted");
    await driver.abort();
    await resume(driver);
  }
  await prompts("talk")(driver);
}

/** Messages without what an interrupted tool would have said. */
function spoken(disk: MemorySessionFiles): unknown[] {
  return sessionOf(disk).state.transcript.map((message) =>
    message.role === "tool" ? { ...message, content: "" } : message,
  );
}

/** Neighbouring recoveries pass the same places, so that of each a fifth is cut, in turn. */
const STRIDE = 5;

describe("killed at every place", () => {
  it.each(dramas.map((drama) => [drama.name, drama] as const))(
    "and again in recovery, the session keeps its promises: %s",
    async (_name, { play, during }) => {
      const start = await newSession();
      const whole = await live(start, 1, undefined, play, during);
      expect(violations(whole)).toEqual([]);
      const reference = spoken(whole.disk);
      let secondCount = 0;
      for (let diesAt = 1; diesAt <= whole.placeCount; diesAt++) {
        const first = await live(start, 1, diesAt, play, during);
        expect(first.isDead).toBe(true);
        const recovered = await live(first, 2, undefined, resume);
        expect(violations(recovered)).toEqual([]);
        const said = spoken(recovered.disk);
        if (during === undefined) expect(said).toEqual(reference.slice(0, said.length));
        for (let again = 1 + (diesAt % STRIDE); again <= recovered.placeCount; again += STRIDE) {
          const second = await live(first, 2, again, resume);
          expect(second.isDead).toBe(true);
          const settled = await live(second, 3, undefined, settle);
          expect(violations(settled)).toEqual([]);
          expect(spoken(settled.disk).at(-1)).toEqual({ role: "assistant", content: "hello" });
          secondCount += 1;
        }
      }
      expect(secondCount).toBeGreaterThan(whole.placeCount / 2);
    },
  );
});
