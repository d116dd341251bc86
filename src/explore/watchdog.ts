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
  /** What is under way. */
  readonly #watched = new Set<Watched>();

  /** @param stallMs host milliseconds without a crossed boundary after which a run counts as stalled. */
  constructor(clock: Clock, stallMs = 10_000) {
    this.#stallMs = stallMs;
    void this.#tick(clock);
  }

  /** `work`, or "stalled" if `progress` stands still for a whole tick while `work` is not done. */
  async guard<T>(progress: () => number, work: Promise<T>): Promise<T | "stalled"> {
    const watched: Watched = { progress, seen: -1, stalled: () => undefined };
    const stalled = new Promise<"stalled">((resolve) => {
      watched.stalled = () => resolve("stalled");
    });
    this.#watched.add(watched);
    try {
      return await Promise.race([work, stalled]);
    } finally {
      this.#watched.delete(watched);
    }
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #tick(clock: Clock): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await clock.sleep(this.#stallMs, signal);
      for (const watched of this.#watched) {
        const now = watched.progress();
        if (now === watched.seen) watched.stalled();
        watched.seen = now;
      }
    }
  }
}

interface Watched {
  readonly progress: () => number;
  /** The progress at the last tick. */
  seen: number;
  stalled(): void;
}
