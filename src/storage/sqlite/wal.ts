/**
 * How far a write-ahead log goes: up to which byte SQLite takes it, and what stands behind that.
 *
 * A WAL is a header and frames, each a page with a frame header. A frame counts if it carries the salts of the header and
 * the checksum that runs over all frames up to it; a transaction counts if its last frame, the one with a database size,
 * does. SQLite ignores the rest without a word. Most of it is harmless: frames of an earlier round carry other salts,
 * and a transaction that was cut off has no last frame. A last frame with the right salts behind a broken checksum is
 * not: no correct writer leaves it, and the commits from there on are lost.
 */

/** See the module header. Offsets and sizes in bytes, from the start of the WAL. */
export interface WalExtent {
  readonly byteLength: number;
  /** Up to here SQLite reads it: the end of the last whole transaction. */
  readonly committedBytes: number;
  readonly committedFrames: number;
  /** Where the first frame stands that SQLite refuses, though commits of this round stand behind it. */
  readonly damagedAt: number | undefined;
}

export const WAL_HEADER_BYTES = 32;
/** In front of the page of each frame. */
export const WAL_FRAME_HEADER_BYTES = 24;
/** The last bit of the magic number says in which order of bytes the checksums were made. */
const MAGIC = 0x377f0682;

/** What changes when a WAL is begun again; undefined for one that has no header yet. */
export function saltsOf(wal: Buffer | undefined): string | undefined {
  if (wal === undefined || wal.length < WAL_HEADER_BYTES) return undefined;
  return wal.toString("hex", 0, WAL_HEADER_BYTES);
}

/** Bytes of one frame with its header, by the header of a WAL. */
export function walFrameBytes(header: Buffer): number {
  return WAL_FRAME_HEADER_BYTES + header.readUInt32BE(8);
}

/** Whether a frame, by its header, carries the salts of a WAL's header: whether it was written since the WAL was begun. */
export function isWalFrameOf(header: Buffer, frameHeader: Buffer): boolean {
  return header.compare(frameHeader, 8, 16, 16, 24) === 0;
}

/** Reads a WAL. One without a valid header holds nothing. */
export function walExtent(wal: Buffer): WalExtent {
  const byteLength = wal.length;
  const nothing = { byteLength, committedBytes: 0, committedFrames: 0, damagedAt: undefined };
  if (byteLength < WAL_HEADER_BYTES || (wal.readUInt32BE(0) & ~1) !== MAGIC) return nothing;
  const isBigEndian = (wal.readUInt32BE(0) & 1) === 1;
  const frameBytes = walFrameBytes(wal);
  let sum = checksum(wal, 0, 24, isBigEndian, [0, 0]);
  if (!isChecksum(wal, 24, sum)) return nothing;
  let committedBytes = WAL_HEADER_BYTES;
  let committedFrames = 0;
  let damagedAt: number | undefined;
  for (let at = WAL_HEADER_BYTES; at + frameBytes <= byteLength; at += frameBytes) {
    const isOfThisRound = isWalFrameOf(wal, wal.subarray(at, at + WAL_FRAME_HEADER_BYTES));
    const isLast = wal.readUInt32BE(at + 4) !== 0;
    if (damagedAt === undefined) {
      sum = checksum(wal, at, at + 8, isBigEndian, sum);
      sum = checksum(wal, at + WAL_FRAME_HEADER_BYTES, at + frameBytes, isBigEndian, sum);
      if (!isOfThisRound || !isChecksum(wal, at + 16, sum)) damagedAt = at;
    }
    if (damagedAt !== undefined && isOfThisRound && isLast) {
      return { byteLength, committedBytes, committedFrames, damagedAt };
    }
    if (damagedAt === undefined && isLast) {
      committedBytes = at + frameBytes;
      committedFrames = (committedBytes - WAL_HEADER_BYTES) / frameBytes;
    }
  }
  return { byteLength, committedBytes, committedFrames, damagedAt: undefined };
}

/** The database that a file and its WAL are together: the newest committed version of each page (see `walExtent`). */
export function withWal(file: Buffer, wal: Buffer, { committedBytes }: WalExtent): Buffer {
  const frameBytes = walFrameBytes(wal);
  const pageBytes = frameBytes - WAL_FRAME_HEADER_BYTES;
  // The last frame of a transaction says how many pages the database has then.
  const pageCount = wal.readUInt32BE(committedBytes - frameBytes + 4);
  const image = Buffer.alloc(pageCount * pageBytes);
  file.copy(image);
  for (let at = WAL_HEADER_BYTES; at < committedBytes; at += frameBytes) {
    const page = wal.readUInt32BE(at) - 1;
    // A page that a later transaction cut off.
    if (page < pageCount) wal.copy(image, page * pageBytes, at + WAL_FRAME_HEADER_BYTES, at + frameBytes);
  }
  return image;
}

type Sum = readonly [number, number];

/** SQLite's running checksum over words of 32 bits, two at a time. */
function checksum(bytes: Buffer, from: number, to: number, isBigEndian: boolean, [first, second]: Sum): Sum {
  let a = first;
  let b = second;
  for (let at = from; at < to; at += 8) {
    a = (a + (isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + b) >>> 0;
    b = (b + (isBigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + a) >>> 0;
  }
  return [a, b];
}

/** Checksums are stored with their high bytes first, whatever they were made over. */
function isChecksum(bytes: Buffer, at: number, [first, second]: Sum): boolean {
  return bytes.readUInt32BE(at) === first && bytes.readUInt32BE(at + 4) === second;
}
