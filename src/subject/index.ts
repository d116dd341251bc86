/** `subject`: the contract that explorers ask, and the built-in systems behind it. */
export type {
  Account,
  Downtime,
  RecoveryExpectation,
  RecoveryQuestion,
  RunEnd,
  Said,
  View,
  ViewReading,
} from "../checkers/index.ts";
export { builtInSubjects, MEDIA, subjectById } from "./built-in.ts";
export type {
  Boot,
  CallOutcome,
  Disk,
  DiskFile,
  Drive,
  FileFormat,
  Grade,
  Incarnation,
  JudgeContext,
  Subject,
  ToldOfCall,
  TornDisk,
} from "./contract.ts";
export { JsonlSubjectDisk, jsonlMedium, jsonlMediumOver } from "./harness/jsonl-medium.ts";
export type { Seams } from "./harness/life.ts";
export type { Medium, OpenStore, StoreLife } from "./harness/medium.ts";
export { MemorySubjectDisk, memoryMedium } from "./harness/memory-medium.ts";
export { SCRIPTED_MODEL, ScriptedModels } from "./harness/scripted-models.ts";
export { scriptedTools } from "./harness/scripted-tools.ts";
export { FILE_FORK_SHARE, SqliteSubjectDisk, sqliteMedium } from "./harness/sqlite-medium.ts";
export { harnessSubject } from "./harness/subject.ts";
export type { TxlogSeams } from "./txlog/life.ts";
export { txlogSubject } from "./txlog/subject.ts";
