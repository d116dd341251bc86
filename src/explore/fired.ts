/**
 * Marks of faults: how often each kind of fault was to be done, and how often it was done and seen to be.
 *
 * A death is of the kind of its position; everything else is named by its explorer, place and number left out.
 */
import type { GroupKind } from "./result.ts";

/** One kind of fault in one kind of run. */
export interface Fired {
  readonly group: GroupKind;
  /** `before`, `inside`, `write-eio`, `tool-hangs`. */
  readonly fault: string;
  /** Those that were reached, and have a verdict other than inconclusive. */
  readonly fired: number;
  readonly total: number;
}

/** The kind of a fault, from its name in a group of that kind. */
export function faultKindOf(group: GroupKind, name: string): string {
  switch (group) {
    // `tool.settle#2:cut@117`
    case "torn":
      return name.slice(name.lastIndexOf(":") + 1).replace(/@.*$/, "");
    // `first.write-eio+lasting@3`
    case "disk-faults":
      return name.replace(/^(first|next|upkeep)\./, "").replace(/@\d+$/, "");
    // `tool-hangs@1+tool.settle#1:after`, `resume@17`
    case "world-faults":
    case "lease":
      return name.replace(/@.*$/, "");
    default:
      return name;
  }
}

/** The kind of a death, from its name: `tool.settle#2:before`. */
export function positionOf(name: string): string {
  return name.slice(name.lastIndexOf(":") + 1);
}

/** Counts names by kind; `fired` holds those of `all` that fired. */
export function countFired(
  group: GroupKind,
  all: Iterable<string>,
  fired: ReadonlySet<string>,
  kindOf: (name: string) => string = (name) => faultKindOf(group, name),
): readonly Fired[] {
  const kinds = new Map<string, { fired: number; total: number }>();
  for (const name of all) {
    const kind = kindOf(name);
    const known = kinds.get(kind) ?? { fired: 0, total: 0 };
    kinds.set(kind, { fired: known.fired + (fired.has(name) ? 1 : 0), total: known.total + 1 });
  }
  return [...kinds].map(([fault, counts]) => ({ group, fault, ...counts }));
}

/** Counts of several groups together, in the order in which they were met. */
export function sumFired(all: readonly Fired[]): readonly Fired[] {
  const sums = new Map<string, Fired>();
  for (const one of all) {
    const key = `${one.group} ${one.fault}`;
    const known = sums.get(key);
    const sum = { fired: one.fired + (known?.fired ?? 0), total: one.total + (known?.total ?? 0) };
    sums.set(key, { ...one, ...sum });
  }
  return [...sums.values()];
}
