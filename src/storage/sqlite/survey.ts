/**
 * Everything that can be said of a session database, damaged or not, from its bytes: each part for itself, so that what
 * cannot be read costs only the answer to its own question. Of a session of any storage version the registers are given
 * as they are stored.
 */
import { Corruption } from "../../foundation/index.ts";
import { type SessionMetadata, StorageFault } from "../contract.ts";
import type { SessionDump } from "../dump.ts";
import { branchIndexFaults } from "./branch-index-check.ts";
import { Connection } from "./connection.ts";
import { requireSession } from "./creation.ts";
import { dumpOf } from "./dump.ts";
import { type LeaseHolder, readHolder } from "./lease.ts";
import { readSession } from "./reads.ts";
import { APPLICATION_ID } from "./schema.ts";

/** See the module header. */
export interface SqliteSurvey {
  /** What the file says that it is; see `SQLITE_APPLICATION_ID`. */
  readonly applicationId: unknown;
  readonly pageBytes: number;
  readonly pageCount: number;
  /** Pages that hold nothing and will be used again. */
  readonly freePageCount: number;
  /** What SQLite's own check complains of; empty for a sound file. */
  readonly integrityFaults: readonly string[];
  readonly metadata: Asked<SessionMetadata>;
  readonly dump: Asked<SessionDump>;
  /** Who holds the session, whether or not the time has run out. */
  readonly lease: Asked<LeaseHolder | undefined>;
  readonly branchIndexFaults: Asked<readonly string[]>;
  /** How many rows of each table can be read, one after the other until the first that cannot. */
  readonly readableRows: readonly ReadableRows[];
}

export interface ReadableRows {
  readonly table: "entries" | "registers" | "usage_ledger";
  readonly rowCount: number;
  readonly isComplete: boolean;
}

/** An answer, or why there is none. */
export type Asked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: Corruption | StorageFault };

/** What `application_id` says of a session file. */
export const SQLITE_APPLICATION_ID = APPLICATION_ID;

/** @throws Corruption for bytes that are no database at all */
export function surveySqlite(image: Uint8Array): SqliteSurvey {
  const connection = new Connection({ kind: "image", bytes: image });
  try {
    const applicationId = connection.pragma("application_id");
    const ask = <T>(read: () => T): Asked<T> => asked(connection, read);
    return {
      applicationId,
      pageBytes: countOf(connection, "page_size"),
      pageCount: countOf(connection, "page_count"),
      freePageCount: countOf(connection, "freelist_count"),
      integrityFaults: integrityFaultsOf(connection),
      metadata: ask(() => {
        requireSession(connection, Number.MAX_SAFE_INTEGER);
        return readSession(connection).metadata;
      }),
      dump: ask(() => dumpOf(connection)),
      lease: ask(() => readHolder(connection)),
      branchIndexFaults: ask(() => branchIndexFaults(connection)),
      readableRows: TABLES.map((table) => readableRows(connection, table)),
    };
  } finally {
    connection.close();
  }
}

function asked<T>(connection: Connection, read: () => T): Asked<T> {
  try {
    return { ok: true, value: connection.guard(read) };
  } catch (error) {
    if (error instanceof Corruption || error instanceof StorageFault) return { ok: false, error };
    throw error;
  }
}

const TABLES = ["entries", "registers", "usage_ledger"] as const;

function readableRows(connection: Connection, table: ReadableRows["table"]): ReadableRows {
  let rowCount = 0;
  const read = asked(connection, () => {
    for (const _row of connection.statement(`SELECT * FROM ${table}`).iterate()) rowCount += 1;
  });
  return { table, rowCount, isComplete: read.ok };
}

function countOf(connection: Connection, pragma: string): number {
  return Number(connection.pragma(pragma));
}

/** SQLite stops by itself after this many complaints. */
const FAULTS_MAX = 20;

function integrityFaultsOf(connection: Connection): string[] {
  const found = asked(connection, () => connection.statement(`PRAGMA integrity_check(${FAULTS_MAX})`).all());
  if (!found.ok) return [found.error.message];
  const lines = found.value.flatMap(([text]) => String(text).split("\n"));
  return lines.length === 1 && lines[0] === "ok" ? [] : lines;
}
