/**
 * The judge of the harness: folds the timeline once, names each commit by its row, and tells every checker.
 *
 * A transaction that failed may be stored all the same. So from then on two judges look on, one for either case, and four
 * after the next failure. One that takes a transaction for stored gives up when a later sequence number leaves no room for
 * its writes; of the others, the one that finds least broken at the end was right.
 *
 * Of one defect it says the first sight only: the same checker, the same signature.
 */
import type { Boundary, Scenario, TimelineEvent } from "../faults/index.ts";
import { validateWrites } from "../model/index.ts";
import type { CheckerRun, Violation } from "./checker.ts";
import type { RunEnd } from "./contract.ts";
import { effectSafety } from "./effect-safety.ts";
import type { HarnessCheck, HarnessCheckRun, Report } from "./harness-check.ts";
import { failureOf, type HarnessCommit, type HarnessFailure, harnessCommitOf } from "./harness-commit.ts";
import { invariants } from "./invariants/index.ts";
import { ledgerConservation } from "./ledger-conservation.ts";
import { providerContext } from "./provider-context.ts";
import { recognise } from "./rows/recognise.ts";
import { rowConformance } from "./rows/row-conformance.ts";
import { StoreModel } from "./store-model.ts";
import { storedState } from "./stored-state.ts";

/** The checkers over the harness's timeline, in the order in which they speak. */
export const HARNESS_CHECKS: readonly HarnessCheck[] = [
  rowConformance,
  invariants,
  effectSafety,
  providerContext,
  ledgerConservation,
  storedState,
];

/** What the judge is told before the run. */
export interface HarnessJudgeContext {
  readonly scenario: Scenario;
  /** Names of checkers that are switched off; for showing that each is needed. */
  readonly off: readonly string[];
}

/** Opens a run of every checker of the harness that is not switched off. */
export function startHarnessJudge({ scenario, off }: HarnessJudgeContext): CheckerRun<RunEnd> {
  const checks = HARNESS_CHECKS.filter(({ name }) => !off.includes(name));
  const benches = checks.map(({ name, start }) => ({ name, run: start(scenario) }));
  return new HarnessJudges([new HarnessJudge(benches, StoreModel.fresh(), [])]);
}

/** One judge for each case that is possible; the first takes no failed transaction for stored. */
class HarnessJudges implements CheckerRun<RunEnd> {
  #all: readonly HarnessJudge[];

  constructor(all: readonly HarnessJudge[]) {
    this.#all = all;
  }

  labels(): readonly string[] {
    return this.#all[0]?.labels() ?? [];
  }

  observe(event: TimelineEvent): void {
    if (event.kind === "commit") {
      const { firstSeq } = harnessCommitOf(event.payload).result;
      this.#all = this.#all.filter(({ lastSeq }, index) => index === 0 || lastSeq < firstSeq);
    }
    for (const judge of this.#all) judge.observe(event);
    if (event.kind === "commit-failed") {
      const failure = failureOf(event.payload);
      this.#all = [...this.#all, ...this.#all.map((judge) => judge.assuming(event.boundary, failure))];
    }
  }

  fork(): HarnessJudges {
    return new HarnessJudges(this.#all.map((judge) => judge.fork()));
  }

  finish(end: RunEnd): readonly Violation[] {
    const found = this.#all.map((judge) => judge.finish(end));
    return found.reduce((least, other) => (other.length < least.length ? other : least));
  }
}

interface Bench {
  readonly name: string;
  readonly run: HarnessCheckRun;
}

/** A bench with its way to speak to one judge. */
interface Seat extends Bench {
  readonly report: Report;
}

class HarnessJudge {
  readonly #seats: readonly Seat[];
  readonly #model: StoreModel;
  readonly #violations: Violation[];
  /** Of the commits of the current life. */
  #labels = new Set<string>();

  constructor(benches: readonly Bench[], model: StoreModel, violations: readonly Violation[]) {
    this.#seats = benches.map(({ name, run }) => ({ name, run, report: this.#reportAs(name) }));
    this.#model = model;
    this.#violations = [...violations];
  }

  get lastSeq(): number {
    return this.#model.lastSeq ?? 0;
  }

  labels(): readonly string[] {
    return [...this.#labels];
  }

  observe(event: TimelineEvent): void {
    if (event.kind === "commit") {
      this.#commit(event.boundary, harnessCommitOf(event.payload));
      return;
    }
    if (event.kind === "boot") this.#labels = new Set();
    this.#model.observe(event);
    for (const { run, report } of this.#seats) run.event?.(event, this.#model, report);
  }

  fork(): HarnessJudge {
    const benches = this.#seats.map(({ name, run }) => ({ name, run: run.fork() }));
    const copy = new HarnessJudge(benches, this.#model.fork(), this.#violations);
    copy.#labels = new Set(this.#labels);
    return copy;
  }

  /** A copy that takes a failed transaction for one that was confirmed. */
  assuming(boundary: Boundary, failure: HarnessFailure): HarnessJudge {
    const copy = this.fork();
    copy.#assume(boundary, failure);
    return copy;
  }

  finish(end: RunEnd): readonly Violation[] {
    for (const { run, report } of this.#seats) run.finish?.(end, this.#model, report);
    return this.#violations;
  }

  #commit(boundary: Boundary, payload: HarnessCommit): void {
    if (validateWrites(payload.writes) !== undefined) {
      // Whoever reads on would trip over it; that it was committed at all is what is wrong.
      for (const { run, report } of this.#seats) run.unreadable?.(payload.writes, report);
      return;
    }
    const { writes, result, stats } = payload;
    const found = recognise(writes, this.#model);
    if (found.ok) this.#labels.add(found.name);
    const commit = { writes, result, stats, boundary, found };
    for (const { run, report } of this.#seats) run.before?.(commit, this.#model, report);
    this.#model.apply(writes, result);
    for (const { run, report } of this.#seats) run.after?.(commit, this.#model, report);
  }

  #assume(boundary: Boundary, { writes, nowMs = 0 }: HarnessFailure): void {
    const firstSeq = (this.#model.lastSeq ?? 0) + 1;
    const seqs = writes.map((_, index) => firstSeq + index);
    const result = { firstSeq, seqs, timestamp: Math.max(this.#model.lastTimestamp ?? 0, nowMs) };
    const after = this.#model.fork();
    after.apply(writes, result);
    this.#commit(boundary, { writes, result, stats: after.stats });
  }

  #reportAs(checker: string): Report {
    return (signature, message) => {
      const isKnown = this.#violations.some((old) => old.checker === checker && old.signature === signature);
      if (!isKnown) this.#violations.push({ checker, signature, message });
    };
  }
}
