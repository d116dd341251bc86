/** `storage`: the contract of one session's durable store, and its three implementations. */
export {
  type BranchScan,
  CURRENT_STORAGE_VERSION,
  type EntryCursor,
  type EntryScan,
  InvalidTransaction,
  type InvalidTransactionReason,
  LeaseLost,
  type SessionMetadata,
  type SessionStats,
  type Storage,
  StorageClosed,
  StorageFault,
  UnknownEntry,
  type UsageScan,
} from "./contract.ts";
export { byNamespaceThenSeq, type SessionDump } from "./dump.ts";
