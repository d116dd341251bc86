/** `conformance`: the contracts of this project as suites that anyone's implementation can be held against. */
export type { ConformanceCase } from "./case.ts";
export { createHookConformance, type HookFactory, type HookHandle } from "./hook/index.ts";
export type { SubjectFactory } from "./promise.ts";
export {
  createProviderConformance,
  type ProviderCapability,
  type ProviderFactory,
  type ProviderHandle,
  type ServiceScript,
} from "./provider/index.ts";
export {
  createRepositoryConformance,
  type RepositoryFactory,
  type RepositoryFactoryOptions,
  type RepositoryHandle,
} from "./repository/index.ts";
export { type ConformanceOutcome, type RunConformanceOptions, runConformance } from "./run.ts";
export {
  createStorageConformance,
  type StorageCapabilities,
  type StorageFactory,
  type StorageFactoryOptions,
  type StorageHandle,
  type TornCommit,
} from "./storage/index.ts";
export {
  createToolConformance,
  type ToolCapability,
  type ToolFactory,
  type ToolHandle,
} from "./tool/index.ts";
