/**
 * How a session file comes to be, and how an existing one is recognised (spec §1.7, §2.8).
 *
 * Invariants.
 * 1. Tables, session row, first registers and the creator's lease are one transaction. A crash before its COMMIT
 *    leaves a file without tables, which `createSession` takes over and `openedSession` refuses; a crash after it
 *    leaves a whole session.
 * 2. A file that is no session is refused before anything in it is changed.
 */
import { Corruption } from "../../foundation/index.ts";
import { CURRENT_STORAGE_VERSION, type SessionMetadata } from "../contract.ts";
import { admitMetadata, assertReadableVersion, SessionExists } from "../creation.ts";
import type { SessionContents } from "../dump.ts";
import { initialTables, tablesOf } from "../placement.ts";
import type { Tables } from "../tables.ts";
import { BranchIndex } from "./branch-index.ts";
import { Connection, type ConnectionOptions, type SqliteSource } from "./connection.ts";
import { type LeaseOptions, WriterLease } from "./lease.ts";
import { readSession } from "./reads.ts";
import { encodeSession, SESSION_COLUMNS } from "./rows.ts";
import { APPLICATION_ID, createTables, hasTables, LAYOUT_VERSION } from "./schema.ts";
import { SessionWriter } from "./writer.ts";

/**
 * Creates a session and claims it; see invariant 1. The claim gets the fence after `lastFence`, which a session in the
 * place of another goes on from.
 * @throws SessionExists; StorageFault; Corruption for contents that no session can hold, before there is a file.
 */
export function createSession(
  source: SqliteSource | { readonly kind: "memory" },
  metadata: SessionMetadata,
  contents: SessionContents | undefined,
  options: ConnectionOptions & LeaseOptions & { readonly lastFence?: number },
): { connection: Connection; lease: WriterLease } {
  const admitted = admitMetadata(metadata);
  const tables = contents === undefined ? initialTables(admitted) : tablesOf(contents);
  const where: SqliteSource = source.kind === "memory" ? { kind: "image", bytes: new Uint8Array() } : source;
  const connection = new Connection(where, { ...options, mustExist: false });
  try {
    if (connection.guard(() => hasTables(connection)))
      throw new SessionExists(connection.file ?? "the image");
    connection.configure();
    const lease = connection.immediate(() => {
      // Asked again under the write lock: another process may have created the session in between.
      if (hasTables(connection)) throw new SessionExists(connection.file ?? "the image");
      createTables(connection);
      fill(connection, admitted, tables, options.lastFence ?? 0);
      return WriterLease.write(connection, options);
    });
    return { connection, lease };
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * A connection to an existing session, configured for writing.
 * @throws Corruption; StorageFault; StorageVersionTooNew.
 */
export function openedSession(
  source: SqliteSource,
  options: ConnectionOptions & { readonly storageVersion?: number },
): Connection {
  const connection = new Connection(source, options);
  try {
    requireSession(connection, options.storageVersion ?? CURRENT_STORAGE_VERSION);
    if (options.readonly !== true) connection.configure();
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** @throws Corruption `not_a_session`, `newer_layout` or `session_missing`; StorageVersionTooNew. */
export function requireSession(connection: Connection, newestVersion: number): void {
  const applicationId = connection.pragma("application_id");
  if (applicationId !== APPLICATION_ID) {
    const message = "this database is not a session, or its creation did not finish; nothing was changed";
    throw new Corruption("not_a_session", message, connection.place());
  }
  const layout = connection.pragma("user_version");
  if (layout !== LAYOUT_VERSION) {
    const message = `the tables have layout ${String(layout)}, and this program reads layout ${LAYOUT_VERSION}`;
    throw new Corruption("newer_layout", message, connection.place());
  }
  const { metadata } = connection.guard(() => readSession(connection));
  assertReadableVersion(metadata, newestVersion, connection.file);
}

function fill(connection: Connection, metadata: SessionMetadata, tables: Tables, lastFence: number): void {
  const writer = new SessionWriter(connection, new BranchIndex(connection));
  const { nextSeq, messageCount, usageSum } = tables;
  const row = encodeSession({ metadata, stats: { messageCount, usage: usageSum }, nextSeq, lastFence });
  connection.statement(INSERT_SESSION).run(...row);
  for (const { row: entry } of tables.entryOrder) writer.insertEntry(entry, entry.seq, entry.timestamp);
  for (const { row: register } of tables.allRegisters()) writer.setRegister(register);
  for (const { row: usage } of tables.usageOrder) writer.insertUsage(usage, usage.seq);
}

const INSERT_SESSION = `INSERT INTO session(rowid, ${SESSION_COLUMNS}) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
