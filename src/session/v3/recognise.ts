/**
 * What a JSON-lines file is, from its beginning. Nothing beyond the first object is read, so the first kilobytes of a
 * long file are enough, and a listing converts nothing.
 */
import { lineReader } from "./lines.ts";
import type { JsonRecord } from "./values.ts";

/** The versions of the legacy format that are read. */
export type LegacyVersion = 1 | 2 | 3;

/** See the module header. */
export type SessionFormat =
  /** This project's own; `id` and version as the header says, unchecked. */
  | { readonly kind: "format4"; readonly id: unknown; readonly storageVersion: unknown }
  /** A legacy session; its id is a non-empty string. */
  | { readonly kind: "legacy"; readonly version: LegacyVersion; readonly id: string }
  /** A legacy session of a version that nobody here knows. */
  | { readonly kind: "unknown_version"; readonly version: unknown; readonly id: string }
  | { readonly kind: "empty" }
  /** No session; why, in words. */
  | { readonly kind: "other"; readonly why: string };

/** Recognises a file by its bytes, or by the first of them. */
export function recognise(bytes: Uint8Array): SessionFormat {
  if (bytes.length === 0) return { kind: "empty" };
  const first = lineReader(bytes).next();
  if (first === undefined) return { kind: "other", why: "no line of it is a JSON object" };
  return formatOf(first.record);
}

/** What a file with this first object is. */
export function formatOf(header: JsonRecord): SessionFormat {
  const { type, kind, v, id, version, storageVersion } = header;
  if (kind === "header" && v === 4) return { kind: "format4", id, storageVersion };
  if (type !== "session") return { kind: "other", why: 'its first object is no header (type "session")' };
  if (typeof id !== "string" || id === "") {
    return { kind: "other", why: "its header has no id that is a non-empty string" };
  }
  // Version 1 was written before headers had a version.
  if (version === undefined || version === 1) return { kind: "legacy", version: 1, id };
  if (version === 2 || version === 3) return { kind: "legacy", version, id };
  return { kind: "unknown_version", version, id };
}

/** The id in a header line, of the legacy format or of format 4; undefined if it is none. */
export function headerIdOf(record: JsonRecord): string | undefined {
  const format = formatOf(record);
  switch (format.kind) {
    case "legacy":
    case "unknown_version":
      return format.id;
    case "format4":
      return typeof format.id === "string" && format.id !== "" ? format.id : undefined;
    default:
      return undefined;
  }
}
