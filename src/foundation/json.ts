/**
 * What JSON can carry.
 *
 * Terms. *JSON domain*: the values that come back equal after `JSON.stringify` and `JSON.parse`. *Admission*: the
 * one pass that proves a value to be in the domain and copies it, deeply frozen, so that what a store keeps shares
 * nothing mutable with what its caller holds.
 *
 * Outside the domain are: `undefined` (as a value, in an array or as a property), functions, symbols (as a value or
 *    as a key), bigint, NaN, the infinities, -0, lone surrogates in keys or strings, cycles, holes in arrays, arrays
 *    with named properties, objects that are not plain (in whatever realm they were made), and nesting deeper than
 *    `JSON_DEPTH_MAX`. Each is refused with the JSON pointer of the value.
 */

/** Any value that JSON can carry. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** How many levels below its root a value may have. Deeper ones would overflow the stack of a recursive reader. */
export const JSON_DEPTH_MAX = 512;

/** Refusal of a value that JSON cannot carry. `path` is a JSON pointer from the value that was offered. */
export class NotJson extends Error {
  override readonly name = "NotJson";
  readonly code = "NOT_JSON";
  readonly path: string;
  readonly found: string;

  constructor(path: string, found: string) {
    super(`value at ${path === "" ? "the root" : path} is ${found}, which JSON cannot carry`);
    this.path = path;
    this.found = found;
  }
}

/**
 * Proves a value to be in the JSON domain and returns a deeply frozen copy. A value that is already such a copy is
 * returned as it is, so admitting twice costs one look-up.
 * @throws NotJson with the JSON pointer of the first value outside the domain, in reading order.
 */
export function admitJson<T>(value: T): T {
  if (typeof value === "object" && value !== null && admitted.has(value)) return value;
  const pass: Pass = { deepest: 0 };
  const copy = admit(value, undefined, 0, pass);
  if (typeof copy === "object" && copy !== null) admitted.set(copy, pass.deepest);
  return copy as T;
}

/** Whether a value came from `admitJson`: then nothing in it can change any more. */
export function isAdmitted(value: object): boolean {
  return admitted.has(value);
}

/** Whether a text is JSON. */
export function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether a value is a whole number from `minimum` up to 2^53 - 1. */
export function isCount(value: unknown, minimum = 0): value is number {
  return Number.isSafeInteger(value) && (value as number) >= minimum;
}

/** Whether a value is an object that is not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether an object was made by a literal, by `JSON.parse`, or without a prototype; in whatever realm. */
export function isPlainObject(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  // The prototype of a plain object of another realm (a vm context, a test runner) is that realm's root.
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, "isPrototypeOf");
}

/** One step of a JSON pointer (RFC 6901), to a key or an index. */
export function pointerStep(key: string | number): string {
  return `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Whether two JSON values are equal; key order does not count. */
export function jsonEquals(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left)) return Array.isArray(right) && itemsEqual(left, right);
  if (Array.isArray(right)) return false;
  return membersEqual(left as Record<string, unknown>, right as Record<string, unknown>, undefined);
}

/** Whether two objects are equal, whatever they hold under one key. */
export function jsonEqualsBut(without: string, left: object, right: object): boolean {
  return membersEqual(left as Record<string, unknown>, right as Record<string, unknown>, without);
}

function membersEqual(
  left: Record<string, unknown>,
  right: Record<string, unknown>,
  without: string | undefined,
): boolean {
  const keys = Object.keys(left);
  const others = Object.keys(right);
  if (keys.length !== others.length) return false;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    // Objects that were made alike have their keys in the same order.
    if (key !== others[index] && !Object.hasOwn(right, key)) return false;
    if (key !== without && !jsonEquals(left[key], right[key])) return false;
  }
  return true;
}

function itemsEqual(left: readonly unknown[], right: readonly unknown[]): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) {
    if (!jsonEquals(left[index], right[index])) return false;
  }
  return true;
}

/**
 * Roots that `admitJson` made, each with the depth of its deepest node, so that a root inside another value counts
 * toward that value's depth. Only roots: marking every node would cost more than it saves.
 */
const admitted = new WeakMap<object, number>();

/** What one admission learns on its way: the depth of the deepest node so far; the root is at 0. */
interface Pass {
  deepest: number;
}

/** The path from the root to a node, linked upward so that the happy path builds no string. */
interface Trail {
  readonly parent: Trail | undefined;
  readonly key: string | number;
  readonly node: object;
}

function admit(value: unknown, trail: Trail | undefined, depth: number, pass: Pass): unknown {
  switch (typeof value) {
    case "string":
      if (!value.isWellFormed()) throw new NotJson(pointer(trail), "a string with a lone surrogate");
      return value;
    case "number":
      if (!Number.isFinite(value)) throw new NotJson(pointer(trail), String(value));
      if (Object.is(value, -0)) throw new NotJson(pointer(trail), "-0");
      return value;
    case "boolean":
      return value;
    case "object":
      if (value === null) return null;
      return admitNode(value, trail, depth, pass);
    default:
      throw new NotJson(pointer(trail), typeof value === "undefined" ? "undefined" : `a ${typeof value}`);
  }
}

function admitNode(node: object, trail: Trail | undefined, depth: number, pass: Pass): object {
  const height = admitted.get(node);
  if (height === undefined && isAbove(node, trail)) {
    throw new NotJson(pointer(trail), "a reference to a value that contains it (a cycle)");
  }
  const deepest = depth + (height ?? 0);
  if (deepest > JSON_DEPTH_MAX) {
    throw new NotJson(pointer(trail), `nested deeper than ${JSON_DEPTH_MAX} levels`);
  }
  if (deepest > pass.deepest) pass.deepest = deepest;
  if (height !== undefined) return node;
  return Object.freeze(
    Array.isArray(node) ? admitArray(node, trail, depth, pass) : admitObject(node, trail, depth, pass),
  );
}

function admitArray(node: unknown[], trail: Trail | undefined, depth: number, pass: Pass): unknown[] {
  const items: unknown[] = [];
  for (let index = 0; index < node.length; index++) {
    items.push(admitMember(node[index], trail, index, node, depth, pass));
  }
  // Every index is an own property by now (a hole was refused as undefined), so more keys are names.
  if (Object.keys(node).length !== items.length) {
    throw new NotJson(pointer(trail), "an array with named properties");
  }
  return items;
}

function admitObject(node: object, trail: Trail | undefined, depth: number, pass: Pass): object {
  if (!isPlainObject(node)) throw new NotJson(pointer(trail), "an object that is neither plain nor an array");
  if (Object.getOwnPropertySymbols(node).length > 0) {
    throw new NotJson(pointer(trail), "an object with a symbol as a key");
  }
  const members: Record<string, unknown> = {};
  for (const key of Object.keys(node)) {
    if (!key.isWellFormed()) throw new NotJson(pointer(trail), "an object with a lone surrogate in a key");
    const member = admitMember((node as Record<string, unknown>)[key], trail, key, node, depth, pass);
    if (key === "__proto__") {
      // A plain assignment would set the prototype and lose the member.
      Object.defineProperty(members, key, {
        value: member,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    } else members[key] = member;
  }
  return members;
}

function isAbove(node: object, trail: Trail | undefined): boolean {
  for (let above = trail; above !== undefined; above = above.parent) {
    if (above.node === node) return true;
  }
  return false;
}

function admitMember(
  value: unknown,
  parent: Trail | undefined,
  key: string | number,
  node: object,
  depth: number,
  pass: Pass,
): unknown {
  if (typeof value === "boolean" || value === null) return value;
  return admit(value, { parent, key, node }, depth + 1, pass);
}

function pointer(trail: Trail | undefined): string {
  const parts: string[] = [];
  for (let step = trail; step !== undefined; step = step.parent) {
    parts.unshift(pointerStep(step.key));
  }
  return parts.join("");
}
