/** `subprocess`: real processes that die by `kill -9`, and what they leave. */
export { type ChildProgram, childProgram, type ProgramName, type ProgramOptions } from "./bundle.ts";
export type { ProgramHooks, SubjectRegistry } from "./child.ts";
export { type ContenderCommand, type ContenderState, runContender } from "./contender.ts";
export { Contender } from "./contender-handle.ts";
export { takeExclusively } from "./exclusive.ts";
export type { KillOutcome } from "./outcome.ts";
export { KillPool, type KillPoolOptions } from "./pool.ts";
export {
  ANNOUNCE_DESCRIPTOR,
  type Batch,
  type Doubt,
  diskFolderOf,
  type KillRequest,
  ledgerPathOf,
} from "./protocol.ts";
export { copyFolder } from "./provision.ts";
export { assertRoom, openScratch, type Scratch } from "./scratch.ts";
