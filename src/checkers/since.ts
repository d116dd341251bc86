/**
 * How many events ago something happened, in one life of a process.
 *
 * An effect that waits between its start and its happening may be overtaken. Whoever judges it asks whether what speaks
 * against it came before the start or after it.
 */
export class Since {
  #count: number | undefined;

  /** It happens with the event that is being looked at. */
  happened(): void {
    this.#count = 0;
  }

  /** Another event. */
  passed(): void {
    if (this.#count !== undefined) this.#count++;
  }

  /** A life begins: what happened in an earlier one came before everything in this one. */
  forget(): void {
    this.#count = undefined;
  }

  /** Whether it is among the last events: those that overtook the present one. */
  isAmongLast(count: number): boolean {
    return this.#count !== undefined && this.#count <= count;
  }

  fork(): Since {
    const copy = new Since();
    copy.#count = this.#count;
    return copy;
  }
}
