/**
 * The mutation line of a lane (spec §4.3): every change that depends on state queues here, and the next one starts
 * when the one before has validated, committed at most once, and updated memory.
 *
 * What waits for the outside never stands on a line: no provider, tool, hook or timer. So the line is always about to
 * be free, and two calls that race have exactly two histories.
 */

/** A queue of jobs, one at a time, in the order of their calls. A job that rejects does not hold up the next. */
export class MutationLine {
  #tail: Promise<unknown> = Promise.resolve();

  run<T>(job: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(job);
    this.#tail = result.catch(ignore);
    return result;
  }
}

function ignore(): void {}
