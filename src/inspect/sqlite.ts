/**
 * A session database: from a copy of one moment, so that neither the file nor what stands beside it is touched
 * (`../storage/sqlite/moment.ts`).
 */
import { existsSync, statSync } from "node:fs";
import { Corruption } from "../foundation/index.ts";
import { MigrationMissing, SEARCH_APPLICATION_ID } from "../session/index.ts";
import {
  type Asked,
  CURRENT_STORAGE_VERSION,
  SQLITE_APPLICATION_ID,
  SQLITE_SIDE_FILES,
  type SqliteMoment,
  SqliteMovedOn,
  type SqliteSurvey,
  StorageFault,
  sqliteMoment,
  surveySqlite,
  type WalExtent,
} from "../storage/index.ts";
import type { BesideFinding, DatabaseFinding, LostBytes, ReaderFinding, RefusalFinding } from "./finding.ts";
import { notMigrated } from "./jsonl.ts";
import { afterMigration, migratedSqlite } from "./migrated.ts";
import { beginningOf } from "./open-file.ts";
import { refusalFinding, sessionFinding } from "./session.ts";
import { counted, printable } from "./words.ts";

/** What a database file says. @throws the host's error */
export async function sqliteFinding(path: string, nowMs: number): Promise<ReaderFinding> {
  let moment: SqliteMoment;
  let survey: SqliteSurvey;
  try {
    moment = sqliteMoment(path);
    survey = surveySqlite(moment.image);
  } catch (error) {
    if (error instanceof SqliteMovedOn) {
      return { kind: "sqlite_session", verdict: "inconclusive", says: printable(error.message) };
    }
    // A copy is read, so what SQLite complains of lies in the bytes.
    if (!(error instanceof Corruption || error instanceof StorageFault)) throw error;
    return {
      kind: "sqlite_session",
      verdict: "damaged",
      says: "a SQLite database that SQLite cannot read",
      refusal: sqliteRefusal(error),
      ...cutOff(path, statSync(path).size),
    };
  }
  const database = databaseFinding(moment, survey, nowMs);
  // What a WAL holds need not be in the file yet, so only without one the file has all its pages.
  const isAlone = (moment.wal?.committedFrames ?? 0) === 0 && !moment.hasJournal;
  const file = { ...(isAlone ? cutOff(path, moment.fileBytes) : { byteLength: moment.fileBytes }), database };
  if (survey.applicationId !== SQLITE_APPLICATION_ID) return { ...file, ...foreign(survey) };
  const session = await sessionOf(moment, survey, nowMs, database);
  if (session.verdict === "whole" && file.bytes !== undefined) {
    return {
      kind: "sqlite_session",
      ...file,
      ...session,
      verdict: "damaged",
      says: "a SQLite session, damaged",
    };
  }
  return { kind: "sqlite_session", ...file, ...session };
}

/** What a file that is shorter than its own header says lacks at its end. */
function cutOff(path: string, byteLength: number): Pick<ReaderFinding, "byteLength" | "bytes"> {
  const header = beginningOf(path, HEADER_BYTES);
  if (header.length < HEADER_BYTES) return { byteLength };
  // The value 1 stands for a page of 65,536 bytes.
  const pageBytes = header.readUInt16BE(PAGE_SIZE_AT) === 1 ? 65_536 : header.readUInt16BE(PAGE_SIZE_AT);
  const missing = header.readUInt32BE(PAGE_COUNT_AT) * pageBytes - byteLength;
  if (missing <= 0) return { byteLength };
  const says = `the header counts ${header.readUInt32BE(PAGE_COUNT_AT)} pages of ${pageBytes} bytes, and the file ends before that`;
  const lost = [{ byteOffset: byteLength, byteLength: missing, what: "cut_off", says }] as const;
  return { byteLength, bytes: { keptBytes: byteLength, lost } };
}

const HEADER_BYTES = 100;
const PAGE_SIZE_AT = 16;
const PAGE_COUNT_AT = 28;

/** Files that SQLite keeps beside the database. */
export function sideFilesOf(path: string): BesideFinding[] {
  return SQLITE_SIDE_FILES.filter((suffix) => existsSync(path + suffix)).map((suffix) => ({
    path: path + suffix,
    byteLength: statSync(path + suffix).size,
    says: SIDE_FILE_SAYS[suffix],
  }));
}

const SIDE_FILE_SAYS: Readonly<Record<(typeof SQLITE_SIDE_FILES)[number], string>> = {
  "-wal": "its newest commits: a part of the session, so it is moved and copied with it",
  "-shm": "shared memory of connections: a writer lives, or was killed; no part of the session",
  "-journal": "a change of the whole file that was cut off: SQLite undoes it when the file is opened",
};

function foreign({
  applicationId,
  pageCount,
}: SqliteSurvey): Pick<ReaderFinding, "kind" | "verdict" | "says"> {
  if (applicationId === SEARCH_APPLICATION_ID) {
    const says =
      "a search index over sessions: it has no authority, may be deleted, and is made again by a sync";
    return { kind: "search_index", verdict: "not_a_session", says };
  }
  if (pageCount <= 1) {
    const says =
      "an empty SQLite database: its creation as a session did not finish, or its WAL was left behind";
    return { kind: "other", verdict: "not_a_session", says };
  }
  const says = "a SQLite database of another program, or one whose creation as a session did not finish";
  return { kind: "other", verdict: "not_a_session", says };
}

async function sessionOf(
  { image, wal }: SqliteMoment,
  survey: SqliteSurvey,
  nowMs: number,
  database: DatabaseFinding,
): Promise<Omit<ReaderFinding, "kind">> {
  const { metadata, dump } = survey;
  if (metadata.ok && metadata.value.storageVersion > CURRENT_STORAGE_VERSION) {
    const { storageVersion } = metadata.value;
    const message = `the session has storage version ${storageVersion}, and this program reads up to ${CURRENT_STORAGE_VERSION}`;
    const refusal = { reason: "storage_version_too_new", message };
    return { verdict: "unreadable", says: "a SQLite session of a newer storage version", refusal };
  }
  const refusal = refusalIn([metadata, dump, survey.lease]);
  const isFileSound = database.integrityFaults.length === 0 && wal?.damagedAt === undefined;
  if (refusal !== undefined || !metadata.ok || !dump.ok) {
    const says =
      "a SQLite session, damaged: nothing of it is given out, because no part can be told to be whole";
    return { verdict: "damaged", says, ...(refusal === undefined ? {} : { refusal }) };
  }
  try {
    const migrated = await migratedSqlite(image, dump.value);
    const found = sessionFinding(migrated.dump, { nowMs, hasLedger: true });
    const session = afterMigration(found, migrated.migration);
    const isWhole =
      isFileSound &&
      database.branchIndexFaults.length === 0 &&
      session.violations.length === 0 &&
      session.lanes.every((lane) => lane.refusal === undefined);
    return {
      verdict: isWhole ? "whole" : "damaged",
      says: isWhole ? "a SQLite session" : "a SQLite session, damaged",
      session,
    };
  } catch (error) {
    if (!(error instanceof Corruption || error instanceof MigrationMissing)) throw error;
    return { verdict: "unreadable", says: notMigrated(error) };
  }
}

function refusalIn(answers: readonly Asked<unknown>[]): RefusalFinding | undefined {
  for (const answer of answers) {
    if (!answer.ok) return sqliteRefusal(answer.error);
  }
  return undefined;
}

function sqliteRefusal(error: Corruption | StorageFault): RefusalFinding {
  if (error instanceof Corruption) return refusalFinding(error);
  return { reason: "sqlite_failed", message: printable(error.message) };
}

function databaseFinding({ wal }: SqliteMoment, survey: SqliteSurvey, nowMs: number): DatabaseFinding {
  const { pageBytes, pageCount, freePageCount, integrityFaults, lease, branchIndexFaults } = survey;
  const holder = lease.ok ? lease.value : undefined;
  return {
    pageBytes,
    pageCount,
    freePageCount,
    integrityFaults: integrityFaults.map((fault) => ({
      says: printable(fault),
      ...offsetIn(fault, pageBytes),
    })),
    ...(wal === undefined
      ? {}
      : {
          wal: {
            byteLength: wal.byteLength,
            committedBytes: wal.committedBytes,
            committedFrames: wal.committedFrames,
            lost: lostOf(wal),
          },
        }),
    ...(holder === undefined ? {} : { lease: { ...holder, isExpired: holder.expiresAtMs <= nowMs } }),
    readableRows: survey.readableRows,
    // One that cannot be read says nothing of its own: the file is damaged.
    branchIndexFaults: branchIndexFaults.ok ? branchIndexFaults.value.map(printable) : [],
  };
}

/** SQLite names pages, counted from 1. */
function offsetIn(fault: string, pageBytes: number): { readonly byteOffset?: number } {
  const page = /\bpage (\d+)/i.exec(fault)?.[1];
  return page === undefined ? {} : { byteOffset: (Number(page) - 1) * pageBytes };
}

function lostOf(wal: WalExtent): LostBytes[] {
  if (wal.byteLength <= wal.committedBytes) return [];
  const byteLength = wal.byteLength - wal.committedBytes;
  if (wal.damagedAt !== undefined) {
    const says =
      "of the WAL: commits stand here behind a frame whose checksum is wrong, and SQLite drops them all without a word";
    return [
      {
        byteOffset: wal.damagedAt,
        byteLength: wal.byteLength - wal.damagedAt,
        what: "behind_damaged_frame",
        says,
      },
    ];
  }
  const says = `of the WAL, behind its ${counted(wal.committedFrames, "committed frame")}: remains of earlier rounds, or of a transaction that was cut off; SQLite ignores them`;
  return [{ byteOffset: wal.committedBytes, byteLength, what: "wal_remains", says }];
}
