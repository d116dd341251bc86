/**
 * Open, closed or faulted: the barrier that every commit of a harness passes (spec §4.7, §4.8).
 *
 * Invariants.
 * 1. A commit that passed the barrier before the seal may finish, and close waits for it in the store. One that comes
 *    after the seal never reaches the store.
 * 2. Whatever a caller waits for settles when the harness ends: with `HarnessClosed` or with the `HarnessFault`.
 * 3. A read that fails when the harness has ended fails because of that: its caller learns of the end.
 * 4. The first end is the one: a closed harness does not become faulted, a faulted one can still be closed.
 */
import { HarnessClosed, HarnessFault } from "./errors.ts";

type End = HarnessClosed | HarnessFault;

/** See the module header. */
export class Lifecycle {
  #end: End | undefined;
  readonly #listeners = new Set<(end: End) => void>();
  readonly #outlasting = new Set<Promise<unknown>>();

  /** Why nothing goes on, or undefined while the harness is open. */
  get end(): End | undefined {
    return this.#end;
  }

  /** The barrier. @throws the end, if there is one. */
  admit(): void {
    if (this.#end) throw this.#end;
  }

  /** Runs work that reads and commits nothing, or commits through `commit`. */
  async reading<T>(work: () => Promise<T>): Promise<T> {
    this.admit();
    try {
      return await work();
    } catch (error) {
      throw this.#end ?? error;
    }
  }

  /** Runs a commit through the barrier. Its failure is the fault of the whole harness. */
  async commit<T>(commit: () => Promise<T>): Promise<T> {
    this.admit();
    try {
      return await commit();
    } catch (error) {
      // A store that was sealed under a commit reports that it is closed; the reason is the close, not the medium.
      throw this.#end ?? this.fault(error);
    }
  }

  /** Ends the harness because of a failure; returns what its callers are rejected with. */
  fault(cause: unknown): End {
    if (cause === this.#end && this.#end) return this.#end;
    return this.#finish(new HarnessFault(cause));
  }

  /** Ends the harness on request. */
  seal(): void {
    this.#finish(new HarnessClosed());
  }

  /** Calls the listener at the end; at once if that has come. Returns the way to take it back. */
  onEnd(listener: (end: End) => void): () => void {
    if (this.#end) {
      listener(this.#end);
      return () => undefined;
    }
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The promise, or the end of the harness if that comes first. */
  untilEnd<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const stopListening = this.onEnd(reject);
      work.then(
        (value) => {
          stopListening();
          resolve(value);
        },
        (error: unknown) => {
          stopListening();
          reject(error);
        },
      );
    });
  }

  /** Runs work that an end does not interrupt, and that a close waits for. */
  async outlasting<T>(work: () => Promise<T>): Promise<T> {
    const running = work();
    this.#outlasting.add(running);
    try {
      return await running;
    } finally {
      this.#outlasting.delete(running);
    }
  }

  /** Resolves when nothing of that is left. */
  async outlasted(): Promise<void> {
    await Promise.allSettled(this.#outlasting);
  }

  #finish(end: End): End {
    if (this.#end) return this.#end;
    this.#end = end;
    for (const listener of [...this.#listeners]) listener(end);
    this.#listeners.clear();
    return end;
  }
}
