/** `checkers`: one promise a file. */
export { type Checker, type CheckerRun, startAll, type Violation } from "./checker.ts";
