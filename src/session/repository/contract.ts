/**
 * The contract of a session repository: where sessions are found, made, forked, rewritten and deleted (spec §2.8).
 *
 * A store serves one session and knows nothing of others; a repository knows all of its own and keeps account of those
 * that are open. It is an implementation detail how they lie: Memory keeps disks, JSONL and SQLite one file each.
 *
 * Invariants, the same for every repository.
 * 1. A session is open once in a repository. What deletes or rewrites one waits for nobody: it is refused while the
 *    session is open here, or held by another process where that can be known.
 * 2. A fork sees its source between two commits, whether the source is open here, open elsewhere, or closed; and it is
 *    made whole or not at all.
 * 3. A rewrite replaces the whole session at once and counts its generation up; it leaves the old session if it fails.
 * 4. Only what is its own is touched: an id that no file of the repository can have, a path outside its root, a link, and
 *    a file that holds another session than the one named are refused with nothing changed.
 * 5. Opening a session of an older storage version migrates it first; one of a newer version is refused.
 * 6. What a repository makes is readable by its owner alone.
 */
import type { Clock, IdGenerator } from "../../foundation/index.ts";
import type { Entry } from "../../model/index.ts";
import type { EntryScan, SessionDump, SessionMetadata } from "../../storage/index.ts";
import type { ForkOptions } from "../fork.ts";
import type { RewriteOptions, RewriteRules } from "../rewrite.ts";
import type { Session, SessionCodecOptions } from "../session.ts";

/** Where sessions live. `M` is what names one: its metadata, and where it lies. */
export interface SessionRepository<M extends SessionMetadata = SessionMetadata> {
  /** Rejects with `SessionExists` for an id that is taken, `InvalidSessionId` for one that cannot be. */
  create(options?: NewSession): Promise<Session<M>>;
  /** Rejects with `SessionIsOpen`, `SessionNotFound`, `ForeignSession`, or as the store does. */
  open(metadata: M): Promise<Session<M>>;
  /** Every session, the newest first. What looks like one and is none is skipped, and named on request. */
  list(options?: ListOptions): Promise<M[]>;
  /** Rejects as `open`. */
  delete(metadata: M): Promise<void>;
  /** A new session of a part or the whole of another. Rejects with `UnknownForkPoint`, or as `open` and `create`. */
  fork(source: M, options?: ForkOptions & ForkTarget): Promise<Session<M>>;
  /**
   * Replaces a session by what the rules keep of it (spec §2.9), and answers what it is now. Rejects with
   * `SessionNotIdle`, `InvalidRewrite`, what a rule throws, or as `open`; nothing is changed then.
   */
  rewrite(metadata: M, rules: RewriteRules, options?: RewriteOptions): Promise<M>;
  /** Lets `look` read one snapshot of a session, open or not, and changes nothing. Rejects as `open`, never as open. */
  read<T>(metadata: M, look: (reading: SessionReading) => T): Promise<T>;
}

/** What every repository is made of. */
export interface RepositoryOptions extends SessionCodecOptions {
  readonly clock: Clock;
  /** Mints the ids of sessions, and of what is written in them. */
  readonly idGenerator: IdGenerator;
}

/** What a caller says of a new session. */
export interface NewSession {
  /** Default: a new UUIDv7. */
  readonly id?: string;
  readonly cwd?: string;
  readonly parentSessionId?: string;
}

/** What a caller says of a fork. Its parent is its source; its `cwd` is the source's unless told otherwise. */
export type ForkTarget = Pick<NewSession, "id" | "cwd">;

export interface ListOptions {
  /** Called for each file that looks like a session and is not listed. */
  readonly onSkipped?: (skipped: SkippedFile) => void;
}

/** A file that is not listed, and why. */
export interface SkippedFile {
  readonly path: string;
  readonly reason: "link" | "not_a_file" | "unreadable" | "duplicate_id";
  /** For `unreadable`: what reading it threw. */
  readonly error?: unknown;
}

/** One snapshot of a session. Good only inside the call that it is handed to. */
export interface SessionReading {
  readonly metadata: SessionMetadata;
  /** All entries, by seq. Their payloads are not held against schemas here. */
  scanEntries(query: EntryScan): Entry[];
  dump(): SessionDump;
}

/** The metadata of a session that is a file. */
export interface FileSessionMetadata extends SessionMetadata {
  /** Absolute. */
  readonly path: string;
}

/** There is no session of this id here. */
export class SessionNotFound extends Error {
  override readonly name = "SessionNotFound";
  readonly code = "SESSION_NOT_FOUND";
  readonly sessionId: string;

  constructor(sessionId: string, path?: string) {
    super(
      `no session ${sessionId}${path === undefined ? "" : ` at ${path}`}; list the repository for those it has`,
    );
    this.sessionId = sessionId;
  }
}

/** The session is open in this repository. Nothing was changed. */
export class SessionIsOpen extends Error {
  override readonly name = "SessionIsOpen";
  readonly code = "SESSION_IS_OPEN";
  readonly sessionId: string;

  constructor(sessionId: string) {
    super(
      `session ${sessionId} is open in this repository; use that, or close it first; nothing was changed`,
    );
    this.sessionId = sessionId;
  }
}

/** An id that the name of a file cannot be made of. Nothing was made. */
export class InvalidSessionId extends Error {
  override readonly name = "InvalidSessionId";
  readonly code = "INVALID_SESSION_ID";
  readonly sessionId: string;

  constructor(sessionId: string) {
    super(
      `${JSON.stringify(sessionId)} cannot be the id of a new session; use up to 128 letters, digits, ".", "_" and ` +
        '"-", with a letter, a digit or "_" first and no "." last',
    );
    this.sessionId = sessionId;
  }
}

/** What was named is not a session of this repository. Nothing was changed. */
export class ForeignSession extends Error {
  override readonly name = "ForeignSession";
  readonly code = "FOREIGN_SESSION";
  readonly reason: "outside" | "name" | "link" | "not_a_file" | "other_id";
  readonly path: string;

  constructor(reason: ForeignSession["reason"], path: string, message: string) {
    super(`${path}: ${message}; nothing was changed`);
    this.reason = reason;
    this.path = path;
  }
}

/** The rules of a rewrite make what no session can hold. Nothing was changed. */
export class InvalidRewrite extends Error {
  override readonly name = "InvalidRewrite";
  readonly code = "INVALID_REWRITE";

  constructor(message: string, cause?: unknown) {
    super(`the rules leave what no session can hold: ${message}; nothing was changed`, { cause });
  }
}
