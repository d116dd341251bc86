/**
 * A session of format 4 as a file (spec §1.7): which bytes count, where it is damaged, and what would be left of it.
 *
 * Of a damaged file the lines before the damage are shown, because they are what a person can save by cutting a copy
 * there. Nothing does that by itself: a transaction behind the damage may have been confirmed.
 */
import { Corruption, isJsonText } from "../foundation/index.ts";
import { MigrationMissing } from "../session/index.ts";
import {
  DEFAULT_COMPACTION_THRESHOLD,
  isWorthCompacting,
  type JsonlSession,
  readJsonlSession,
  StorageVersionTooNew,
} from "../storage/index.ts";
import type { BytesFinding, LostBytes, ReaderFinding } from "./finding.ts";
import { afterMigration, migratedJsonl } from "./migrated.ts";
import { refusalFinding, sessionFinding } from "./session.ts";
import { counted, printable } from "./words.ts";

/** What the bytes of a session file say. */
export async function jsonlFinding(bytes: Buffer, nowMs: number): Promise<ReaderFinding> {
  const file = { kind: "jsonl_session", byteLength: bytes.length } as const;
  let read: JsonlSession;
  try {
    read = readJsonlSession(bytes);
  } catch (error) {
    if (error instanceof StorageVersionTooNew) return tooNew(error, file);
    if (error instanceof Corruption) return damaged(bytes, error, file, nowMs);
    throw error;
  }
  const lost = tornTail(bytes, read);
  const kept = {
    ...bytesOf(bytes, bytes.length - (read.tornTail?.byteLength ?? 0)),
    dead: deadOf(read),
    lost,
  };
  try {
    const { dump, migration } = await migratedJsonl(bytes, read.dump);
    const session = afterMigration(sessionFinding(dump, { nowMs, hasLedger: true }), migration);
    const isWhole =
      session.violations.length === 0 && session.lanes.every(({ refusal }) => refusal === undefined);
    return {
      ...file,
      verdict: isWhole ? "whole" : "damaged",
      says: isWhole ? SAYS : `${SAYS}, whose state breaks a rule`,
      bytes: kept,
      session,
    };
  } catch (error) {
    if (!(error instanceof Corruption || error instanceof MigrationMissing)) throw error;
    return { ...file, verdict: "unreadable", says: notMigrated(error), bytes: kept };
  }
}

const SAYS = "a JSONL session of format 4";

/** Why the next opening would stop at a migration. */
export function notMigrated(error: Error): string {
  return `a session of an older storage version that cannot be brought up: ${printable(error.message)}`;
}

/** A session of a version that only a newer program reads. */
function tooNew(
  error: StorageVersionTooNew,
  file: Pick<ReaderFinding, "kind" | "byteLength">,
): ReaderFinding {
  const { message } = error;
  return {
    ...file,
    verdict: "unreadable",
    says: `${SAYS} of a newer storage version`,
    refusal: { reason: "storage_version_too_new", message, line: 1, byteOffset: 0 },
  };
}

async function damaged(
  bytes: Buffer,
  error: Corruption,
  file: Pick<ReaderFinding, "kind" | "byteLength">,
  nowMs: number,
): Promise<ReaderFinding> {
  const refusal = refusalFinding(error);
  const keptBytes = refusal.byteOffset ?? 0;
  const lost = [behindDamage(bytes, keptBytes)];
  const finding: ReaderFinding = {
    ...file,
    verdict: "damaged",
    says: `${SAYS}, damaged`,
    refusal,
    bytes: { ...bytesOf(bytes, keptBytes), lost },
  };
  if (keptBytes === 0) return finding;
  // What stands before the first damage was read without a complaint just now.
  const before = bytes.subarray(0, keptBytes);
  try {
    const { dump, migration } = await migratedJsonl(before, readJsonlSession(before).dump);
    return {
      ...finding,
      session: afterMigration(sessionFinding(dump, { nowMs, hasLedger: true }), migration),
    };
  } catch (failure) {
    if (!(failure instanceof Corruption || failure instanceof MigrationMissing)) throw failure;
    return { ...finding, says: `${finding.says}; what stands before the damage is ${notMigrated(failure)}` };
  }
}

/** From the damaged line to the end. Lines that are whole JSON may be saved by hand, one by one. */
export function behindDamage(bytes: Buffer, byteOffset: number): LostBytes {
  const behind = bytes.subarray(byteOffset);
  const lines = behind.toString("utf8").split("\n");
  if (lines.at(-1) === "") lines.pop();
  const jsonCount = lines.filter(isJsonText).length;
  const cut =
    byteOffset === 0 ? "nothing stands before it" : "a copy that is cut here opens as what stands before";
  const says = `${counted(lines.length, "line")}, of which ${jsonCount} are whole JSON; ${cut}`;
  return { byteOffset, byteLength: behind.length, what: "behind_damage", says };
}

function tornTail(bytes: Buffer, { tornTail: torn }: JsonlSession): LostBytes[] {
  if (torn === undefined) return [];
  const isZero = bytes.subarray(torn.byteOffset).every((byte) => byte === 0);
  const says = `a line without its end${isZero ? ", all zero bytes" : ""}: its commit was never confirmed, and the next writer cuts it off`;
  return [{ ...torn, what: "torn_tail", says }];
}

function deadOf({ bytes: { total, dead } }: JsonlSession): NonNullable<BytesFinding["dead"]> {
  return {
    byteLength: dead,
    ratio: total === 0 ? 0 : dead / total,
    isWorthCompacting: isWorthCompacting({ total, dead }, DEFAULT_COMPACTION_THRESHOLD),
  };
}

function bytesOf(bytes: Buffer, keptBytes: number): Pick<BytesFinding, "keptBytes" | "keptLines"> {
  return { keptBytes, keptLines: linesIn(bytes.subarray(0, keptBytes)) };
}

/** Lines, a last one without its end included. */
export function linesIn(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) lines += 1;
  return lines + (bytes.length > 0 && bytes.at(-1) !== LF ? 1 : 0);
}

const LF = 0x0a;
