/**
 * An invariant of the specification's list (spec §9.1), as a check of one transaction: before it is folded, or after.
 */
import type { Write } from "../../model/index.ts";
import type { ObservedCommit } from "../harness-check.ts";
import type { StoreModel } from "../store-model.ts";

/** Says how the invariant is broken: in the signature without ids, and for a reader. */
export type Breaks = (how: string, message: string) => void;

/** One numbered invariant. Its checks cost by the transaction, never by the session. */
export interface Invariant {
  readonly number: number;
  readonly says: string;
  /** A transaction that holds something of no known shape; no other check sees it. */
  readonly unreadable?: (writes: readonly Write[], breaks: Breaks) => void;
  /** The model does not hold the commit yet. */
  readonly before?: (commit: ObservedCommit, model: StoreModel, breaks: Breaks) => void;
  /** The model holds the commit. What a commit leaves behind is told from what it wrote, and from nothing else of it. */
  readonly after?: (commit: Pick<ObservedCommit, "writes">, model: StoreModel, breaks: Breaks) => void;
}
