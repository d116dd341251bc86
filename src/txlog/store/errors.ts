/**
 * How the store fails (spec §6). A refused file is a `Corruption` of `foundation` instead: its reason is the code of the
 * refusal, and its place names file, line and byte.
 */
import { Corruption } from "../../foundation/index.ts";
import { byteOffsetOfLine } from "../framing.ts";
import { EXPECTATIONS, type Refusal } from "../refusal.ts";

/**
 * - `INVALID_SESSION_ID`: the id is no UUIDv7 in lower case.
 * - `SESSION_NOT_FOUND`: no regular file of that id stands in the directory.
 * - `DUPLICATE_SESSION_ID`: more than one does; move all but one away.
 * - `UNSAFE_SESSION_PATH`: the file does not really stand in the directory.
 * - `ALREADY_OPEN`: this process has the file open for writing.
 * - `HEADER_MISMATCH`: the name of the file and its header disagree about the id.
 * - `CLOSED`: the store was closed before the call.
 * - `EMPTY_TRANSACTION`: a commit needs at least one fact.
 * - `NOT_STORABLE`: a fact holds something that JSON cannot carry.
 * - `REFUSED`: re-reading the transaction would refuse the file; `refusal` says why.
 * - `WRITE_FAILED`: the bytes were not taken; the file is as it was, and the commit may be tried again.
 * - `NEEDS_REOPEN`: bytes were taken, in part or all, and could not be cut off; open the session again.
 */
export type StoreErrorCode =
  | "INVALID_SESSION_ID"
  | "SESSION_NOT_FOUND"
  | "DUPLICATE_SESSION_ID"
  | "UNSAFE_SESSION_PATH"
  | "ALREADY_OPEN"
  | "HEADER_MISMATCH"
  | "CLOSED"
  | "EMPTY_TRANSACTION"
  | "NOT_STORABLE"
  | "REFUSED"
  | "WRITE_FAILED"
  | "NEEDS_REOPEN";

export class SessionStoreError extends Error {
  override readonly name = "SessionStoreError";
  readonly code: StoreErrorCode;
  readonly refusal?: Refusal;

  constructor(
    code: StoreErrorCode,
    message: string,
    more: { readonly refusal?: Refusal; readonly cause?: unknown } = {},
  ) {
    super(`${message} [${code}]`, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    if (more.refusal !== undefined) this.refusal = more.refusal;
  }
}

/** The refusal of a file as what it is to whoever opens it. */
export function corruptionOf(refusal: Refusal, file: string, bytes: Uint8Array): Corruption {
  const place = {
    file,
    line: refusal.line,
    byteOffset: byteOffsetOfLine(bytes, refusal.line),
    ...(refusal.seq === undefined ? {} : { subject: `fact ${refusal.seq}` }),
  };
  const message = `${EXPECTATIONS[refusal.code]}. Nothing was changed: restore the file from a copy, or cut it before this line by hand`;
  return new Corruption(refusal.code, message, place);
}

export function refusedTransaction(refusal: Refusal): SessionStoreError {
  const where = refusal.seq === undefined ? "" : ` fact ${refusal.seq} of`;
  const message = `the transaction was not written, for${where} line ${refusal.line} would be refused as ${refusal.code}: ${EXPECTATIONS[refusal.code]}`;
  return new SessionStoreError("REFUSED", message, { refusal });
}
