/**
 * What a checker over the harness's timeline is: told of every commit before and after it is folded, and of everything
 * else that happened. `judge.ts` folds once and tells all.
 */
import type { Boundary, Scenario, TimelineEvent } from "../faults/index.ts";
import type { Write } from "../model/index.ts";
import type { RunEnd } from "./contract.ts";
import type { HarnessCommit } from "./harness-commit.ts";
import type { RowMatch, RowMismatch } from "./rows/recognise.ts";
import type { StoreModel } from "./store-model.ts";

/** A commit with the row that it is. */
export interface ObservedCommit extends HarnessCommit {
  readonly boundary: Boundary;
  readonly found: RowMatch | RowMismatch;
}

/** Anything that happened but a confirmed commit. */
export type OtherEvent = Exclude<TimelineEvent, { kind: "commit" }>;

/** Says that a promise is broken; see `Violation` for the two texts. */
export type Report = (signature: string, message: string) => void;

/** A promise over the harness's timeline. */
export interface HarnessCheck {
  readonly name: string;
  /** The promise, in one sentence. */
  readonly promise: string;
  /** What it does not look at, in one sentence. */
  readonly doesNotCheck: string;
  start(scenario: Scenario): HarnessCheckRun;
}

/** A promise in the middle of one run. The model is the judge's: read it, keep nothing of it. */
export interface HarnessCheckRun {
  /** A transaction that holds something of no known shape. Nobody else is told of it, and the model skips it. */
  unreadable?(writes: readonly Write[], report: Report): void;
  /** The model does not hold the commit yet. */
  before?(commit: ObservedCommit, model: StoreModel, report: Report): void;
  /** The model holds the commit. */
  after?(commit: ObservedCommit, model: StoreModel, report: Report): void;
  /** Anything but a commit; the model holds it. */
  event?(event: OtherEvent, model: StoreModel, report: Report): void;
  /** A copy that goes on by itself; the same run if it remembers nothing. */
  fork(): HarnessCheckRun;
  finish?(end: RunEnd, model: StoreModel, report: Report): void;
}
