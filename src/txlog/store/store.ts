/**
 * The session store: commits transactions, and knows the state after them (spec §6).
 *
 * Invariants.
 * 1. Commits, loads and closing run one after the other, in the order of the calls. One that fails does not stop those
 *    behind it.
 * 2. A commit is tried as it will be re-read before a byte is written, at a cost that does not grow with the session.
 * 3. A rejected commit changes neither file nor `seq` nor state. If bytes were taken in part they are cut off before
 *    anything else is written; where that fails too, nothing is written until the session is opened again.
 * 4. What can be read from the store is on disk: memory is never ahead of the file.
 * 5. A torn tail is cut off before the first append, and a file that is refused is left alone.
 */
import { admitJson, type Clock, type IdGenerator } from "../../foundation/index.ts";
import type { CommittedFact, NewFact } from "../fact-types.ts";
import type { Reduction } from "../reduction.ts";
import type { RecoveryPoint, SessionState } from "../state.ts";
import { refusedTransaction, SessionStoreError } from "./errors.ts";
import type { SessionFile } from "./files.ts";

/** Durable sessions behind three calls. */
export interface SessionStore {
  /** Appends facts as one transaction, and resolves with them as they stand in the file. */
  commit(facts: readonly NewFact[]): Promise<readonly CommittedFact[]>;
  /** The state after all commits that were called for before; it stays as it is when the session goes on. */
  load(): Promise<SessionState>;
  /** Waits for what was called for, then releases file and lock. Closing twice is closing once. */
  close(): Promise<void>;
}

/** A store that also shows what recovery needs. */
export interface RecoverableStore extends SessionStore {
  /** Reads the state in its turn and without a copy of it: `read` must not keep what it is given. */
  consult<T>(read: (point: RecoveryPoint) => T): Promise<T>;
}

/** An open file with what was read from it; made by `createSession` and `openSession`. */
export interface OpenSession {
  readonly path: string;
  readonly file: SessionFile;
  readonly reduction: Reduction;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly release: () => void;
}

export class FileSessionStore implements RecoverableStore {
  readonly #session: OpenSession;
  #queue: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #isBroken = false;

  constructor(session: OpenSession) {
    this.#session = session;
  }

  /** The real path of the file. */
  get path(): string {
    return this.#session.path;
  }

  /** An id for a fact that others will refer to. */
  nextId(): string {
    return this.#session.ids.next();
  }

  async commit(facts: readonly NewFact[]): Promise<readonly CommittedFact[]> {
    if (this.#closing !== undefined) throw closedError();
    if (facts.length === 0) {
      throw new SessionStoreError("EMPTY_TRANSACTION", "a commit needs at least one fact");
    }
    // Admitted now, so that what the caller does to its objects while the commit waits changes nothing.
    const admitted = admitFacts(facts);
    return this.#inTurn(() => this.#append(admitted));
  }

  async load(): Promise<SessionState> {
    return this.#inTurn(() => this.#session.reduction.snapshot());
  }

  async consult<T>(read: (point: RecoveryPoint) => T): Promise<T> {
    return this.#inTurn(() => read(this.#session.reduction.live()));
  }

  close(): Promise<void> {
    this.#closing ??= this.#inTurn(async () => {
      try {
        await this.#session.file.close();
      } finally {
        this.#session.release();
      }
    });
    return this.#closing;
  }

  #inTurn<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  async #append(facts: readonly NewFact[]): Promise<readonly CommittedFact[]> {
    if (this.#isBroken) throw needsReopen(this.path);
    const { reduction } = this.#session;
    const stamped = this.#stamp(facts);
    const bytes = Buffer.from(`${JSON.stringify(stamped.length === 1 ? stamped[0] : stamped)}\n`, "utf8");
    const committedLength = reduction.repairedLength;
    const refusal = reduction.attempt(bytes);
    if (refusal !== undefined) throw refusedTransaction(refusal);
    try {
      await this.#write(bytes, committedLength);
    } catch (error) {
      reduction.takeBack();
      throw error;
    }
    reduction.keep();
    return stamped;
  }

  /** Gives seq, time and missing ids; one reading of the clock for all facts of a transaction. */
  #stamp(facts: readonly NewFact[]): readonly CommittedFact[] {
    const { reduction, clock, ids } = this.#session;
    const timestamp = clock.now();
    return facts.map((fact, index) => ({
      ...fact,
      seq: reduction.nextSeq + index,
      id: fact.id ?? ids.next(),
      timestamp,
    }));
  }

  async #write(bytes: Uint8Array, committedLength: number): Promise<void> {
    let cause: unknown;
    try {
      const count = await this.#session.file.append(bytes);
      if (count === bytes.length) return;
      cause = new Error(`${count} of ${bytes.length} bytes were taken`);
    } catch (error) {
      cause = error;
    }
    try {
      await this.#session.file.truncate(committedLength);
    } catch (second) {
      this.#isBroken = true;
      throw needsReopen(this.path, new AggregateError([cause, second], "the write and the cut failed"));
    }
    throw new SessionStoreError("WRITE_FAILED", `the transaction was not written to ${this.path}`, { cause });
  }
}

function needsReopen(path: string, cause?: unknown): SessionStoreError {
  const message = `${path} may hold a part of a line that could not be cut off; open the session again`;
  return new SessionStoreError("NEEDS_REOPEN", message, { cause });
}

function closedError(): SessionStoreError {
  return new SessionStoreError("CLOSED", "the session is closed; open it again to commit");
}

function admitFacts(facts: readonly NewFact[]): readonly NewFact[] {
  try {
    return admitJson(facts);
  } catch (cause) {
    throw new SessionStoreError("NOT_STORABLE", "a fact holds something that JSON cannot carry", { cause });
  }
}
