/** The watchdog stops what stands still, and nothing that moves. */
import { afterEach, describe, expect, it } from "vitest";
import type { Clock } from "../foundation/index.ts";
import { Watchdog } from "./watchdog.ts";

/** A clock whose sleeps end when the test says so. */
class HandClock implements Clock {
  readonly slept: number[] = [];
  #wake: () => void = () => undefined;

  now(): number {
    return 0;
  }

  sleep(delayMs: number): Promise<void> {
    this.slept.push(delayMs);
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async tick(): Promise<void> {
    this.#wake();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const never = new Promise<never>(() => undefined);
let watchdog: Watchdog | undefined;
afterEach(() => watchdog?.stop());

function start(): HandClock {
  const clock = new HandClock();
  watchdog = new Watchdog(clock, 1000);
  return clock;
}

function guard<T>(progress: () => number, work: Promise<T>): { outcome: () => T | "stalled" | undefined } {
  let outcome: T | "stalled" | undefined;
  void watchdog?.guard(progress, work).then((found) => {
    outcome = found;
  });
  return { outcome: () => outcome };
}

describe("the watchdog", () => {
  it("gives work that ends its own outcome", async () => {
    start();
    expect(await watchdog?.guard(() => 0, Promise.resolve("done"))).toBe("done");
    await expect(watchdog?.guard(() => 0, Promise.reject(new Error("refused")))).rejects.toThrow("refused");
  });

  it("stops work that did not move for a whole tick, and not before", async () => {
    const clock = start();
    const { outcome } = guard(() => 3, never);
    await clock.tick();
    expect(outcome()).toBeUndefined();
    await clock.tick();
    expect(outcome()).toBe("stalled");
    expect(clock.slept[0]).toBe(1000);
  });

  it("lets work go on for as long as it moves", async () => {
    const clock = start();
    let crossed = 0;
    const { outcome } = guard(() => crossed, never);
    for (let tick = 0; tick < 10; tick++) {
      await clock.tick();
      crossed++;
    }
    expect(outcome()).toBeUndefined();
    await clock.tick();
    await clock.tick();
    expect(outcome()).toBe("stalled");
  });

  it("does not count the standing still of one piece of work against the next", async () => {
    const clock = start();
    await watchdog?.guard(() => 3, Promise.resolve());
    await clock.tick();
    const { outcome } = guard(() => 3, never);
    await clock.tick();
    expect(outcome()).toBeUndefined();
  });

  it("watches each of several pieces of work, also when others of them have ended", async () => {
    const clock = start();
    const first = guard(() => 3, never);
    const second = guard(() => 3, never);
    await watchdog?.guard(() => 3, Promise.resolve());
    await clock.tick();
    await clock.tick();
    expect([first.outcome(), second.outcome()]).toEqual(["stalled", "stalled"]);
  });

  it("sleeps no more once it was stopped", async () => {
    const clock = start();
    watchdog?.stop();
    await clock.tick();
    expect(clock.slept).toHaveLength(1);
  });
});
