/**
 * Time, as a constructor argument: a real clock for real programs, a virtual one for runs over a scripted world.
 *
 * Invariants.
 * 1. A virtual clock moves only when someone sleeps or steps it; reading it never moves it.
 * 2. Sleeping on a virtual clock costs no host time: it moves the clock to the deadline and resolves.
 * 3. A sleep that is cut short by its signal resolves; it does not reject, because the sleeper re-reads its state
 *    either way (spec §4.2).
 */

/** A source of time. Times are Unix milliseconds. */
export interface Clock {
  now(): number;
  /** Resolves when `delayMs` have passed or the signal fires, whichever is first. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** The time at which every virtual clock starts unless told otherwise: 2023-11-14T22:13:20Z. */
export const VIRTUAL_EPOCH_MS = 1_700_000_000_000;

/** A clock that the run moves by hand. */
export class VirtualClock implements Clock {
  #nowMs: number;

  constructor(startMs: number = VIRTUAL_EPOCH_MS) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  async sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    this.#nowMs += Math.max(0, delayMs);
  }

  /** Moves the clock by `deltaMs`, backwards too: a clock step is a fault like any other. */
  step(deltaMs: number): void {
    this.#nowMs += deltaMs;
  }
}

/** The timer functions of the host, handed in because this room imports no Node module. */
export interface HostTimers {
  now(): number;
  setTimeout(callback: () => void, delayMs: number): unknown;
  clearTimeout(handle: unknown): void;
}

/** Calls back every `intervalMs` until the returned function is called. Runs over virtual time inject none. */
export type RepeatingTimer = (intervalMs: number, callback: () => void) => () => void;

/** The host's timer; it keeps no process alive. */
export const hostRepeatingTimer: RepeatingTimer = (intervalMs, callback) => {
  const handle = setInterval(callback, intervalMs);
  handle.unref();
  return () => clearInterval(handle);
};

/** The host's clock. */
export class RealClock implements Clock {
  readonly #timers: HostTimers;

  constructor(timers: HostTimers = hostTimers) {
    this.#timers = timers;
  }

  now(): number {
    return this.#timers.now();
  }

  async sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    let restMs = Math.max(0, delayMs);
    do {
      if (signal?.aborted) return;
      const partMs = Math.min(restMs, TIMER_MAX_MS);
      await this.#sleepOnce(partMs, signal);
      restMs -= partMs;
    } while (restMs > 0);
  }

  #sleepOnce(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        this.#timers.clearTimeout(handle);
        signal?.removeEventListener("abort", finish);
        resolve();
      };
      const handle = this.#timers.setTimeout(finish, delayMs);
      signal?.addEventListener("abort", finish, { once: true });
    });
  }
}

/** The longest delay of a host timer, about 25 days; a longer one would fire at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

const hostTimers: HostTimers = {
  now: () => Date.now(),
  setTimeout: (callback, delayMs) => globalThis.setTimeout(callback, delayMs),
  clearTimeout: (handle) => globalThis.clearTimeout(handle as ReturnType<typeof globalThis.setTimeout>),
};
