/**
 * Times of legacy entries: ISO 8601 text to whole Unix milliseconds.
 *
 * A time that cannot be read is replaced by the nearest that can: the message's own, then that of the entry before in
 * the file, then the header's. Times need not rise from entry to entry, and are kept as they are.
 */

/** An ISO time as Unix ms, or undefined. A time without a zone is one of UTC. */
export function parseTime(value: unknown): number | undefined {
  const match = typeof value === "string" ? ISO_TIME.exec(value.trim()) : null;
  if (match === null) return undefined;
  const [text, zone] = match;
  return storableTime(Date.parse(zone === undefined ? `${text}Z` : text));
}

/** A number of Unix ms that an entry and an id can carry, in whole ms, or undefined. */
export function storableTime(value: unknown): number | undefined {
  if (typeof value !== "number" || !(value >= 0 && value < 2 ** 48)) return undefined;
  return Math.floor(value);
}

/** `Date.parse` alone would take local times and much that is no time at all. */
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/;
