/**
 * The snapshot form of a session file (spec §1.7): header, then every current row on a line of its own, by seq. Rows
 * keep the seq and time that they were committed with, so the gaps of what is left out remain.
 *
 * The newest write is part of it even if it is a delete, because a later commit must not take its seq again.
 */
import type { SessionMetadata } from "../contract.ts";
import type { StoredWrite } from "../stored-write.ts";
import type { Tables } from "../tables.ts";
import { ByteAccount } from "./byte-account.ts";
import { encodeHeader, encodeStored, type Header } from "./codec.ts";

/** The header of a file that holds just these rows. */
export function headerOf(metadata: SessionMetadata, tables: Tables): Header {
  let newest = 0;
  let timesKeptThroughSeq = 0;
  for (const { seq, timestamp } of tables.entryOrder) {
    if (timestamp < newest) timesKeptThroughSeq = seq;
    else newest = timestamp;
  }
  return { metadata, timesKeptThroughSeq };
}

/** The content of a snapshot, in pieces of whole lines. What it writes is entered into the account. */
export function* snapshotContent(
  header: Header,
  tables: Tables,
  account = new ByteAccount(),
): Generator<Buffer> {
  let text = encodeHeader(header.metadata, header.timesKeptThroughSeq);
  for (const write of snapshotWrites(tables)) {
    if (text.length >= PIECE_LENGTH) {
      yield Buffer.from(text);
      text = "";
    }
    const encoded = encodeStored(write);
    account.add(write, Buffer.byteLength(encoded));
    text += `${encoded}\n`;
  }
  yield Buffer.from(text);
}

/** The account of a file whose rows are these. */
export function accountOf(tables: Tables): ByteAccount {
  const account = new ByteAccount();
  for (const write of snapshotWrites(tables)) account.add(write, Buffer.byteLength(encodeStored(write)));
  return account;
}

/** Whether two files with these headers and tables have the same snapshot. */
export function isSameSnapshot(one: Contents, other: Contents): boolean {
  const others = snapshotContent(other.header, other.tables);
  for (const piece of snapshotContent(one.header, one.tables)) {
    const { value } = others.next();
    if (value === undefined || !piece.equals(value)) return false;
  }
  return others.next().done === true;
}

/** What a file says. */
interface Contents {
  readonly header: Header;
  readonly tables: Tables;
}

/** Every current row as the write that stores it, by seq, and the newest write if it is a delete. */
function snapshotWrites(tables: Tables): StoredWrite[] {
  const writes: StoredWrite[] = [...tables.entryOrder, ...tables.usageOrder, ...tables.allRegisters()];
  writes.sort((left, right) => left.seq - right.seq);
  if (tables.lastDelete !== undefined) writes.push(tables.lastDelete);
  return writes;
}

/** In UTF-16 code units; a piece is one write call. */
const PIECE_LENGTH = 1 << 18;
