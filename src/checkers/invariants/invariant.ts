/**
 * An invariant of the specification's list (spec §9.1), as a check of one transaction: before it is folded, or after.
 */
import type { Write } from "../../model/index.ts";
import type { ObservedCommit } from "../harness-check.ts";
import type { StoreModel } from "../store-model.ts";
import { type FormSet, formSetOf, type WriteForm } from "../write-form.ts";

/** Says how the invariant is broken: in the signature without ids, and for a reader. */
export type Breaks = (how: string, message: string) => void;

/** One numbered invariant. Its checks cost by the transaction, never by the session. */
export interface Invariant {
  readonly number: number;
  readonly says: string;
  /** A transaction that holds something of no known shape; no other check sees it. */
  readonly unreadable?: (writes: readonly Write[], breaks: Breaks) => void;
  /** The model does not hold the commit yet. */
  readonly before?: Check<ObservedCommit>;
  /** The model holds the commit. What a commit leaves behind is told from what it wrote, and from nothing else of it. */
  readonly after?: Check<Pick<ObservedCommit, "writes">>;
}

/** A check with what it is about: of a transaction without a write of these forms it has nothing to say. */
export interface Check<Commit> {
  /** Absent: it is about every transaction. */
  readonly forms?: FormSet;
  readonly check: (commit: Commit, model: StoreModel, breaks: Breaks) => void;
}

/** A check of transactions with a write of one of these forms. */
export function ofWrites<Commit>(forms: readonly WriteForm[], check: Check<Commit>["check"]): Check<Commit> {
  return { forms: formSetOf(forms), check };
}

/** Whether a check is about a transaction with writes of these forms. */
export function isAbout<Commit>({ forms }: Check<Commit>, written: FormSet): boolean {
  return forms === undefined || (forms & written) !== 0;
}

/** Forms by which an operation is opened, moved or ended. */
export const OF_OPERATIONS: readonly WriteForm[] = [
  "set op.meta",
  "delete op.meta",
  "set op.state",
  "delete op.state",
  "set op.tool_args",
  "delete op.tool_args",
  "set op.preparation",
  "delete op.preparation",
];

export const OF_LANES: readonly WriteForm[] = ["set lane.state", "delete lane.state"];
