/**
 * JSON values inside durable shapes (spec §1.1). `foundation` admits whole values into the JSON domain before they
 * are stored; the check here is the part of a schema that says "any JSON stands in this place". It accepts all that
 * admission accepts, and what decoding old files may yield beside it (`-0`, a lone surrogate).
 *
 * The check is written by hand and not as a recursive schema, because it has to refuse what JSON Schema cannot
 * see: class instances (a `Date` or a `Map` would silently turn into something else), sparse arrays, properties
 * that are `undefined`, symbol keys, and cycles. Cycles are found by depth: a value nested deeper than
 * `JSON_DEPTH_MAX` is refused, which also keeps the recursion of every later reader bounded.
 */
import { Type } from "typebox";
import { isPlainObject, isRecord, JSON_DEPTH_MAX, type JsonValue } from "../foundation/index.ts";

export type { JsonValue };

/** A JSON object: tool arguments, metadata, resume data. */
export type JsonObject = { [key: string]: JsonValue };

/** Whether `value` is a JSON value: plain, finite, acyclic, nothing undefined. Never throws. */
export function isJsonValue(value: unknown): value is JsonValue {
  return isJsonAt(value, 0);
}

/** Whether `value` is a JSON object, arrays excluded. Never throws. */
export function isJsonObject(value: unknown): value is JsonObject {
  return isRecord(value) && isJsonAt(value, 0);
}

/** `JsonValue` as a schema. */
export const JsonValueSchema = Type.Unsafe<JsonValue>(
  Type.Refine(Type.Unknown(), isJsonValue, () => "must be a JSON value"),
);

/** `JsonObject` as a schema. */
export const JsonObjectSchema = Type.Unsafe<JsonObject>(
  Type.Refine(Type.Unknown(), isJsonObject, () => "must be a JSON object"),
);

function isJsonAt(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value);
    case "object":
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (depth > JSON_DEPTH_MAX) return false;
  if (Array.isArray(value)) {
    // An index loop, not `every`: `every` skips holes, and a hole is not JSON.
    for (let index = 0; index < value.length; index++) {
      if (!isJsonAt(value[index], depth + 1)) return false;
    }
    return true;
  }
  if (!isPlainObject(value) || Object.getOwnPropertySymbols(value).length > 0) return false;
  for (const key of Object.keys(value)) {
    if (!isJsonAt(value[key], depth + 1)) return false;
  }
  return true;
}
