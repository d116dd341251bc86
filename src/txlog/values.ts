/**
 * The value types of the format (spec, list of types before §1): *str*, *text*, *int≥n*, *uuid*, *digest*, and the
 * closed object.
 *
 * Every check takes `unknown` and only looks: a value that passes is kept as it was parsed, never copied.
 */
import { isCount, isUuidV7 } from "../foundation/index.ts";

/** *int≥n*: an integer from `minimum` to 2^53−1. */
export { isCount };

/** An object that was parsed from JSON, before anything is known of its members. */
export type JsonObject = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** *text*: a string that may be empty. */
export function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** *str*: a string of at least one code unit. */
export function isName(value: unknown): value is string {
  return typeof value === "string" && value.length > 0;
}

export function isUuid(value: unknown): value is string {
  return typeof value === "string" && value.length === 36 && isUuidV7(value);
}

const DIGEST = /^sha256:[0-9a-f]{64}$/;

export function isDigest(value: unknown): value is string {
  return typeof value === "string" && DIGEST.test(value);
}

/** Whether an object has no key outside `allowed`. Absent keys are found by the checks of their values. */
export function hasOnly(object: JsonObject, allowed: ReadonlySet<string>): boolean {
  for (const key in object) {
    if (!allowed.has(key)) return false;
  }
  return true;
}

/** A closed set of keys, made once. */
export function keys(...names: readonly string[]): ReadonlySet<string> {
  return new Set(names);
}

const ERROR_KEYS = keys("code", "message");

/** The `error` of a failed step or operation. */
export interface StoredError {
  readonly code: string;
  readonly message: string;
}

export function isStoredError(value: unknown): boolean {
  return isObject(value) && hasOnly(value, ERROR_KEYS) && isName(value.code) && isName(value.message);
}
