/**
 * Where a value breaks its schema.
 *
 * A compiled check answers only yes or no, in a microsecond. After a no, and only then, `issueOf` walks schema and
 * value together to the first offending place. In a union it does not say "no branch matched": it picks the branch
 * by its discriminants (properties that hold a constant in every branch, such as `kind` or `status`), and reports
 * what is wrong inside that branch.
 *
 * It understands the keywords that this room's schemas use, and the common ones of an application's own message
 * schemas. For a keyword it does not know it finds nothing; `shape.ts` then reports the whole value.
 */
import type { TSchema } from "typebox";
import { isRecord, pointerStep } from "../foundation/index.ts";
import { constantsOf, discriminantsOf, flatten, type Keywords } from "./keywords.ts";

/** One broken place: a JSON pointer (RFC 6901) to it, what should stand there, and what stands there. */
export interface ShapeIssue {
  path: string;
  expected: string;
  found: string;
}

/** The first place where `value` breaks `schema`, or `undefined`. `path` is the pointer of `value` itself. */
export function issueOf(schema: TSchema, value: unknown, path = ""): ShapeIssue | undefined {
  return issueAt(schema as Keywords, value, path);
}

/** One issue, with `found` described from the value. */
export function issueFor(path: string, expected: string, value: unknown): ShapeIssue {
  return { path, expected, found: describeValue(value) };
}

/** A JSON pointer one step deeper. */
export function pointer(path: string, key: string | number): string {
  return path + pointerStep(key);
}

/** A value in a few words: short scalars as they are, everything else by kind and size. */
function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string")
    return value.length <= 60 ? JSON.stringify(value) : `a string of ${value.length} characters`;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (isRecord(value)) {
    const keys = Object.keys(value);
    return keys.length === 0
      ? "an empty object"
      : `an object with ${keys.slice(0, 5).join(", ")}${keys.length > 5 ? ", …" : ""}`;
  }
  return typeof value === "function" || typeof value === "symbol" ? `a ${typeof value}` : String(value);
}

function issueAt(schema: Keywords, value: unknown, path: string): ShapeIssue | undefined {
  if (schema.anyOf) return issueOfUnion(schema.anyOf, value, path);
  for (const part of schema.allOf ?? []) {
    const issue = issueAt(part, value, path);
    if (issue) return issue;
  }
  const allowed = constantsOf(schema);
  if (allowed && !allowed.includes(value)) return issueFor(path, listOf(allowed), value);
  if (schema.not && Object.keys(schema.not).length === 0) return issueFor(path, "nothing", value);
  return issueOfType(schema, value, path) ?? issueOfRefinement(schema, value, path);
}

function issueOfRefinement(schema: Keywords, value: unknown, path: string): ShapeIssue | undefined {
  for (const refinement of schema["~refine"] ?? []) {
    if (!refinement.check(value))
      return issueFor(path, refinement.error(value).replace(/^must be /, ""), value);
  }
  return undefined;
}

function issueOfType(schema: Keywords, value: unknown, path: string): ShapeIssue | undefined {
  switch (schema.type) {
    case "object":
      return issueOfObject(schema, value, path);
    case "array":
      return issueOfArray(schema, value, path);
    case "string": {
      const minLength = schema.minLength ?? 0;
      const isRight = typeof value === "string" && value.length >= minLength;
      return isRight ? undefined : issueFor(path, minLength > 0 ? "a non-empty string" : "a string", value);
    }
    case "integer":
    case "number":
      return isInRange(schema, value) ? undefined : issueFor(path, rangeOf(schema), value);
    case "boolean":
      return typeof value === "boolean" ? undefined : issueFor(path, "true or false", value);
    case "null":
      return value === null ? undefined : issueFor(path, "null", value);
    default:
      return undefined;
  }
}

function isInRange(schema: Keywords, value: unknown): boolean {
  if (typeof value !== "number" || !Number.isFinite(value)) return false;
  if (schema.type === "integer" && !Number.isInteger(value)) return false;
  return value >= (schema.minimum ?? -Infinity) && value <= (schema.maximum ?? Infinity);
}

function rangeOf(schema: Keywords): string {
  const noun = schema.type === "integer" ? "a safe integer" : "a finite number";
  const bounds = [
    schema.minimum === undefined ? "" : ` from ${schema.minimum}`,
    schema.maximum === undefined || schema.maximum === Number.MAX_SAFE_INTEGER
      ? ""
      : ` up to ${schema.maximum}`,
  ];
  return noun + bounds.join("");
}

function issueOfArray(schema: Keywords, value: unknown, path: string): ShapeIssue | undefined {
  if (!Array.isArray(value)) return issueFor(path, "an array", value);
  if (!schema.items) return undefined;
  for (let index = 0; index < value.length; index++) {
    const issue = issueAt(schema.items, value[index], pointer(path, index));
    if (issue) return issue;
  }
  return undefined;
}

function issueOfObject(schema: Keywords, value: unknown, path: string): ShapeIssue | undefined {
  if (!isRecord(value)) return issueFor(path, "an object", value);
  const properties = schema.properties ?? {};
  for (const [key, property] of Object.entries(properties)) {
    const isRequired = schema.required?.includes(key) ?? false;
    // A property that is present but undefined counts as absent, as it does for the compiled check.
    if (value[key] === undefined && !isRequired) continue;
    const issue = issueAt(property, value[key], pointer(path, key));
    if (issue) return issue;
    if (!(key in value)) return issueFor(pointer(path, key), "a value", undefined);
  }
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(properties, key)) continue;
    const issue = issueOfExtra(schema, key, value[key], pointer(path, key));
    if (issue) return issue;
  }
  return undefined;
}

function issueOfExtra(schema: Keywords, key: string, value: unknown, path: string): ShapeIssue | undefined {
  const patterns = Object.entries(schema.patternProperties ?? {}).filter(([source]) =>
    new RegExp(source, "u").test(key),
  );
  for (const [, pattern] of patterns) {
    const issue = issueAt(pattern, value, path);
    if (issue) return issue;
  }
  if (patterns.length > 0 || schema.additionalProperties === undefined) return undefined;
  if (schema.additionalProperties === false) return issueFor(path, "no such property", value);
  return schema.additionalProperties === true ? undefined : issueAt(schema.additionalProperties, value, path);
}

function issueOfUnion(branches: Keywords[], value: unknown, path: string): ShapeIssue | undefined {
  if (branches.some((branch) => issueAt(branch, value, path) === undefined)) return undefined;
  const fitting = branches.filter((branch) => isOfKind(branch, value));
  if (fitting.length === 0) return issueFor(path, [...new Set(branches.map(nameOf))].join(" or "), value);
  if (!isRecord(value)) return deepest(fitting, value, path);
  const chosen = byDiscriminants(fitting, value, path);
  return "expected" in chosen ? chosen : deepest(chosen.branches, value, path);
}

/** Whether the branch is for the value's kind at all, so that a string is not held against object branches. */
function isOfKind(branch: Keywords, value: unknown): boolean {
  if (branch.anyOf) return branch.anyOf.some((inner) => isOfKind(inner, value));
  switch (branch.type) {
    case "object":
      return isRecord(value);
    case "array":
      return Array.isArray(value);
    case "integer":
    case "number":
      return typeof value === "number";
    case "string":
    case "boolean":
      return typeof value === branch.type;
    case "null":
      return value === null;
    default:
      return true;
  }
}

/**
 * The branches that agree with the value in every discriminant, or the issue that a discriminant holds no legal
 * value. Each discriminant that narrows the union may uncover another, as `summarize` among the navigations.
 */
function byDiscriminants(
  union: Keywords[],
  value: Record<string, unknown>,
  path: string,
): { branches: Keywords[] } | ShapeIssue {
  let branches = union.flatMap(flatten);
  const asked = new Set<string>();
  for (;;) {
    const key = discriminantsOf(branches).find((candidate) => !asked.has(candidate));
    if (key === undefined) return { branches };
    asked.add(key);
    const legal = branches.map((branch) => constantsOf(branch.properties?.[key]) ?? []);
    const matching = branches.filter((_, index) => legal[index]?.includes(value[key]));
    if (matching.length === 0)
      return issueFor(pointer(path, key), listOf([...new Set(legal.flat())]), value[key]);
    branches = matching;
  }
}

/** The issue that lies deepest, of the branches left; the first one if several are equally deep. */
function deepest(branches: Keywords[], value: unknown, path: string): ShapeIssue | undefined {
  let found: ShapeIssue | undefined;
  for (const branch of branches) {
    const issue = issueAt(branch, value, path);
    if (issue && (!found || depthOf(issue) > depthOf(found))) found = issue;
  }
  return found;
}

function depthOf(issue: ShapeIssue): number {
  return issue.path.split("/").length;
}

function listOf(values: unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(" or ");
}

function nameOf(schema: Keywords): string {
  const constants = constantsOf(schema);
  if (constants) return listOf(constants);
  if (schema.type === "string" && (schema.minLength ?? 0) > 0) return "a non-empty string";
  if (schema.type === "null") return "null";
  return schema.type ? `${/^[aeiou]/.test(schema.type) ? "an" : "a"} ${schema.type}` : "another value";
}
