/**
 * What the author of a repository writes: how to make an empty one, and how another process would see it.
 */
import type { Clock, IdGenerator } from "../../src/foundation/index.ts";
import type { SessionRepository } from "../../src/session/index.ts";
import type { SessionContents, SessionMetadata } from "../../src/storage/index.ts";

/** A repository under test. */
export interface RepositoryFactory {
  /** Shown in messages: `jsonl`, `postgres 17`, … */
  readonly name: string;
  /** Whether sessions can be of another storage version. Needs `plant`. */
  readonly hasVersions: boolean;
  /** A new, empty repository on a medium of its own. Called once or more by every case. */
  create(options: RepositoryFactoryOptions): Promise<RepositoryHandle>;
}

export interface RepositoryFactoryOptions {
  /** For everything that takes a time. */
  readonly clock: Clock;
  /** For the ids of sessions and of what is written in them. */
  readonly idGenerator: IdGenerator;
}

/** One repository under test. */
export interface RepositoryHandle {
  readonly repository: SessionRepository;
  /** Another repository over the same medium, which knows nothing of what is open in the first. */
  another(): Promise<SessionRepository>;
  /**
   * Puts a session on the medium as another program left it, whatever storage version its metadata says. Left out where
   * there is none but the current one, as in memory; the cases that need it stand in the list as skipped then.
   */
  plant?(metadata: SessionMetadata, contents: SessionContents): Promise<void>;
  /** Removes the medium. Called after every case, when every session that the case opened has been closed. */
  dispose(): Promise<void>;
}
