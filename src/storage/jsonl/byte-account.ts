/**
 * The byte account: how much of a session file is live, kept write by write (spec §1.7, snapshot compaction).
 *
 * Terms. *Live*: what a compaction would write again, each row on a line of its own. *Dead*: the rest of the file:
 * overwritten and deleted registers, the deletes themselves, and what joins several writes to one line.
 *
 * Invariants.
 * 1. The live bytes are exactly the size of the compacted file, for a file that `codec.ts` wrote.
 * 2. Accounting for a commit costs the same however long the session is. The account remembers one number for each
 *    register that exists.
 * 3. An account is opened when someone first asks for it (`accountOf` in `snapshot.ts`), for the price of encoding the
 *    session once. Who never asks pays nothing for it, neither at opening nor in a commit.
 * 4. The newest write stays live if it is a delete: it holds the last seq, which must not be given out again.
 */
import type { StoredWrite } from "../stored-write.ts";
import { encodeStored } from "./codec.ts";

/** How the bytes of a session file are used; a torn tail counts as neither. */
export interface FileBytes {
  /** Whole lines. */
  readonly total: number;
  /** Of these, what a compaction would drop. */
  readonly dead: number;
}

/** See the module header. */
export class ByteAccount {
  /** Of rows that are written once; each with its LF, as all sizes here. */
  #rowBytes = 0;
  #registerBytes = 0;
  #lastDeleteBytes = 0;
  readonly #registers = new Map<string, number>();

  /** The size of all live rows with their LF, without the header. */
  get liveBytes(): number {
    return this.#rowBytes + this.#registerBytes + this.#lastDeleteBytes;
  }

  /** Accounts for one write, given the size of its encoded form. */
  add(write: StoredWrite, byteLength: number): void {
    const bytes = byteLength + LF_BYTES;
    this.#lastDeleteBytes = 0;
    switch (write.kind) {
      case "entry":
      case "usage":
        this.#rowBytes += bytes;
        return;
      case "set":
        this.#setRegister(`${write.namespace}\u0000${write.key}`, bytes);
        return;
      case "delete":
        this.#setRegister(`${write.namespace}\u0000${write.key}`, 0);
        this.#lastDeleteBytes = bytes;
    }
  }

  /**
   * Accounts for the writes of a line, given its size without the LF. Only registers are measured one by one, by
   * `sizeOf` the write at an index; the rest of the line is what the write-once rows take.
   */
  addLine(
    writes: readonly StoredWrite[],
    byteLength: number,
    sizeOf: (index: number) => number = (index) =>
      Buffer.byteLength(encodeStored(writes[index] as StoredWrite)),
  ): void {
    const [only] = writes;
    if (only !== undefined && writes.length === 1) {
      this.add(only, byteLength);
      return;
    }
    let restBytes = byteLength - joinBytes(writes.length);
    let rowCount = 0;
    for (let index = 0; index < writes.length; index++) {
      const write = writes[index] as StoredWrite;
      if (write.kind === "entry" || write.kind === "usage") {
        rowCount += 1;
        this.#lastDeleteBytes = 0;
        continue;
      }
      const bytes = sizeOf(index);
      restBytes -= bytes;
      this.add(write, bytes);
    }
    if (rowCount > 0) this.#rowBytes += restBytes + rowCount * LF_BYTES;
  }

  /** Accounts for a line that was just encoded, given its parts, and its size with the LF. */
  addEncoded(
    writes: readonly StoredWrite[],
    parts: readonly string[],
    line: string,
    lineBytes: number,
  ): void {
    const isOneByteEach = lineBytes === line.length;
    this.addLine(writes, lineBytes - LF_BYTES, (index) => {
      const part = parts[index] ?? "";
      return isOneByteEach ? part.length : Buffer.byteLength(part);
    });
  }

  #setRegister(name: string, bytes: number): void {
    this.#registerBytes += bytes - (this.#registers.get(name) ?? 0);
    if (bytes === 0) this.#registers.delete(name);
    else this.#registers.set(name, bytes);
  }
}

/** What a line of several writes has beside them: two brackets and the commas. */
function joinBytes(writeCount: number): number {
  return writeCount + 1;
}

const LF_BYTES = 1;
