/**
 * Boundaries: the places where a process can die, and cuts: dying there.
 *
 * Terms. *Label*: the specification's name of a commit (`generation.intent`) or of an effect (`provider.request`).
 * *Occurrence*: the how-manieth boundary of that label in the run, from 1. *Position*: before the boundary is
 * crossed; inside it; after it was crossed and before anything else happened.
 *
 * What `inside` means. A commit: part of its bytes are on the medium (only a medium whose write is not atomic has
 * this). An effect: it happened in the world, its answer never reached the runtime.
 */

/** A place where a process can die. */
export interface Boundary {
  readonly kind: BoundaryKind;
  readonly label: string;
  /** From 1. */
  readonly occurrence: number;
}

export type BoundaryKind = "commit" | "effect";

export type Position = "before" | "inside" | "after";

/** One death: a boundary and a position; for a torn commit also how many of its bytes reached the medium. */
export interface Cut {
  readonly boundary: Boundary;
  readonly position: Position;
  /** Bytes of the commit that are on the medium; only for `inside` a commit. */
  readonly bytesWritten?: number;
}

/** `tool.settle#2`. */
export function boundaryName({ label, occurrence }: Pick<Boundary, "label" | "occurrence">): string {
  return `${label}#${occurrence}`;
}

/** `tool.settle#2:after`, `generation.settle.finish#1:inside@117`. */
export function cutName({ boundary, position, bytesWritten }: Cut): string {
  const at = bytesWritten === undefined ? "" : `@${bytesWritten}`;
  return `${boundaryName(boundary)}:${position}${at}`;
}

/** Counts occurrences by label, so that arrivals become boundaries. */
export class BoundaryCounter {
  readonly #counts = new Map<string, number>();

  /** The next boundary of a label. */
  next(kind: BoundaryKind, label: string): Boundary {
    const occurrence = (this.#counts.get(label) ?? 0) + 1;
    this.#counts.set(label, occurrence);
    return { kind, label, occurrence };
  }
}
