/**
 * Detaching: from a value that a provider, a tool or a caller made to one that can be stored.
 *
 * Programs set a property to `undefined` where they mean that it is absent, and JSON has only absence. So members that
 * are `undefined` are dropped; everything else that JSON cannot carry (an `undefined` in a list, a function, NaN, a
 * class instance, a cycle, a member that throws) is refused, with its place where that is known, because dropping it would
 * change what was said.
 */
import { admitJson, NotJson } from "../foundation/index.ts";

/** A deeply frozen copy without undefined members. @throws NotJson */
export function detachJson<T>(value: T): T {
  try {
    return admitJson(value);
  } catch (error) {
    // The happy path copies once; only a value that failed is walked again.
    if (!(error instanceof NotJson)) throw unreadable();
    return admitAgain(value);
  }
}

function admitAgain<T>(value: T): T {
  try {
    return admitJson(withoutUndefined(value, [])) as T;
  } catch (error) {
    throw error instanceof NotJson ? error : unreadable();
  }
}

/** A member that throws when it is looked at. Where it is, only its own error knows. */
function unreadable(): NotJson {
  return new NotJson("", "a value that cannot be read");
}

/** A value that contains itself is left as it is there, and refused by the admission that follows. */
function withoutUndefined(value: unknown, above: readonly object[]): unknown {
  if (typeof value !== "object" || value === null || above.includes(value)) return value;
  const path = [...above, value];
  if (Array.isArray(value)) return value.map((item) => withoutUndefined(item, path));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) =>
      member === undefined ? [] : [[key, withoutUndefined(member, path)] as const],
    ),
  );
}
