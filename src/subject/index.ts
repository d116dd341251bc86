/** `subject`: the contract that explorers ask, and the built-in systems behind it. */
export type {
  Boot,
  Disk,
  Downtime,
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
