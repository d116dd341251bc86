/**
 * The host's files, with a write that fails on demand after half of its bytes, as on a full disk. Around the shipped
 * store, so that the store under test is the one that is shipped.
 */
import { type FileCall, FilesThrough, hostFileSystem } from "../../src/storage/index.ts";

/** Whether what a failed write left can be cut off again, or not until the file is opened anew. */
export type Damage = "removable" | "stays until reopened";

/** See the module header. One instance serves one session. */
export class FailingFiles extends FilesThrough {
  /** Where the last whole write went. */
  lastWrite = { position: 0, byteCount: 0 };
  readonly #damage: Damage;
  #failsNextWrite = false;
  #canTruncate = true;

  constructor(damage: Damage) {
    super(hostFileSystem);
    this.#damage = damage;
  }

  failNextWrite(): void {
    this.#failsNextWrite = true;
  }

  protected pass<T>({ name, make, write }: FileCall<T>): T {
    if (name === "open") this.#canTruncate = true;
    if (name === "truncate" && !this.#canTruncate) throw new Error("EIO: i/o error, ftruncate");
    if (write === undefined) return make();
    if (!this.#failsNextWrite) {
      this.lastWrite = { position: write.position, byteCount: write.length };
      return make();
    }
    this.#failsNextWrite = false;
    this.#canTruncate = this.#damage === "removable";
    write.make(Math.floor(write.length / 2));
    throw new Error("ENOSPC: no space left on device, write");
  }
}
