/** `subject`: the contract that explorers ask, and the built-in systems behind it. */
export type {
  Downtime,
  RecoveryExpectation,
  RecoveryQuestion,
  RunEnd,
  View,
  ViewReading,
} from "../checkers/index.ts";
export { builtInSubjects, subjectById } from "./built-in.ts";
export type {
  Boot,
  Disk,
  Drive,
  Grade,
  Incarnation,
  JudgeContext,
  Subject,
  TornDisk,
} from "./contract.ts";
