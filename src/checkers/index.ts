/** `checkers`: one promise a file. `judge.ts` puts those over a timeline together. */

export { renameIds, sortedJson, viewOf } from "./canonical-view.ts";
export { type Checker, type CheckerRun, startAll, type Violation } from "./checker.ts";
export type {
  Downtime,
  RecoveryExpectation,
  RecoveryQuestion,
  RunEnd,
  View,
  ViewReading,
} from "./contract.ts";
export { type HarnessCommit, harnessCommitOf } from "./harness-commit.ts";
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
export { StoreModel } from "./store-model.ts";
