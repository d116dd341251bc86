/**
 * Rows and values: how entries, registers, usage rows and the session's own row are written and read back.
 *
 * Payloads are JSON text, which escapes NUL; ids and keys are bound as text with their length, so a NUL in them
 * survives too. A row that does not decode is a `Corruption` that names its table and key.
 *
 * Reasons: `not_json`, `entry_form`, `usage_form`, `register_form`, `session_form`.
 */
import { Corruption, isCount, isRecord } from "../../foundation/index.ts";
import type {
  Entry,
  EntryDraft,
  EntryStructure,
  Register,
  RegisterNamespace,
  Usage,
  UsageRow,
} from "../../model/index.ts";
import { entryFormIssue, usageFormIssue } from "../admission.ts";
import type { SessionMetadata, SessionStats } from "../contract.ts";
import type { Connection } from "./connection.ts";

/** The columns of a whole entry, in the order that `decodeEntry` reads. */
export const ENTRY_COLUMNS = "id, parent_id, seq, type, custom_type, timestamp, payload";
export const USAGE_COLUMNS = "id, seq, entry_id, adjustment, usage, details";
export const REGISTER_COLUMNS = "key, seq, value";

/** The payload of an entry, drafted or stored: everything but its placement, which has columns of its own. */
export function encodePayload(entry: EntryDraft | Entry): string {
  const { id, parentId, type, seq, timestamp, ...rest } = entry as Entry;
  if (type !== "custom") return JSON.stringify(rest);
  const { customType, ...payload } = rest as { customType?: string };
  return JSON.stringify(payload);
}

/** @throws Corruption `entry_form` or `not_json`. */
export function decodeEntry(row: readonly unknown[], connection: Connection): Entry {
  const entry = decodeStructure(row, connection);
  const payload = parse(row[6], "entries", entry.id, connection);
  if (!isRecord(payload) || PLACEMENT_KEYS.some((key) => Object.hasOwn(payload, key))) {
    const message = "the payload of an entry is an object without placement fields";
    throw corrupt("entry_form", message, "entries", entry.id, connection);
  }
  // A spread and not an assignment: a payload field named __proto__ has to stay a field.
  return { ...entry, ...payload } as unknown as Entry;
}

/** @throws Corruption `entry_form`. */
export function decodeStructure(row: readonly unknown[], connection: Connection): EntryStructure {
  const [id, parentId, seq, type, customType, timestamp] = row;
  const structure: Record<string, unknown> = { id, parentId, seq, timestamp, type };
  if (customType !== null) structure.customType = customType;
  const issue = entryFormIssue(structure) ?? stampIssue(seq, timestamp);
  if (issue !== undefined) throw corrupt("entry_form", issue, "entries", id, connection);
  return structure as unknown as EntryStructure;
}

/** @throws Corruption `usage_form` or `not_json`. */
export function decodeUsageRow(row: readonly unknown[], connection: Connection): UsageRow {
  const [id, seq, entryId, adjustment, usage, details] = row;
  const decoded: Record<string, unknown> = {
    id,
    seq,
    usage: parse(usage, "usage_ledger", id, connection),
    adjustment: adjustment === 1 ? true : adjustment === 0 ? false : adjustment,
  };
  if (entryId !== null) decoded.entryId = entryId;
  if (details !== null) decoded.details = parse(details, "usage_ledger", id, connection);
  const issue = usageFormIssue(decoded) ?? stampIssue(seq, 0);
  if (issue !== undefined) throw corrupt("usage_form", issue, "usage_ledger", id, connection);
  return decoded as unknown as UsageRow;
}

/** @throws Corruption `register_form` or `not_json`. */
export function decodeRegister<N extends RegisterNamespace>(
  namespace: N,
  row: readonly unknown[],
  connection: Connection,
): Register<N> {
  const [key, seq, text] = row;
  const subject = `${namespace}/${String(key)}`;
  if (typeof key !== "string" || !isCount(seq)) {
    throw corrupt("register_form", "a register has a text key and a seq", "registers", subject, connection);
  }
  const value = parse(text, "registers", subject, connection);
  return { namespace, key, value, seq } as Register<N>;
}

/** The session's own row, the parts of it that commits maintain, and its metadata. */
export interface SessionRow {
  readonly metadata: SessionMetadata;
  readonly stats: SessionStats;
  readonly nextSeq: number;
  readonly lastFence: number;
}

export const SESSION_COLUMNS =
  "id, created_at, parent_session_id, storage_version, metadata, message_count, usage_payload, next_seq, last_fence";

/** The values of `SESSION_COLUMNS` for a session. */
export function encodeSession(row: SessionRow): unknown[] {
  const { id, createdAt, parentSessionId, storageVersion, ...rest } = row.metadata;
  return [
    id,
    createdAt,
    parentSessionId ?? null,
    storageVersion,
    JSON.stringify(rest),
    row.stats.messageCount,
    JSON.stringify(row.stats.usage),
    row.nextSeq,
    row.lastFence,
  ];
}

/** @throws Corruption `session_form` or `not_json`. */
export function decodeSession(row: readonly unknown[], connection: Connection): SessionRow {
  const [id, createdAt, parentSessionId, storageVersion, rest, messageCount, usage, nextSeq, lastFence] = row;
  const optional = parse(rest, "session", id, connection);
  const wellFormed =
    typeof id === "string" &&
    (parentSessionId === null || typeof parentSessionId === "string") &&
    isRecord(optional) &&
    [createdAt, storageVersion, messageCount, nextSeq, lastFence].every((count) => isCount(count));
  if (!wellFormed) {
    throw corrupt("session_form", "the session row has an id, times and counts", "session", id, connection);
  }
  return {
    metadata: {
      id,
      createdAt,
      storageVersion,
      ...optional,
      ...(parentSessionId === null ? {} : { parentSessionId }),
    } as SessionMetadata,
    stats: { messageCount: messageCount as number, usage: decodeUsage(usage, connection) },
    nextSeq: nextSeq as number,
    lastFence: lastFence as number,
  };
}

/** The maintained sum of the ledger. @throws Corruption `session_form` or `not_json`. */
export function decodeUsage(text: unknown, connection: Connection): Usage {
  const usage = parse(text, "session", "usage_payload", connection);
  const issue = usageFormIssue({ id: "usage_payload", adjustment: false, usage });
  if (issue !== undefined) throw corrupt("session_form", issue, "session", "usage_payload", connection);
  return usage as Usage;
}

const PLACEMENT_KEYS = ["id", "parentId", "seq", "timestamp", "type", "customType"];

/** A damage of one row. */
function corrupt(
  reason: string,
  message: string,
  table: string,
  key: unknown,
  connection: Connection,
): Corruption {
  return new Corruption(reason, message, connection.place(`${table}[${String(key)}]`));
}

function parse(text: unknown, table: string, key: unknown, connection: Connection): unknown {
  if (typeof text === "string") {
    try {
      return JSON.parse(text);
    } catch {
      // Falls through to the one report below.
    }
  }
  throw corrupt("not_json", "a value is not JSON text; nothing was changed", table, key, connection);
}

function stampIssue(seq: unknown, timestamp: unknown): string | undefined {
  return isCount(seq) && isCount(timestamp) ? undefined : "seq and timestamp are whole numbers from 0";
}
