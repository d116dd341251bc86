/** `checkers`: one promise a file. `judge.ts` puts those over a timeline together. */

export { type Account, accountOf, type LaneAccount, type Said } from "./account.ts";
export { viewOf } from "./canonical-view.ts";
export { type Checker, type CheckerRun, startAll, type Violation } from "./checker.ts";
export { compareViews, describeDifference, type ViewDifference } from "./compare-views.ts";
export type {
  Downtime,
  RecoveryExpectation,
  RecoveryQuestion,
  RunEnd,
  View,
  ViewReading,
} from "./contract.ts";
export { type HarnessCommit, harnessCommitOf } from "./harness-commit.ts";
export { type BrokenInvariant, brokenInvariants } from "./invariants/standing.ts";
export { HARNESS_CHECKS, type HarnessJudgeContext, startHarnessJudge } from "./judge.ts";
export { NotCovered } from "./recovery/parsed-view.ts";
export { expectRecovery } from "./recovery/recovery-equality.ts";
export { CATALOGUE } from "./rows/catalogue.ts";
export {
  complaintOf,
  labelOf,
  type RowMatch,
  type RowMismatch,
  recognise,
  UNRECOGNISED,
} from "./rows/recognise.ts";
export type { Row } from "./rows/row.ts";
export { isExactlySame, Known } from "./same-view.ts";
export { StoreModel } from "./store-model.ts";
export { storyOf } from "./story.ts";
export { RETAINED_MESSAGES, TOOL_BROKE } from "./txlog/continuation.ts";
export { startTxlogJudge, TXLOG_CHECKS } from "./txlog/judge.ts";
export { expectTxlogRecovery } from "./txlog/recovery.ts";
export { viewOfTxlog } from "./txlog/view.ts";
