import { describe, expect, it } from "vitest";
import { type HostTimers, hostRepeatingTimer, RealClock, VIRTUAL_EPOCH_MS, VirtualClock } from "./index.ts";

describe("VirtualClock", () => {
  it("never moves by itself, however often it is read", async () => {
    const clock = new VirtualClock();
    const readings = Array.from({ length: 1000 }, () => clock.now());
    await new Promise((resolve) => setImmediate(resolve));
    expect(new Set([...readings, clock.now()])).toEqual(new Set([VIRTUAL_EPOCH_MS]));
  });

  it("sleeps to the deadline at no cost of host time", async () => {
    const clock = new VirtualClock(1000);
    await clock.sleep(24 * 3600 * 1000);
    expect(clock.now()).toBe(1000 + 24 * 3600 * 1000);
    await clock.sleep(-5);
    expect(clock.now()).toBe(1000 + 24 * 3600 * 1000);
  });

  it("does not move for a sleep whose signal has fired, and does not reject", async () => {
    const clock = new VirtualClock(1000);
    await clock.sleep(50, AbortSignal.abort());
    expect(clock.now()).toBe(1000);
  });

  it("steps backwards when told to", () => {
    const clock = new VirtualClock(1000);
    clock.step(-300);
    expect(clock.now()).toBe(700);
  });
});

/** Timers that fire by hand, as the host's do: never inside `setTimeout` itself. */
class HandTimers implements HostTimers {
  readonly pending = new Map<number, { fire: () => void; delayMs: number }>();
  #handles = 0;

  now(): number {
    return 42;
  }

  setTimeout(fire: () => void, delayMs: number): number {
    this.#handles++;
    this.pending.set(this.#handles, { fire, delayMs });
    return this.#handles;
  }

  clearTimeout(handle: unknown): void {
    this.pending.delete(handle as number);
  }

  get delays(): number[] {
    return [...this.pending.values()].map((timer) => timer.delayMs);
  }

  async fireAll(): Promise<void> {
    for (const timer of [...this.pending.values()]) timer.fire();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("RealClock", () => {
  it("reads the host's time through the timers it was given", () => {
    expect(new RealClock(new HandTimers()).now()).toBe(42);
  });

  it("resolves a sleep when its timer fires, and not before", async () => {
    const timers = new HandTimers();
    let awake = false;
    const sleep = new RealClock(timers).sleep(250).then(() => {
      awake = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([awake, timers.delays]).toEqual([false, [250]]);
    await timers.fireAll();
    await sleep;
    expect(timers.pending.size).toBe(0);
  });

  it("resolves a sleep when its signal fires, and clears the timer", async () => {
    const timers = new HandTimers();
    const controller = new AbortController();
    const sleep = new RealClock(timers).sleep(250, controller.signal);
    controller.abort();
    await sleep;
    expect(timers.pending.size).toBe(0);
  });

  it("sets no timer for a signal that has fired already", async () => {
    const timers = new HandTimers();
    await new RealClock(timers).sleep(250, AbortSignal.abort());
    expect(timers.pending.size).toBe(0);
  });

  it("sleeps longer than one host timer can, in parts", async () => {
    const timers = new HandTimers();
    const longestMs = 2 ** 31 - 1;
    let awake = false;
    const sleep = new RealClock(timers).sleep(longestMs + 10).then(() => {
      awake = true;
    });
    expect(timers.delays).toEqual([longestMs]);
    await timers.fireAll();
    expect([awake, timers.delays]).toEqual([false, [10]]);
    await timers.fireAll();
    await sleep;
    expect(awake).toBe(true);
  });

  it("sleeps on the host's timers by default", async () => {
    const clock = new RealClock();
    const before = clock.now();
    await clock.sleep(0);
    expect(clock.now()).toBeGreaterThanOrEqual(before);
  });
});

describe("hostRepeatingTimer", () => {
  it("calls back again and again until it is stopped", async () => {
    let calls = 0;
    await new Promise<void>((resolve) => {
      const stop = hostRepeatingTimer(1, () => {
        calls++;
        if (calls < 3) return;
        stop();
        resolve();
      });
    });
    await new RealClock().sleep(5);
    expect(calls).toBe(3);
  });
});
