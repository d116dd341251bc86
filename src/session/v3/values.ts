/** What the readers of this folder ask of decoded JSON. */
import { admitJson, JSON_DEPTH_MAX, NotJson } from "../../foundation/index.ts";

/** An object as it was decoded; nothing is known of its members. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** A value that is admitted as JSON, and whether it had to be mended for that. */
export interface Admitted<T> {
  readonly value: T;
  readonly isMended: boolean;
}

/**
 * A deeply frozen copy in the JSON domain. JSON text can spell halves of surrogate pairs and -0, and old programs
 * wrote the former when they cut a text in the middle of a character; U+FFFD and 0 take their places, because a
 * session that cannot be opened is worth less than the half of a character.
 * @throws NotJson for what cannot be mended: numbers beyond the range, nesting beyond the depth
 */
export function admitMended<T>(value: T): Admitted<T> {
  try {
    return { value: admitJson(value), isMended: false };
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    return { value: admitJson(mended(value)) as T, isMended: true };
  }
}

function mended(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "number") return value === 0 ? 0 : value;
  // Deeper values are refused by the admission that follows.
  if (typeof value !== "object" || value === null || depth > JSON_DEPTH_MAX) return value;
  if (Array.isArray(value)) return value.map((item) => mended(item, depth + 1));
  // A member without a value was made here, of a field that the file lacks; its schema is what refuses that.
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([key, member]) => [key.toWellFormed(), mended(member, depth + 1)]));
}
