/**
 * What checkers are asked and what they are shown: views of durable state, the end of a run, the question of recovery.
 *
 * A system answers these through its `Subject`; the explorers hand them on without looking inside.
 */
import type { Cut, Scenario, WorldRow } from "../faults/index.ts";

/** What is durable, as two texts. `canonical-view.ts` says how both are made. */
export interface View {
  /** Everything as it is stored: ids, sequence numbers and times included. */
  readonly exact: string;
  /** Ids renamed in order of first appearance, keys sorted, sequence numbers dropped, times as offsets. */
  readonly canonical: string;
}

/** How to read a view: the downtimes since the world began (at `VIRTUAL_EPOCH_MS`), for canonical times. */
export interface ViewReading {
  readonly downtimes: readonly Downtime[];
}

/** The process was down from `atMs` for `durationMs`. */
export interface Downtime {
  readonly atMs: number;
  readonly durationMs: number;
}

/** The end of a run, for the checkers. */
export interface RunEnd {
  readonly view: View;
  readonly rows: readonly WorldRow[];
}

/** What must recovery reach after this cut? */
export interface RecoveryQuestion {
  readonly scenario: Scenario;
  readonly cut: Cut;
  /** What was durable at the moment of death; read only where the answer depends on it. */
  readonly atCut: () => Promise<View>;
  readonly uninterrupted: View;
}

/** The view that recovery must reach, and the rows of the policy table that made it differ from the uninterrupted one. */
export interface RecoveryExpectation {
  /**
   * Compare it with `compareViews`, not with `===`: where the specification fixes the kind of a value and not its
   * text (the wording of a synthetic error), the expectation holds a pattern.
   */
  readonly canonical: string;
  readonly demands: readonly string[];
}
