/**
 * What a run could read of its host without declaring it: the clock, the random source, unique ids, timers.
 *
 * Each of these sources is interposed while `observing` is under way, and answers in one of two ways. *Plain*: from a
 * fixed beginning; a timer fires at the next turn of the event loop. *Otherwise*: a day later, mirrored, under other ids;
 * a timer is slow. Both ways are the same in every process, so that what a run makes of them can be repeated; and a run
 * that reads none of them cannot tell them apart.
 *
 * Invariants.
 * 1. Only what is called by the work that is observed, or by what it began, is answered and counted. The explorer beside
 *    it, its watchdog and its progress have the host's own sources.
 * 2. After the last `observing` the host has its own functions again.
 * 3. What a program took hold of before (`const { random } = Math` at its start), intervals, further clocks and random
 *    bytes (`performance.now`, `crypto.randomBytes`) are not seen here. Then nothing is named.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import timersPromises from "node:timers/promises";
import { type Random, seededRandom, VIRTUAL_EPOCH_MS } from "../../foundation/index.ts";

/** The sources, by the names that a reader knows them by. */
export const SOURCES = ["Date.now", "Math.random", "randomUUID", "a real timer"] as const;
export type Source = (typeof SOURCES)[number];

/** What was asked of the host in one observation. */
export interface Observation {
  readonly seen: ReadonlySet<Source>;
}

/** The state of the host in one observation. */
class Condition implements Observation {
  readonly seen = new Set<Source>();
  readonly #otherwise: ReadonlySet<Source>;
  readonly #random: Random = seededRandom("host");
  #clockReads = 0;
  #idCount = 0;

  constructor(otherwise: readonly Source[]) {
    this.#otherwise = new Set(otherwise);
  }

  now(): number {
    return VIRTUAL_EPOCH_MS + ++this.#clockReads + (this.#ask("Date.now") ? DAY_MS : 0);
  }

  random(): number {
    const drawn = this.#random.nextUint32() / 2 ** 32;
    return this.#ask("Math.random") ? (drawn + 0.5) % 1 : drawn;
  }

  uuid(): ReturnType<typeof crypto.randomUUID> {
    const count = (++this.#idCount).toString(16).padStart(12, "0");
    return `${this.#ask("randomUUID") ? "f0000000" : "00000000"}-0000-4000-8000-${count}`;
  }

  /** Waits as long as a timer does. */
  async timer(): Promise<void> {
    const turnCount = this.#ask("a real timer") ? SLOW_TURNS : 1;
    for (let turn = 0; turn < turnCount; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
  }

  /** Whether the source answers otherwise. */
  #ask(source: Source): boolean {
    this.seen.add(source);
    return this.#otherwise.has(source);
  }
}

const DAY_MS = 86_400_000;
/** Turns of the event loop until a slow timer fires: more than a run over a virtual clock takes between two of its steps. */
const SLOW_TURNS = 256;

const TIMER_MAX_MS = 2 ** 31 - 1;

const current = new AsyncLocalStorage<Condition>();

/** Runs `work` over a host whose sources answer plainly, but for those that answer `otherwise`. */
export async function observing<T>(
  otherwise: readonly Source[],
  work: (within: Within) => Promise<T>,
): Promise<{ readonly result: T; readonly observation: Observation }> {
  const condition = new Condition(otherwise);
  if (underWay++ === 0) restore = interpose();
  try {
    const result = await work((observed) => current.run(condition, observed));
    return { result, observation: condition };
  } finally {
    if (--underWay === 0) restore();
  }
}

let underWay = 0;
let restore: () => void = () => undefined;

/** Calls a function, so that what it and all that it begins asks of the host is observed. */
export type Within = <R>(observed: () => R) => R;

/** Puts the interposed functions in the place of the host's; returns what takes them away. */
function interpose(): () => void {
  const HostDate = globalThis.Date;
  const own = {
    now: HostDate.now,
    random: Math.random,
    uuid: crypto.randomUUID,
    webUuid: globalThis.crypto.randomUUID,
    timeout: globalThis.setTimeout,
    clear: globalThis.clearTimeout,
    sleep: timersPromises.setTimeout,
  };
  HostDate.now = () => current.getStore()?.now() ?? own.now.call(HostDate);
  globalThis.Date = new Proxy(HostDate, {
    construct: (target, args, newTarget) => {
      const nowMs = args.length === 0 ? current.getStore()?.now() : undefined;
      return Reflect.construct(target, nowMs === undefined ? args : [nowMs], newTarget);
    },
  });
  Math.random = () => current.getStore()?.random() ?? own.random.call(Math);
  crypto.randomUUID = (options) => current.getStore()?.uuid() ?? own.uuid.call(crypto, options);
  globalThis.crypto.randomUUID = () => current.getStore()?.uuid() ?? own.webUuid.call(globalThis.crypto);
  const cleared = new WeakSet<object>();
  globalThis.setTimeout = timers.setTimeout = new Proxy(own.timeout, {
    apply: (target, self, [callback, delayMs, ...args]) => {
      const condition = current.getStore();
      if (condition === undefined) return Reflect.apply(target, self, [callback, delayMs, ...args]);
      // Stands for the timer, and never fires by itself.
      const handle: NodeJS.Timeout = Reflect.apply(target, self, [() => undefined, TIMER_MAX_MS]);
      void condition.timer().then(() => {
        own.clear(handle);
        if (!cleared.has(handle)) callback(...args);
      });
      return handle;
    },
  });
  globalThis.clearTimeout = timers.clearTimeout = (handle) => {
    if (typeof handle === "object") cleared.add(handle);
    own.clear(handle);
  };
  timersPromises.setTimeout = new Proxy(own.sleep, {
    apply: async (target, self, [delayMs, value, options]) => {
      const condition = current.getStore();
      if (condition === undefined) return Reflect.apply(target, self, [delayMs, value, options]);
      await condition.timer();
      options?.signal?.throwIfAborted();
      return value;
    },
  });
  syncBuiltinESMExports();
  return () => {
    globalThis.Date = HostDate;
    HostDate.now = own.now;
    Math.random = own.random;
    crypto.randomUUID = own.uuid;
    globalThis.crypto.randomUUID = own.webUuid;
    globalThis.setTimeout = timers.setTimeout = own.timeout;
    globalThis.clearTimeout = timers.clearTimeout = own.clear;
    timersPromises.setTimeout = own.sleep;
    syncBuiltinESMExports();
  };
}
