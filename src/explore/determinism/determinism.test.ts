/** Runs are executed twice: what leaks into them is named by its source, and a right system is never accused. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Subject } from "../../subject/index.ts";
import { exploreLadders, repeat, sights } from "../testing/explorations.ts";
import { CLIMB, type Flaws, ladder } from "../testing/ladder.ts";
import { observing, SOURCES } from "./host-sources.ts";

const look = (subject: Subject, deaths = 0) =>
  exploreLadders([subject], { cuts: false, determinism: { deaths } });

/** A ladder that writes what `leak` says behind each word. */
function leaking(leak: () => unknown): Subject {
  return ladder({ word: (_boot, _rung, word) => `${word} ${leak()}` });
}

let count = 0;
const rotating = ["one", "two", "three"];

describe("the determinism alarm", () => {
  it("finds nothing in a right subject, in the whole run and in runs that die, and counts each of them", async () => {
    const { groups, failures } = await look(ladder(), 4);
    expect(failures).toEqual([]);
    expect(groups).toMatchObject([{ kind: "determinism", subject: "ladder", runs: 5, survived: 5 }]);
  });

  it.each<[string, () => unknown]>([
    ["Date.now", () => Date.now()],
    ["Date.now", () => new Date().toISOString()],
    ["Math.random", () => Math.random()],
    ["randomUUID", () => randomUUID()],
    ["randomUUID", () => crypto.randomUUID()],
    ["Date.now, randomUUID", () => `${Date.now()} ${randomUUID()}`],
    ["unknown, none of the host's clock, random source, ids and timers", () => count++],
  ])("names %s", async (name, leak) => {
    const [sight, ...more] = (await look(leaking(leak))).failures;
    expect(more).toEqual([]);
    expect(sight).toMatchObject({
      id: "determinism/climb/ladder",
      checker: "determinism",
      signature: `twice-differs:${name}`,
    });
    expect(sight?.message).toContain(`likely source: ${name}`);
  });

  it.each<[string, () => Promise<unknown>]>([
    ["a global timer", () => new Promise<void>((resolve) => setTimeout(resolve, 1))],
    ["a timer that is a promise", () => sleep(1)],
  ])("names a real timer: %s", async (_name, wait) => {
    const flaws: Flaws = {
      word: (boot, _rung, word) => (late.has(boot.world) ? `${word}, late` : word),
      beforeRung: async ({ world }) => {
        void wait().then(() => timely.add(world));
        for (let turn = 0; turn < 8; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
        if (!timely.has(world)) late.add(world);
      },
    };
    const late = new WeakSet<object>();
    const timely = new WeakSet<object>();
    expect(sights(await look(ladder(flaws)))).toEqual([
      "determinism/climb/ladder violated determinism twice-differs:a real timer",
    ]);
  });

  it("names the order of an object's members where nothing else differs", async () => {
    const subject = ladder();
    const turning: Subject = {
      ...subject,
      view: async () => {
        rotating.push(rotating.shift() ?? "");
        const text = JSON.stringify(Object.fromEntries(rotating.map((name) => [name, true])));
        return { exact: text, canonical: text };
      },
    };
    const [sight] = (await look(turning)).failures;
    expect(sight?.signature).toBe("twice-differs:the order of an object's members");
    expect(sight?.message).toContain("in the order of its members");
  });

  it("does not accuse a source that is asked and changes nothing", async () => {
    const asking = ladder({
      beforeRung: async () => {
        Date.now();
        await sleep(1);
      },
    });
    expect((await look(asking)).failures).toEqual([]);
  });

  it("says together of sources of which none makes a difference alone", async () => {
    // The first draws of the plain source are below the middle.
    const both = leaking(() => Date.now() > 1_700_050_000_000 && Math.random() >= 0.5);
    expect((await look(both)).failures[0]?.signature).toBe("twice-differs:Date.now and Math.random together");
  });

  it("is in doubt of a run that does not come to its end", async () => {
    const endless = await exploreLadders([ladder({ neverEnds: true })], {
      cuts: false,
      determinism: { deaths: 0 },
    });
    expect(sights(endless)).toEqual(["determinism/climb/ladder inconclusive explorer stalled"]);
  });

  it("makes a run again by its id, and is in doubt of a cut that never comes", async () => {
    const subject = leaking(() => Date.now());
    const again = (text: string) => repeat(text, { scenario: CLIMB, subjects: [subject] });
    const whole = await again("determinism/climb/ladder");
    expect(whole.judgement.violations.map(({ signature }) => signature)).toEqual(["twice-differs:Date.now"]);
    expect(whole.events.map(({ kind }) => kind)).toContain("commit");
    const dead = await again("determinism/climb/ladder/rung#1:after");
    expect(dead.judgement.violations).toHaveLength(1);
    expect((await again("determinism/climb/ladder/rung#9:after")).judgement.inconclusive).toMatchObject({
      signature: "not-reached",
    });
  });
});

describe("the sources of the host", () => {
  it("are its own again afterwards, and for everything beside what is observed", async () => {
    const own = [Date, Date.now, Math.random, crypto.randomUUID, setTimeout, clearTimeout];
    const { observation, result } = await observing(SOURCES, async (within) => {
      const beside = Date.now();
      return [beside, await within(async () => Date.now())];
    });
    expect([Date, Date.now, Math.random, crypto.randomUUID, setTimeout, clearTimeout]).toEqual(own);
    expect(Math.abs((result[0] ?? 0) - Date.now())).toBeLessThan(60_000);
    expect(result[1]).toBeLessThan(1_800_000_000_000);
    expect([...observation.seen]).toEqual(["Date.now"]);
  });

  it("keep a timer that is cleared from firing", async () => {
    let fired = false;
    await observing([], (within) =>
      within(async () => {
        clearTimeout(setTimeout(() => (fired = true), 1));
        for (let turn = 0; turn < 4; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
      }),
    );
    expect(fired).toBe(false);
  });
});
