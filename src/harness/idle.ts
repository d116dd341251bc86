/**
 * Waiting for a lane to be idle, and having it alone then (spec §5.1).
 *
 * A lane is idle when it has no open operation, no drive, and no reservation. Whoever waits is looked after on the
 * mutation line, so behind every job that was admitted before: at once, and again whenever something has ended.
 *
 * 1. All who only wait are let go together. Whoever wants the lane alone has it one after the other, in their order; what
 *    would start an operation or move the leaf waits meanwhile.
 * 2. An end of the harness rejects whoever still waits. A callback that runs is not interrupted; close waits for it.
 *
 * An operation that is ended from outside while nobody drives it is noticed at the next job of the lane.
 */
import type { Lifecycle } from "./lifecycle.ts";

/** What is known of a lane, and how a job stands on its line. */
export interface IdleLane {
  /** Asked on the mutation line. */
  isIdle(): Promise<boolean>;
  onLine(job: () => Promise<void>): Promise<void>;
  readonly lifecycle: Lifecycle;
}

/** See the module header. */
export class Idleness {
  readonly #lane: IdleLane;
  #waiting: (() => void)[] = [];
  #applicants: (() => void)[] = [];
  #behind: (() => void)[] = [];
  #isHeld = false;
  #isLooking = false;

  constructor(lane: IdleLane) {
    this.#lane = lane;
  }

  /** Whether a callback has the lane. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Resolves when the callback that has the lane is through. Whoever waited judges again. */
  async released(): Promise<void> {
    if (!this.#isHeld) return;
    await this.#lane.lifecycle.untilEnd(new Promise<void>((resolve) => this.#behind.push(resolve)));
  }

  /** Resolves when the lane is idle. */
  wait(): Promise<void> {
    return this.#behindWhatCameBefore((resolve) => this.#waiting.push(resolve));
  }

  /** Calls the callback once the lane is idle, and keeps the lane until it has settled. */
  async hold(callback: () => void | Promise<void>): Promise<void> {
    const { lifecycle } = this.#lane;
    await this.#behindWhatCameBefore((resolve) => this.#applicants.push(resolve));
    try {
      lifecycle.admit();
      await lifecycle.outlasting(async () => callback());
    } finally {
      this.#isHeld = false;
      for (const resolve of this.#behind.splice(0)) resolve();
      this.changed();
    }
  }

  /** Registers and looks in one job: behind everything that was called before, and before everything after it. */
  #behindWhatCameBefore(register: (resolve: () => void) => void): Promise<void> {
    const registered = new Promise<void>((resolve) => {
      this.#onLine(async () => {
        register(resolve);
        await this.#look();
      });
    });
    return this.#lane.lifecycle.untilEnd(registered);
  }

  /** Something has ended: looks whether the lane is idle, if anybody waits for that. */
  changed(): void {
    if (this.#isLooking || (this.#waiting.length === 0 && this.#applicants.length === 0)) return;
    this.#isLooking = true;
    this.#onLine(async () => {
      this.#isLooking = false;
      await this.#look();
    });
  }

  #onLine(job: () => Promise<void>): void {
    // A read that failed, or a harness that has ended: whoever waits is told of that by the end.
    this.#lane.onLine(job).catch((error: unknown) => {
      this.#lane.lifecycle.fault(error);
    });
  }

  /** Lets go whoever waits, if the lane is idle. Called on the mutation line. */
  async #look(): Promise<void> {
    if (this.#isHeld || !(await this.#lane.isIdle())) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
    const next = this.#applicants.shift();
    if (next === undefined) return;
    this.#isHeld = true;
    next();
  }
}
