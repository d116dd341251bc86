/**
 * What an inspection finds, as data: the schema `crashproof-inspect/1`, which `--json` prints as it is. Members may be
 * added to it; a member that changes its meaning or goes makes a new version.
 *
 * Offsets and lengths are in bytes from the start of the file, lines count from 1, times are Unix ms. An absent member
 * does not apply; `null` is never used for that.
 */
import type { LaneConfiguration, LaneLastResult, Usage } from "../model/index.ts";
import type { Action } from "../operation/index.ts";
import type { SessionMetadata } from "../storage/index.ts";
import type {
  RecoveryPlan,
  SessionHeader,
  Inspection as TransactionalInspection,
  OperationState as TransactionalOperation,
  Usage as TransactionalUsage,
} from "../txlog/index.ts";

export const INSPECT_SCHEMA = "crashproof-inspect/1";

/** What one inspection says. */
export interface Inspection {
  readonly schema: typeof INSPECT_SCHEMA;
  /** As it was given. */
  readonly path: string;
  readonly target: "file" | "folder" | "none";
  readonly verdict: Verdict;
  /** The file that was named; of a folder, every one below it that is, looks like, or is left by a session. */
  readonly files: readonly FileFinding[];
  /** Of a transactional session that was named itself: its complete state, or the refusal as its reader gives it. */
  readonly txlog?: TransactionalInspection;
  /** Of a folder: what was not looked into, and why. */
  readonly passedOver?: readonly PassedOver[];
  /** Of a folder: how many files below it have nothing to do with sessions. */
  readonly otherFileCount?: number;
}

/**
 * `whole`: as its writer left it; a torn tail is no damage, since the format drops it. `damaged`: read, and refused or
 * found to break an invariant. `inconclusive`: it did not hold still, or was not looked at to its end. `unreadable`: this
 * program cannot say. `not_a_session`: it can, and it is none.
 */
export type Verdict = "whole" | "damaged" | "inconclusive" | "unreadable" | "not_a_session";

export type FileKind =
  | "jsonl_session"
  | "legacy_session"
  | "sqlite_session"
  | "transactional_session"
  | "journal"
  | "search_index"
  /** An unfinished file of a writer that died, or is at work. */
  | "leftover"
  /** What SQLite keeps beside a database that is not there any more. */
  | "orphan"
  | "other";

export interface PassedOver {
  readonly path: string;
  readonly why: string;
}

/** One file. */
export interface FileFinding {
  readonly path: string;
  readonly kind: FileKind;
  readonly verdict: Verdict;
  /** What it is, in a sentence. */
  readonly says: string;
  readonly byteLength?: number;
  /** Why it is refused, and where. */
  readonly refusal?: RefusalFinding;
  /** What of the bytes counts and what does not. */
  readonly bytes?: BytesFinding;
  /** What it holds; of a damaged file what stands before the damage, if that can be told. */
  readonly session?: SessionFinding;
  readonly transactional?: TransactionalFinding;
  readonly database?: DatabaseFinding;
  /** What a legacy file's reader passes over or mends. */
  readonly warnings?: readonly WarningFinding[];
  /** Files beside it that belong to it and are no part of the session. */
  readonly beside: readonly BesideFinding[];
}

/** What the reader of a file's kind says of it. */
export type ReaderFinding = Omit<FileFinding, "path" | "beside"> & Pick<Inspection, "txlog">;

/** A file as it was looked at: the finding, and what only the inspection of that file alone gives beside it. */
export interface LookedAt extends Pick<Inspection, "txlog"> {
  readonly file: FileFinding;
}

export interface RefusalFinding {
  /** Stable: the reason or code of the reader. */
  readonly reason: string;
  readonly message: string;
  readonly line?: number;
  readonly byteOffset?: number;
  /** The row, register or table. */
  readonly subject?: string;
}

export interface WarningFinding {
  readonly reason: string;
  readonly message: string;
  readonly line: number;
  readonly byteOffset: number;
}

/** How the bytes of a file are used; of a database only said where the file ends too early. */
export interface BytesFinding {
  /** What the next writer goes on from: whole lines, up to here. Of a damaged file, what stands before the damage. */
  readonly keptBytes: number;
  /** Of a file of lines. */
  readonly keptLines?: number;
  /** Bytes that are no part of the session, and what becomes of them. */
  readonly lost: readonly LostBytes[];
  /** What a compaction would drop of the kept bytes, and its share of them. */
  readonly dead?: {
    readonly byteLength: number;
    readonly ratio: number;
    readonly isWorthCompacting: boolean;
  };
}

export interface LostBytes {
  readonly byteOffset: number;
  readonly byteLength: number;
  readonly what: "torn_tail" | "behind_damage" | "wal_remains" | "behind_damaged_frame" | "cut_off";
  readonly says: string;
}

export interface BesideFinding {
  readonly path: string;
  readonly byteLength: number;
  readonly says: string;
}

/** A database as a file. */
export interface DatabaseFinding {
  readonly pageBytes: number;
  readonly pageCount: number;
  readonly freePageCount: number;
  /** What SQLite's own check complains of, with byte offsets where it names pages. */
  readonly integrityFaults: readonly { readonly says: string; readonly byteOffset?: number }[];
  /** The WAL beside it: how far it counts. */
  readonly wal?: {
    readonly byteLength: number;
    readonly committedBytes: number;
    readonly committedFrames: number;
    /** Offsets are in the WAL. */
    readonly lost: readonly LostBytes[];
  };
  readonly lease?: {
    readonly ownerId: string;
    readonly fence: number;
    readonly expiresAtMs: number;
    readonly isExpired: boolean;
  };
  /** Damage in the private branch index, which a rebuild heals. */
  readonly branchIndexFaults: readonly string[];
  /** What can be read of each table, also where the session as a whole is refused. */
  readonly readableRows: readonly {
    readonly table: string;
    readonly rowCount: number;
    readonly isComplete: boolean;
  }[];
}

/** What a session holds. */
export interface SessionFinding {
  readonly metadata: SessionMetadata;
  /** Set for a session of an older storage version: what opening does first. What follows is the session after that. */
  readonly migration?: { readonly from: number; readonly to: number; readonly titles: readonly string[] };
  readonly entryCount: number;
  readonly messageCount: number;
  readonly usageRowCount: number;
  readonly registerCount: number;
  readonly lastSeq: number;
  readonly newestEntryAt?: number;
  readonly usage: Usage;
  readonly name?: string;
  readonly labelCount: number;
  readonly customFactKeys: readonly string[];
  /** Message roles of an application, whose messages are taken as they are. */
  readonly unjudgedRoles?: readonly string[];
  readonly lanes: readonly LaneFinding[];
  readonly violations: readonly ViolationFinding[];
}

/** A rule that the stored session breaks. */
export interface ViolationFinding {
  /** Of the specification's list (§9.1); absent for rules that stand elsewhere. */
  readonly invariant?: number;
  readonly message: string;
}

export interface LaneFinding {
  readonly name: string;
  readonly leafId: string | null;
  readonly configuration?: LaneConfiguration;
  readonly operation?: OperationFinding;
  /** Why a harness would refuse to restore this lane. */
  readonly refusal?: RefusalFinding;
  readonly lastResult?: LaneLastResult;
  readonly queues: readonly QueueFinding[];
}

export interface QueueFinding {
  readonly queue: "nextRun" | "steer" | "followUp" | "writes" | "drainedSteer" | "drainedFollowUp";
  readonly items: readonly QueuedItem[];
}

export interface QueuedItem {
  readonly entryId: string;
  /** A role, or the type of a custom entry; absent when the register is missing. */
  readonly content?: string;
  /** The beginning of its text. */
  readonly preview?: string;
}

export interface OperationFinding {
  readonly operationId: string;
  readonly kind: "run" | "compaction" | "navigation";
  readonly startedAt: number;
  readonly isCancelled: boolean;
  /** The phase in words. */
  readonly phase: string;
  /** What a drive does first after a restart, absent where the lane is refused. */
  readonly next?: { readonly action: Action; readonly says: string };
}

/** What a transactional session file holds. */
export interface TransactionalFinding {
  readonly header: SessionHeader;
  readonly messageCount: number;
  readonly usage: TransactionalUsage;
  readonly operation: TransactionalOperation;
  /** What recovery does first, in the surroundings that the file records; absent while it is idle. */
  readonly next?: { readonly plan: RecoveryPlan; readonly says: string };
}
