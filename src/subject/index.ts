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
export { jsonlMedium } from "./harness/jsonl-medium.ts";
export type { Seams } from "./harness/life.ts";
export type { Medium, OpenStore, StoreLife } from "./harness/medium.ts";
export { memoryMedium } from "./harness/memory-medium.ts";
export { sqliteMedium } from "./harness/sqlite-medium.ts";
export { harnessSubject } from "./harness/subject.ts";
