/**
 * A medium that fails: one of its calls, counted from the beginning of a life, or all of them from that one on.
 *
 * Terms. *Kind*: which calls fail, with which error, and how much of their work they have done by then. A medium lists
 * its kinds as data (`Subject.mediumFaults`), and asks the fault of its life before each of its calls.
 *
 * Invariants.
 * 1. A fault that was not reached has not fired, and a run in which it has not fired shows nothing.
 * 2. Counting changes nothing: with call 0 nothing fails, and the calls are counted all the same.
 */

/** What a life finds when it begins: a new session; what a death left; and, beside that, work of upkeep that is due. */
export type FaultyLife = "first" | "next" | "upkeep";

/** One way in which calls of a medium fail. */
export interface MediumFaultKind {
  /** Letters, digits and dashes: `write-enospc`. */
  readonly name: string;
  /** The calls that fail in this way, by the medium's own names. */
  readonly calls: readonly string[];
  /** The lives in which such calls are made; in each of them it must fire. */
  readonly lives: readonly FaultyLife[];
  readonly outcome: FaultOutcome;
}

/** `throws` an error of a code, with none, a part or all of the call's work done; or falls `short` and says so. */
export type FaultOutcome =
  | { readonly kind: "throws"; readonly code: string; readonly after: "nothing" | "a part" | "all" }
  | { readonly kind: "short" };

/** The fault of one life. */
export class MediumFault {
  readonly kind: MediumFaultKind;
  readonly life: FaultyLife;
  readonly #call: number;
  readonly #isLasting: boolean;
  #count = 0;
  #firedCount = 0;
  #isAside = false;

  /**
   * @param call which of its calls fails, from 1; with 0 none.
   * @param isLasting whether all calls after it fail too.
   */
  constructor(kind: MediumFaultKind, life: FaultyLife, call: number, isLasting: boolean) {
    this.kind = kind;
    this.life = life;
    this.#call = call;
    this.#isLasting = isLasting;
  }

  /** How often a call of its kind was made. */
  get callCount(): number {
    return this.#count;
  }

  get hasFired(): boolean {
    return this.#firedCount > 0;
  }

  /** Asked before a call: how it fails, or undefined if it does not. */
  next(call: string): FaultOutcome | undefined {
    if (this.#isAside || !this.kind.calls.includes(call)) return undefined;
    this.#count++;
    const isDue =
      this.#call > 0 && (this.#isLasting ? this.#count >= this.#call : this.#count === this.#call);
    if (!isDue) return undefined;
    this.#firedCount++;
    return this.kind.outcome;
  }

  /** What `work` calls before it first waits is neither counted nor failed: the judges ask, not the runtime. */
  aside<T>(work: () => T): T {
    this.#isAside = true;
    try {
      return work();
    } finally {
      this.#isAside = false;
    }
  }
}
