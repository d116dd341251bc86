/**
 * The watchdog: a run that neither ends nor moves is stopped and said so.
 *
 * Virtual time makes every honest wait instant, so a life that stands still for long in host time waits for something
 * that will never come. One ticking timer serves all runs; a run that moves costs nothing here.
 */
import type { Clock } from "../foundation/index.ts";

/** See the module header. Call `stop` when the exploration is over, or the host process stays alive. */
export class Watchdog {
  readonly #stallMs: number;
  readonly #stopping = new AbortController();
  #watched: { readonly progress: () => number; seen: number; readonly stalled: () => void } | undefined;

  /** @param stallMs host milliseconds without a crossed boundary after which a run counts as stalled. */
  constructor(clock: Clock, stallMs = 10_000) {
    this.#stallMs = stallMs;
    void this.#tick(clock);
  }

  /** `work`, or "stalled" if `progress` stands still for a whole tick while `work` is not done. */
  async guard<T>(progress: () => number, work: Promise<T>): Promise<T | "stalled"> {
    const stalled = new Promise<"stalled">((resolve) => {
      this.#watched = { progress, seen: -1, stalled: () => resolve("stalled") };
    });
    try {
      return await Promise.race([work, stalled]);
    } finally {
      this.#watched = undefined;
    }
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #tick(clock: Clock): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await clock.sleep(this.#stallMs, signal);
      const watched = this.#watched;
      if (watched === undefined) continue;
      const now = watched.progress();
      if (now === watched.seen) watched.stalled();
      watched.seen = now;
    }
  }
}
