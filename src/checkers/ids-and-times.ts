/**
 * Ids and times: what is another in every run, and how canonical texts say it. An id is `<idN>`, N by first appearance in
 * the text; a time is the offset in ms from the epoch of the world, without the downtimes before it.
 */
import { rewrittenJson, VIRTUAL_EPOCH_MS } from "../foundation/index.ts";
import type { ViewReading } from "./contract.ts";

/** Times of the specification: of entries and messages, of a session, an operation, a cancellation, a retry. */
export const TIME_KEYS: ReadonlySet<string> = new Set([
  "timestamp",
  "createdAt",
  "startedAt",
  "requestedAt",
  "notBefore",
]);

/** A time as canonical texts say it. */
export function offsetOf(timeMs: number, { downtimes }: ViewReading): number {
  let downMs = 0;
  for (const { atMs, durationMs } of downtimes) {
    downMs += Math.min(Math.max(0, timeMs - atMs), durationMs);
  }
  return timeMs - VIRTUAL_EPOCH_MS - downMs;
}

/** An id, wherever it stands in a text. Scanned for through `matchAll` and `replace` only, which start afresh. */
export const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
export const UUID_LENGTH = 36;
export const IS_UUID = new RegExp(`^${UUID.source}$`);
/** Without the middle of an id a text has none in it. */
export const MIDDLE_OF_UUID = /-[0-9a-f]{4}-[0-9a-f]{4}-/;

/** An id as canonical texts say it. `names` are those that were given so far. */
export function nameOf(id: string, names: Map<string, string>): string {
  let name = names.get(id);
  if (name === undefined) {
    name = `<id${names.size + 1}>`;
    names.set(id, name);
  }
  return name;
}

/** Renames the ids of an edited canonical text by first appearance again, as a view would have named them. */
export function renameIds(canonical: string): string {
  return renamed(canonical, new Map());
}

/** The canonical text of an edited view that was parsed from one, its ids renamed in the same way. */
export function renamedJson(value: unknown): string {
  const names = new Map<string, string>();
  return rewrittenJson(value, (quoted) => renamed(quoted, names));
}

function renamed(text: string, names: Map<string, string>): string {
  return text.includes("<id") ? text.replace(CANONICAL_ID, (found) => nameOf(found, names)) : text;
}

const CANONICAL_ID = /<id\d+>/g;
