/**
 * What a new session consists of, the same on every backend (spec §2.8): its metadata, and a lane `main` at the root
 * that runs nothing. A lane configuration is not part of it; the first harness that attaches writes one.
 */
import { admitJson, isCount } from "../foundation/index.ts";
import { idleLaneState, type Write } from "../model/index.ts";
import { type SessionMetadata, StorageFault, StorageVersionTooNew } from "./contract.ts";

/** The writes of seq 1 and 2 of every session. They are one transaction. */
export const INITIAL_WRITES: readonly Write[] = admitJson<Write[]>([
  { kind: "register", op: "set", namespace: "lane.leaf", key: "main", value: null },
  { kind: "register", op: "set", namespace: "lane.state", key: "main", value: idleLaneState() },
]);

/**
 * Metadata as a deeply frozen copy.
 * @throws NotJson; TypeError naming the field that is not what `SessionMetadata` says.
 */
export function admitMetadata(metadata: SessionMetadata): SessionMetadata {
  const admitted = admitJson(metadata);
  const issue = metadataIssue(admitted);
  if (issue !== undefined) throw new TypeError(`metadata of a session: ${issue}`);
  return admitted;
}

/** What is wrong with the fields of metadata, in words, or undefined. Fields that are not named here are kept. */
export function metadataIssue(metadata: unknown): string | undefined {
  if (typeof metadata !== "object" || metadata === null) return "it is an object";
  const fields = metadata as Partial<Record<string, unknown>>;
  const { id, createdAt, storageVersion, storeGeneration } = fields;
  for (const name of HEADER_NAMES) {
    if (fields[name] !== undefined) return `${name} is a name of the JSONL header`;
  }
  if (typeof id !== "string" || id === "") return "id is a non-empty string";
  if (!isCount(createdAt)) return "createdAt is a time in Unix ms, a whole number from 0";
  if (!isCount(storageVersion)) return "storageVersion is a whole number from 0";
  if (storeGeneration !== undefined && !isCount(storeGeneration)) {
    return "storeGeneration is a whole number from 0 or absent";
  }
  for (const name of ["cwd", "parentSessionId", "legacyParentSessionPath"]) {
    const value = fields[name];
    if (value !== undefined && typeof value !== "string") return `${name} is a string or absent`;
  }
  return undefined;
}

/** What a JSONL header says beside the metadata (`jsonl/codec.ts`). */
const HEADER_NAMES = ["v", "kind", "timesKeptThroughSeq"];

/** Refuses a session of a newer storage version (spec §2.8, §7.3). @throws StorageVersionTooNew */
export function assertReadableVersion(metadata: SessionMetadata, newest: number, file?: string): void {
  if (metadata.storageVersion > newest) throw new StorageVersionTooNew(metadata, newest, file);
}

/**
 * The time that the first commit after opening may not fall behind: the creation, which is the first transaction.
 * Entries that are newer raise it further. Register writes leave no durable time, so a clock that steps back across
 * a reopening can only be held to these.
 */
export function openingTimestamp(metadata: SessionMetadata, newestEntryTimestamp = 0): number {
  return Math.max(metadata.createdAt, newestEntryTimestamp);
}

/** A session was to be created where one exists. Nothing was changed. */
export class SessionExists extends StorageFault {
  override readonly name = "SessionExists";
  override readonly code = "SESSION_EXISTS";
  readonly path: string;

  constructor(path: string) {
    super(`${path} exists; open it, or create the session under another path`, undefined, true);
    this.path = path;
  }
}
