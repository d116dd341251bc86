/**
 * Scenarios that between them make every row of the specification: two that everything begins with, and as few of the
 * others as are needed. For explorations that cannot afford all; `crash-points/every-boundary.test.ts` holds it.
 */
export const EVERY_ROW: readonly string[] = [
  "one-turn",
  "two-tools",
  "threshold-summary-fails",
  "notes-beside",
  "tool-error",
  "deferred-mismatch",
  "abort-navigation",
  "steer-while-compacting",
  "next-run-withdrawn",
  "navigate-nothing-to-summarize",
  "terminating-tool",
  "compact-at-cap",
  "threshold-empty",
  "writes-between-runs",
  "threshold-by-hook",
  "goes-on-at-the-end",
  "abort-while-polling",
  "overflow-declined",
  "deferred-pending-twice",
  "threshold-declined",
  "write-while-tool-runs",
  "abort-while-answering",
  "steer-withdrawn",
  "compact-declined",
  "compact-by-hook",
  "navigate-by-hook",
  "deferred-tools",
  "compact-retry",
];
