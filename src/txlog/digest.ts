/**
 * Digests over canonical text (spec §3.7).
 *
 * The canonical text is the one of `foundation`: keys sorted by UTF-16 code unit, no blanks, and of the characters in
 * strings only quote, backslash and the controls escaped. The values that are digested here hold no numbers and no
 * booleans, about which canonical forms differ.
 */
import { createHash } from "node:crypto";
import { admitJson, canonicalJson } from "../foundation/index.ts";

/** `sha256:` and the lower hex of SHA-256 over the UTF-8 of the canonical text of a value that was read from JSON. */
export function digestOf(value: unknown): string {
  return `sha256:${createHash("sha256").update(canonicalJson(value), "utf8").digest("hex")}`;
}

/**
 * The digest of a value that comes from a caller.
 * @throws NotJson when the value cannot be stored, for instance for a lone surrogate.
 */
export function digestOfInput(value: unknown): string {
  return digestOf(admitJson(value));
}
