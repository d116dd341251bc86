/**
 * What is looked up for a run id, and whether it makes a run.
 *
 * An id may name parts that are all known and that cannot be run together. Whatever came of such a run would accuse a
 * system of breaking what it never promised.
 */
import type { Race, RunId, Scenario } from "../faults/index.ts";
import type { Subject } from "../subject/index.ts";
import { isInterleaving } from "./race/interleavings.ts";

/** What the caller looked up for the id. */
export interface ReproParts {
  readonly id: RunId;
  readonly text: string;
  /** Of the id; undefined for a run whose workload is generated. */
  readonly scenario: Scenario | undefined;
  /** The subject; for runs of subjects that must agree, all of them. */
  readonly subjects: readonly Subject[];
  /** The race, for a run of one; `scenario` is what it runs. */
  readonly race?: Race;
}

/** What was expected of parts that make no run; undefined if they do. */
export function expectedOf({ id: { kind, order }, subjects, race }: ReproParts): string | undefined {
  const isCompared = kind === "backends" || kind === "race";
  if (isCompared && new Set(subjects.map(({ family }) => family)).size > 1) {
    return "subjects of one family, because only they must agree";
  }
  if (kind === "backends" && subjects.length < 2) return "several subjects, joined by =, to be compared";
  if (kind === "takeover" && subjects.some(({ grade }) => grade !== "multi-writer")) {
    return "a subject whose sessions another process can take over, such as sqlite";
  }
  const orders = race?.orders.map(({ name }) => name) ?? [];
  if (order !== undefined && !isInterleaving(order) && !orders.includes(order)) {
    return `an order of the race: ${orders.join(", ")}, or an interleaving such as steps@0.1.0`;
  }
  return undefined;
}
