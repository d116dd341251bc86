/**
 * Second deaths where only recoveries make a commit: the rows of the specification that the uninterrupted run of a
 * scenario does not come by.
 *
 * Cutting every recovery again (`depth` 2) costs the square of a scenario. But rows such as the interrupted result of a
 * tool are made by recoveries alone, and a row that is never cut was never looked at. So of each such row the first
 * recovery that makes it is cut again, before and after the row.
 *
 * What counts is the scenario on the subject, and nothing else of the plan: what is cut again is then the same whatever
 * is explored beside it, wherever, and in whichever order. A row that recoveries of several scenarios make is cut in each.
 */
import type { CutRef } from "../../faults/index.ts";
import type { CrashPlan } from "./crash.ts";

/** The rows of one scenario on one subject that were made so far. */
export class RowsMade {
  readonly #rows: ReadonlySet<string>;
  readonly #made: Set<string>;

  /** @param rows those that the subject's specification knows. @param made those of the run that nobody cut. */
  constructor(rows: readonly string[], made: readonly string[]) {
    this.#rows = new Set(rows);
    this.#made = new Set(made);
  }

  /** Of the labels of a recovery's commits, the rows that nothing made before it. From now on they were made. */
  newOf(labels: readonly string[]): readonly string[] {
    const found = labels.filter((label) => this.#rows.has(label) && !this.#made.has(label));
    for (const row of found) this.#made.add(row);
    return found;
  }
}

/** The cuts before and after the first commit of each of the rows, once. */
export class SecondCuts {
  readonly #seen = new Set<string>();
  readonly #wanted = new Set<string>();
  readonly #plan: CrashPlan;

  /** @param plan what it leaves out is left out here too. */
  constructor(plan: CrashPlan, rows: readonly string[]) {
    this.#plan = plan;
    for (const row of rows)
      for (const position of ["before", "after"]) this.#wanted.add(`${row}:${position}`);
  }

  /** Whether a cut that a walk comes by is one of them; once for each. */
  isNew(cut: CutRef): boolean {
    const name = `${cut.label}:${cut.position}`;
    if (!this.#wanted.has(name) || this.#seen.has(name)) return false;
    this.#seen.add(name);
    return true;
  }

  /** The plan of the walk that makes them. */
  get plan(): CrashPlan {
    return {
      ...this.#plan,
      secondDeaths: false,
      wants: (path, cut) =>
        this.#wanted.delete(`${cut.label}:${cut.position}`) && this.#plan.wants(path, cut),
      enough: () => this.#wanted.size === 0 || this.#plan.enough(),
    };
  }
}
