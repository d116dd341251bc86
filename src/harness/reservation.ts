/**
 * The reservation of an idle lane (spec §3.6): while structural work is prepared, nothing else may move the lane's leaf.
 *
 * It is of this process alone and stands for an operation that may come to be: others are refused as if it were open,
 * under its provisional id, and tree writes wait. It is taken and given back on the mutation line or next to it, never
 * across a crash: a process that dies leaves the lane idle.
 */
import type { OperationKind } from "../model/index.ts";

/** The operation for which a lane is reserved. */
export interface ReservedFor {
  readonly operationId: string;
  readonly kind: OperationKind;
}

/** See the module header. */
export class Reservation {
  readonly #onRelease: () => void;
  #held: ReservedFor | undefined;
  #waiting: (() => void)[] = [];

  /** @param onRelease told after each release: the lane may be idle. */
  constructor(onRelease: () => void) {
    this.#onRelease = onRelease;
  }

  /** Who has the lane, if it is reserved. */
  get heldFor(): ReservedFor | undefined {
    return this.#held;
  }

  take(reservedFor: ReservedFor): void {
    if (this.#held) throw new Error(`the lane is reserved for ${this.#held.operationId} already`);
    this.#held = reservedFor;
  }

  /** Gives the lane back, if it is reserved. */
  release(): void {
    this.#held = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
    this.#onRelease();
  }

  /** Resolves when the lane is not reserved. Whoever waited judges again: another reservation may have come. */
  async released(): Promise<void> {
    while (this.#held) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
