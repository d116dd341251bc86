/** `session`: typed views over a store. Start with `session.ts`; `context.ts` projects a branch into messages. */

export { admitMessage } from "./admit-message.ts";
export {
  type EntryProjector,
  type EntryProjectors,
  projectEntries,
  readContext,
} from "./context.ts";
export { detachJson } from "./detach.ts";
export { UnknownLabelTarget } from "./facts.ts";
export { type ForkOptions, forkContents, UnknownForkPoint } from "./fork.ts";
export { InvalidWrite } from "./invalid-write.ts";
export { configurationWrite, MAIN_LANE, newLaneWrites } from "./lane.ts";
export {
  type LaneRecord,
  laneRegisterMissing,
  laneStateOf,
  leafOf,
  listLanes,
  UnknownLane,
} from "./lanes.ts";
export {
  type MigrateOptions,
  type Migration,
  MigrationMissing,
  type MigrationStep,
  migrate,
  type RawRegister,
  type RegisterChange,
} from "./migration/migration.ts";
export {
  type FileSessionMetadata,
  ForeignSession,
  type ForkTarget,
  InvalidRewrite,
  InvalidSessionId,
  type ListOptions,
  type NewSession,
  type RepositoryOptions,
  SessionIsOpen,
  SessionNotFound,
  type SessionReading,
  type SessionRepository,
  type SkippedFile,
} from "./repository/contract.ts";
export { type JsonlRepository, type JsonlRepositoryOptions, jsonlRepository } from "./repository/jsonl.ts";
export { type MemoryRepositoryOptions, memoryRepository } from "./repository/memory.ts";
export {
  type SqliteRepository,
  type SqliteRepositoryOptions,
  sqliteRepository,
} from "./repository/sqlite.ts";
export {
  type RewritableRegister,
  type RewriteOptions,
  type RewriteRules,
  SessionNotIdle,
} from "./rewrite.ts";
export {
  type EntrySearchHit,
  SearchClosed,
  SearchIndexFault,
  type SearchQuery,
  type SessionSearchHit,
  type SessionSearchService,
  type SyncFailure,
  type SyncReport,
} from "./search/contract.ts";
export { SEARCH_APPLICATION_ID } from "./search/index-database.ts";
export { createSqliteSearchService, type SearchServiceOptions } from "./search/service.ts";
export { Session, type SessionCodecOptions, type SessionOptions } from "./session.ts";
export type { BranchQuery, EntryQuery, SessionTree } from "./tree.ts";
export { appendWrites, LaneOccupied, type TreeWriter } from "./tree-writer.ts";
export type { V3Warning, V3WarningReason } from "./v3/lines.ts";
export type { V3CorruptionReason } from "./v3/nodes.ts";
export {
  type OpenedLegacy,
  type OpenLegacyOptions,
  openLegacyJsonl,
  readHeaderId,
} from "./v3/open.ts";
export { LegacyVersionUnknown, type ReadV3Options, readV3, type V3Session } from "./v3/read.ts";
export { type LegacyVersion, recognise, type SessionFormat } from "./v3/recognise.ts";
