/**
 * A row: one line of the specification's transition tables, as data.
 *
 * A transaction conforms to a row if the operation stood in one of the phases `from` and stands in one of the phases
 * `to` afterwards, if its writes are taken by the row's steps one after another with nothing left over, and if every
 * fact in `holds` is true. The catalogue is complete when every legal transaction conforms to exactly one row.
 *
 * The rows are written from the tables and share nothing with the state machine that they judge: two readings of one
 * text that must agree.
 */
import type { EntryDraft, Write } from "../../model/index.ts";
import type { WriteForm } from "../write-form.ts";
import type { PhaseName } from "./phase.ts";
import type { Site } from "./site.ts";

/** See the module header. */
export interface Row {
  /** The label of the commit everywhere: in run ids, reports and crash tables. */
  readonly name: string;
  /** Where the row stands in the specification. */
  readonly section: string;
  /** The row, in words. */
  readonly says: string;
  readonly from: readonly PhaseName[];
  /** `SAME_PHASE`: the one that it came from, and a fact of the row says so. */
  readonly to: readonly PhaseName[] | typeof SAME_PHASE;
  readonly writes: readonly Step[];
  readonly holds: readonly Fact[];
}

export const SAME_PHASE = "the same";

/** Something that must be true of the transaction. */
export interface Fact {
  readonly says: string;
  readonly holds: (site: Site) => boolean;
}

/** One element of a write pattern: takes the writes that are its own. */
export interface Step {
  readonly says: string;
  /** The writes that it takes are of these forms. */
  readonly forms: readonly WriteForm[];
  /** Whether it may take none. */
  readonly mayTakeNone: boolean;
  /** Moves the cursor past its writes. Returns what it found instead, if they are not there. */
  readonly take: (cursor: Cursor) => string | undefined;
}

/** How far the pattern has come, and what the writes until here have done to the tree. */
export interface Cursor {
  readonly site: Site;
  at: number;
  /** The leaf of the lane, as the entries so far have grown it: the parent of the next entry. */
  tip: string | null | undefined;
  /** The newest entry that a step has taken. */
  newest: EntryDraft | undefined;
}

/** A fact with its wording. */
export function fact(says: string, holds: (site: Site) => boolean): Fact {
  return { says, holds };
}

/** The write that the cursor stands at. */
export function writeAt(cursor: Cursor): Write | undefined {
  return cursor.site.writes[cursor.at];
}

/** A write in one phrase, for messages. */
export function describeWrite(write: Write | undefined): string {
  if (write === undefined) return "nothing more";
  switch (write.kind) {
    case "entry": {
      const { entry } = write;
      return `insert ${entry.type === "message" ? `${entry.message.role} entry` : `${entry.type} entry`}`;
    }
    case "usage":
      return "insert usage";
    case "register":
      return `${write.op} ${write.namespace}`;
  }
}
