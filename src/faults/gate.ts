/**
 * The gate: everything durable and everything outside goes through it, one boundary at a time.
 *
 * A runtime does not know the gate. Its store and its world are wrapped: each commit and each effect *arrives* here,
 * and waits until it is released. So any runtime can be walked, cut and raced, whatever way it is driven.
 *
 * Invariants.
 * 1. While something is parked, nothing durable is written and nothing outside happens.
 * 2. `step` crosses exactly one boundary, then waits until the runtime has parked again or has nothing left to do.
 * 3. Arrivals are released in the order in which they came, unless the caller names another; with a deterministic
 *    runtime the order is the same in every run.
 * 4. After `drop` nothing that is parked ever goes on: that is death. What was being crossed at that moment happens,
 *    and its outcome reaches nobody. Promises of the dead life stay unsettled.
 * 5. No life crosses more boundaries than the cap: the next one drops it and says so (`capReached`), so a runtime that
 *    loops ends as inconclusive instead of never.
 */
import { type Boundary, BoundaryCounter, type BoundaryKind } from "./boundary.ts";

interface Parked {
  readonly boundary: Boundary;
  readonly actor: string;
  readonly release: () => void;
}

/** See the module header. One gate serves one life of a process. */
export class Gate {
  readonly #cap: number;
  readonly #actorOf: () => string;
  readonly #counter = new BoundaryCounter();
  readonly #parked: Parked[] = [];
  /** Being crossed now; several at once in a parallel runtime. */
  #crossingCount = 0;
  #crossedCount = 0;
  #open: boolean;
  #dropped = false;
  #capReached = false;
  #waiters: (() => void)[] = [];
  #die: () => void = () => undefined;
  #pause: ((boundary: Boundary) => boolean) | undefined;

  /** Resolves when the life is dead. */
  readonly dead: Promise<void>;

  /**
   * @param cap the most boundaries that one life may cross.
   * @param actorOf asked at each arrival, by whom it is; for whoever lets several go on side by side.
   */
  constructor(options: { open: boolean; cap?: number; actorOf?: () => string }) {
    this.#actorOf = options.actorOf ?? (() => "");
    this.#open = options.open;
    this.#cap = options.cap ?? 10_000;
    this.dead = new Promise((resolve) => {
      this.#die = resolve;
    });
  }

  /** Boundaries crossed so far. */
  get crossedCount(): number {
    return this.#crossedCount;
  }

  /** Whether the life ended because it crossed too much; see invariant 5. */
  get capReached(): boolean {
    return this.#capReached;
  }

  /** What is parked now, in order of arrival. */
  get parked(): readonly Boundary[] {
    return this.#parked.map((item) => item.boundary);
  }

  /** What is parked now and by whom, in order of arrival. */
  get waiting(): readonly { readonly boundary: Boundary; readonly actor: string }[] {
    return this.#parked.map(({ boundary, actor }) => ({ boundary, actor }));
  }

  /**
   * Called by a wrapped store or world. Resolves to what `cross` returns, once the boundary was released; never
   * settles after `drop`.
   */
  pass<T>(kind: BoundaryKind, label: string, cross: (boundary: Boundary) => T | Promise<T>): Promise<T> {
    if (this.#dropped) return never();
    const boundary = this.#counter.next(kind, label);
    if (this.#open && this.#pause?.(boundary) !== true) return this.#cross(boundary, cross);
    this.#open = false;
    const actor = this.#actorOf();
    return new Promise<void>((release) => {
      this.#parked.push({ boundary, actor, release });
      this.#wakeUp();
    }).then(() => this.#cross(boundary, cross));
  }

  /** Lets the named parked boundary through; `quiet` then tells when the runtime has parked again or is done. */
  release(boundary: Boundary): void {
    const index = this.#parked.findIndex(
      (item) => item.boundary.label === boundary.label && item.boundary.occurrence === boundary.occurrence,
    );
    const [item] = index < 0 ? [] : this.#parked.splice(index, 1);
    if (item === undefined) throw new Error(`nothing is parked at ${boundary.label}#${boundary.occurrence}`);
    item.release();
  }

  /**
   * Lets everything through from now on, what is parked first, except that the first boundary for which `until` holds
   * is parked, or stays so. The gate is closed again then.
   */
  open(until?: (boundary: Boundary) => boolean): void {
    const stop = this.#parked.findIndex((item) => until?.(item.boundary) === true);
    this.#pause = until;
    this.#open = stop < 0;
    for (const item of this.#parked.splice(0, stop < 0 ? this.#parked.length : stop)) item.release();
  }

  /** Death: see invariant 4. */
  drop(): void {
    this.#dropped = true;
    this.#parked.length = 0;
    this.#die();
    this.#wakeUp();
  }

  /**
   * Resolves when something is parked, or `idle` has settled, and everything that can still arrive without a release
   * has arrived, and nothing is being crossed.
   */
  async quiet(idle: Promise<unknown>): Promise<void> {
    let done = false;
    const finish = () => {
      done = true;
      this.#wakeUp();
    };
    idle.then(finish, finish);
    const isBusy = () => !this.#dropped && (this.#crossingCount > 0 || (this.#parked.length === 0 && !done));
    // A release runs in a microtask of its own; without this turn its boundary would not be seen as being crossed.
    await turn();
    do {
      while (isBusy()) await new Promise<void>((resolve) => this.#waiters.push(resolve));
      // Siblings of a parallel runtime arrive in the same turn of the event loop.
      await turn();
    } while (isBusy());
  }

  async #cross<T>(boundary: Boundary, cross: (boundary: Boundary) => T | Promise<T>): Promise<T> {
    if (!this.#dropped && this.#crossedCount >= this.#cap) {
      this.#capReached = true;
      this.drop();
    }
    if (this.#dropped) return never();
    this.#crossedCount++;
    this.#crossingCount++;
    let outcome: T;
    try {
      outcome = await cross(boundary);
    } catch (error) {
      if (this.#dropped) return never();
      throw error;
    } finally {
      this.#crossingCount--;
      this.#wakeUp();
    }
    return this.#dropped ? never() : outcome;
  }

  #wakeUp(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }
}

/** The promise of a dead life. */
function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}

/** One turn of the event loop: every microtask that is due has run. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
