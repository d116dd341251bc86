/** `subject`: the contract that explorers ask, and the built-in systems behind it. */
export type {
  Boot,
  Disk,
  Downtime,
  Drive,
  Grade,
  Incarnation,
  JudgeContext,
  RecoveryExpectation,
  RecoveryQuestion,
  RunEnd,
  Subject,
  TornDisk,
  View,
  ViewReading,
} from "./contract.ts";
