/**
 * One writer for each file (spec §6). The lock is of one process; that two processes never write one session is the duty
 * of whoever starts them.
 */
import { SessionStoreError } from "./errors.ts";

export class WriterLocks {
  readonly #held = new Set<string>();

  /**
   * Takes the lock of a file by its real path, and returns what releases it. Releasing twice does nothing, so that a late
   * release never takes the lock from a later holder.
   */
  take(realPath: string): () => void {
    if (this.#held.has(realPath)) {
      throw new SessionStoreError("ALREADY_OPEN", `the session file ${realPath} is already open for writing`);
    }
    this.#held.add(realPath);
    let isHeld = true;
    return () => {
      if (isHeld) this.#held.delete(realPath);
      isHeld = false;
    };
  }
}

/** The locks of this process. A simulated process has locks of its own, which die with it. */
export const processLocks = new WriterLocks();
