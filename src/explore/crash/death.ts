/**
 * A death in a walk: where it falls, what it leaves, and whether another one left the very same.
 *
 * Terms. *Imprint*: everything that the run after a death depends on, as it was at the moment: the disk, the world and
 * its clock, the downtimes, and what the judges had seen.
 *
 * A run does the same given an equal disk, world, scenario, seed and incarnation (`subject/contract.ts`, invariant 4),
 * and its judges say the same given equal events; they are told that a process died, and never where. So two deaths of
 * one walk with equal imprints have one recovery. What each of them demands of it is still asked of each by itself.
 *
 * Invariants.
 * 1. Looking at a death changes nothing: only `fork` copies, and only the copy is used.
 * 2. Imprints are compared item by item and never assumed to be equal; a disk that has none is like no other.
 */
import type { Cut, TimelineEvent, WorldRow } from "../../faults/index.ts";
import type { Downtime } from "../../subject/index.ts";
import { dead, forkStanding, restarted, type Standing } from "../standing.ts";

/** See the module header. */
export interface Imprint {
  readonly disk: readonly unknown[];
  readonly rows: readonly WorldRow[];
  readonly nowMs: number;
  readonly downtimes: readonly Downtime[];
  readonly events: readonly TimelineEvent[];
}

/** See the module header. It may be looked at until the walk goes on. */
export class Death {
  readonly cut: Cut;
  readonly #here: Standing;
  readonly #folder: string;

  /** @param here the life in progress, as far as it came. */
  constructor(cut: Cut, here: Standing, folder: string) {
    this.cut = cut;
    this.#here = here;
    this.#folder = folder;
  }

  /** What is left, to be looked at. */
  get left(): Standing {
    return dead(this.#here, this.cut);
  }

  /** A copy of what is left, at the time of the restart, to go on from. */
  fork(): Standing {
    return restarted(dead(forkStanding(this.#here, this.#folder), this.cut));
  }

  /** Undefined if the disk cannot be compared. */
  imprint(): Imprint | undefined {
    const { disk, world, downtimes, events } = this.#here;
    const onDisk = disk.imprint?.();
    if (onDisk === undefined) return undefined;
    return { disk: onDisk, rows: [...world.rows], nowMs: world.clock.now(), downtimes, events };
  }
}

/** Whether two deaths of one walk left the very same. */
export function isSame(one: Imprint, other: Imprint): boolean {
  return (
    one.nowMs === other.nowMs &&
    areSame(one.rows, other.rows) &&
    areSame(one.downtimes, other.downtimes) &&
    areSame(one.events, other.events) &&
    areSame(one.disk, other.disk)
  );
}

/** Rows, downtimes and events of one walk are the same objects in all its deaths, and never change. */
function areSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}
