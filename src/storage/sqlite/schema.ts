/**
 * The tables of a session file (spec §1.7), and their creation.
 *
 * One database file is one session. `session` has exactly one row and `writer_lease` at most one; both live under
 * rowid 1, so that every commit finds them by key.
 *
 * Additions to the specification's list of columns, each for a rule that the list leaves without a place:
 * - `session.id` (spec §2.8); the other optional metadata is JSON in `session.metadata`.
 * - `session.last_fence`: releasing a lease deletes its row, and a counter that restarted at 1 would let a stalled
 *   owner of the same name pass for its own successor.
 *
 * Invariants.
 * 1. A file either has no table at all, or is a whole session: everything is created in one transaction.
 * 2. `application_id` names the kind of file, `user_version` the layout of its tables. The logical version of the
 *    session is `session.storage_version` (spec §7.3), which migrations raise without touching the layout.
 */
import { REGISTER_NAMESPACES } from "../../model/index.ts";
import type { Connection } from "./connection.ts";

/** "crpf" in ASCII: what `file(1)` and `open` recognise a session file by. */
export const APPLICATION_ID = 0x63727066;

/** The layout of the tables below. */
export const LAYOUT_VERSION = 1;

const TABLES = `
CREATE TABLE entries(
  id TEXT PRIMARY KEY, parent_id TEXT, seq INTEGER, type TEXT,
  custom_type TEXT, timestamp INTEGER, payload TEXT) WITHOUT ROWID;
CREATE INDEX ix_entry_parent ON entries(parent_id);
CREATE INDEX ix_entry_seq ON entries(seq, type);

CREATE TABLE registers(
  namespace TEXT, key TEXT, seq INTEGER, value TEXT,
  PRIMARY KEY (namespace, key));

CREATE TABLE usage_ledger(
  id TEXT PRIMARY KEY, seq INTEGER, entry_id TEXT, adjustment INTEGER,
  usage TEXT, details TEXT) WITHOUT ROWID;
CREATE INDEX ix_usage_seq ON usage_ledger(seq);

-- The private branch index (spec §2.6), a cache that can be rebuilt from the entries.
CREATE TABLE branch_entries(
  branch_id TEXT, entry_id TEXT, entry_seq INTEGER, entry_type TEXT,
  PRIMARY KEY (branch_id, entry_id)) WITHOUT ROWID;
-- Ordered scans: entry_seq follows branch_id directly, or ORDER BY would need a temporary b-tree.
CREATE INDEX ix_be_seq ON branch_entries(branch_id, entry_seq, entry_id, entry_type);
-- Scans by type.
CREATE INDEX ix_be_type ON branch_entries(branch_id, entry_type, entry_seq, entry_id);
CREATE INDEX ix_be_entry ON branch_entries(entry_id);
CREATE TABLE branch_meta(
  branch_id TEXT PRIMARY KEY, tip_entry_id TEXT, tip_seq INTEGER,
  base_branch_id TEXT, base_seq INTEGER);
CREATE UNIQUE INDEX ix_bm_tip ON branch_meta(tip_entry_id);

CREATE TABLE session(
  id TEXT, created_at INTEGER, parent_session_id TEXT, storage_version INTEGER, metadata TEXT,
  message_count INTEGER, usage_payload TEXT, next_seq INTEGER, last_fence INTEGER);
CREATE TABLE writer_lease(owner_id TEXT, fence INTEGER, expires_at_ms INTEGER);

PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${LAYOUT_VERSION};
`;

/** Creates the tables. Runs inside the caller's transaction, so that invariant 1 holds. */
export function createTables(connection: Connection): void {
  connection.execute(TABLES);
}

/** Whether the database has any table: false for a file whose creation died before its only transaction. */
export function hasTables(connection: Connection): boolean {
  return connection.statement("SELECT 1 FROM sqlite_schema LIMIT 1").get() !== undefined;
}

/** The namespaces, by UTF-16 code unit: the order of registers in a dump. */
export const NAMESPACES_SORTED = [...REGISTER_NAMESPACES].sort();
