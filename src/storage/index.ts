/** `storage`: the contract of one session's durable store, and its three implementations. */
export { admitTransaction } from "./admission.ts";
export {
  type BranchScan,
  CURRENT_STORAGE_VERSION,
  type EntryCursor,
  type EntryScan,
  InvalidTransaction,
  type InvalidTransactionReason,
  LeaseLost,
  type MigratableStorage,
  type SessionMetadata,
  type SessionStats,
  type Storage,
  StorageClosed,
  StorageFault,
  StorageVersionTooNew,
  UnknownEntry,
  type UsageScan,
} from "./contract.ts";
export { SessionExists } from "./creation.ts";
export {
  byNamespaceThenSeq,
  lastSeqOf,
  type SessionContents,
  type SessionDump,
  scanDumpedEntries,
  totalsOf,
} from "./dump.ts";
export {
  type FileStatus,
  type FileSystem,
  hostFileSystem,
  type OpenMode,
  readFile,
  readUpTo,
  unlinkedFileSystem,
} from "./files/file-system.ts";
export { type FileCall, FilesThrough, filesThrough } from "./files/files-through.ts";
export { MemoryFiles } from "./files/memory-files.ts";
export { leftoverOwner, leftoversOf } from "./files/replacement.ts";
export { STOP_FORMS, type Stop, StoppingFiles } from "./files/stopping-files.ts";
export type { FileBytes } from "./jsonl/byte-account.ts";
export type { JsonlCorruptionReason } from "./jsonl/codec.ts";
export {
  type CompactionReport,
  type CompactionThreshold,
  DEFAULT_COMPACTION_THRESHOLD,
  isWorthCompacting,
} from "./jsonl/compaction.ts";
export type { ConvertibleSession } from "./jsonl/conversion.ts";
export { createJsonlFile } from "./jsonl/creation.ts";
export { dumpJsonl, type JsonlSession, readJsonlMetadata, readJsonlSession } from "./jsonl/read.ts";
export type { TornTail } from "./jsonl/replay.ts";
export { JsonlStorage, type JsonlStorageOptions } from "./jsonl/storage.ts";
export { MemoryDisk } from "./memory/disk.ts";
export { MemoryStorage, type MemoryStorageOptions } from "./memory/storage.ts";
export { checkContents } from "./placement.ts";
export { type Connect, Connection as SqliteConnection, type SqliteSource } from "./sqlite/connection.ts";
export { dumpSqlite, readSqlite, type SqliteReading } from "./sqlite/dump.ts";
export {
  createSqliteFile,
  removeSqliteSession,
  replaceSqliteSession,
  SIDE_FILES as SQLITE_SIDE_FILES,
  type SqliteFileOptions,
} from "./sqlite/files.ts";
export {
  LEASE_DURATION_MS,
  LeaseHeld,
  type LeaseHolder,
} from "./sqlite/lease.ts";
export { type SqliteMoment, SqliteMovedOn, sqliteMoment } from "./sqlite/moment.ts";
export type { SqliteOptions } from "./sqlite/options.ts";
export { SqliteStorage } from "./sqlite/storage.ts";
export {
  type Asked,
  type ReadableRows,
  SQLITE_APPLICATION_ID,
  type SqliteSurvey,
  surveySqlite,
} from "./sqlite/survey.ts";
export {
  isWalFrameOf,
  saltsOf,
  WAL_FRAME_HEADER_BYTES,
  WAL_HEADER_BYTES,
  type WalExtent,
  walFrameBytes,
} from "./sqlite/wal.ts";
