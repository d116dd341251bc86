/**
 * Whether two views are the same, found without writing either.
 *
 * An exploration recovers thousands of sessions, nearly all of them to a view that it has seen before. Writing a view
 * costs many times what reading two side by side costs, so the question comes first and the texts come when it cannot
 * be answered.
 *
 * `looksSame` is sound and not complete: where it says yes, the canonical texts of both views are equal; where it says
 * no, they may still be (`Known` then asks the texts). Two canonical texts are equal when both dumps have the same
 * shape, the same values, times at the same offsets, and one renaming of ids leads from the one to the other and back.
 *
 * `holdsSameRows` asks for equality of the rows themselves, sequence numbers included, and is sound in the same way.
 */
import { jsonEquals } from "../foundation/index.ts";
import type { SessionDump } from "../storage/index.ts";
import { sourceOf } from "./canonical-view.ts";
import type { View, ViewReading } from "./contract.ts";
import { IS_UUID, MIDDLE_OF_UUID, offsetOf, TIME_KEYS, UUID, UUID_LENGTH } from "./ids-and-times.ts";

/** The views that were seen, one for each canonical text. */
export class Known {
  readonly #recent: View[] = [];
  readonly #byText = new Map<string, View>();
  readonly #answers = new WeakMap<View, View>();

  /** The first view that was given here with the same canonical text: this one, or an earlier one in its place. */
  firstLike(view: View): View {
    const answer = this.#answers.get(view) ?? this.#firstLike(view);
    this.#answers.set(view, answer);
    return answer;
  }

  #firstLike(view: View): View {
    for (const known of this.#recent) if (looksSame(known, view)) return known;
    const { canonical } = view;
    const known = this.#byText.get(canonical);
    if (known !== undefined) return known;
    if (this.#byText.size >= KNOWN_MAX) this.#byText.clear();
    this.#byText.set(canonical, view);
    this.#recent.unshift(view);
    if (this.#recent.length > RECENT_MAX) this.#recent.pop();
    return view;
  }
}

/** Outcomes of one scenario are few; views at cuts are as many as cuts, and each is asked for a few times in a row. */
const RECENT_MAX = 4;
const KNOWN_MAX = 500;

/** See the header. False for views that did not come from a dump. */
export function looksSame(one: View, other: View): boolean {
  const left = sourceOf(one);
  const right = sourceOf(other);
  if (left === undefined || right === undefined) return false;
  return new Comparison(left.reading, right.reading).dumps(left.dump, right.dump);
}

/** Whether the exact texts of two views are equal; they are written only where the rows are not. */
export function isExactlySame(one: View, other: View): boolean {
  const left = sourceOf(one)?.dump;
  if (left !== undefined && holdsSameRows(other, left)) {
    if (jsonEquals(left.metadata, sourceOf(other)?.dump.metadata)) return true;
  }
  return one.exact === other.exact;
}

/** Whether a view was read from exactly these rows; metadata are not asked. See the header. */
export function holdsSameRows(view: View, expected: Omit<SessionDump, "metadata">): boolean {
  const found = sourceOf(view)?.dump;
  return (
    found !== undefined &&
    jsonEquals(expected.entries, found.entries) &&
    jsonEquals(expected.registers, found.registers) &&
    jsonEquals(expected.usage, found.usage) &&
    jsonEquals(expected.stats, found.stats)
  );
}

/** One walk over two dumps, with the renaming as far as it is known. */
class Comparison {
  readonly #left: ViewReading;
  readonly #right: ViewReading;
  /** The renaming, there and back. */
  readonly #there = new Map<string, string>();
  readonly #back = new Map<string, string>();

  constructor(left: ViewReading, right: ViewReading) {
    this.#left = left;
    this.#right = right;
  }

  dumps(left: SessionDump, right: SessionDump): boolean {
    // What tells most views apart comes first: two moments of one run have their oldest entries in common.
    return (
      left.entries.length === right.entries.length &&
      left.registers.length === right.registers.length &&
      jsonEquals(left.stats, right.stats) &&
      this.#rows(left.registers, right.registers) &&
      this.#rows(left.usage, right.usage) &&
      this.#members(left.metadata, right.metadata, undefined) &&
      this.#rows(left.entries, right.entries)
    );
  }

  #rows(left: readonly object[], right: readonly object[]): boolean {
    if (left.length !== right.length) return false;
    for (let index = 0; index < left.length; index++) {
      if (!this.#members(left[index] as object, right[index] as object, "seq")) return false;
    }
    return true;
  }

  /** Objects, member by member. `without` is a member that the canonical text leaves out. */
  #members(left: object, right: object, without: string | undefined): boolean {
    let count = 0;
    for (const key in left) {
      count++;
      if (key === without) {
        if (!(key in right)) return false;
        continue;
      }
      const member = (left as Record<string, unknown>)[key];
      const other = (right as Record<string, unknown>)[key];
      // A member that is absent in the one and undefined in the other is left to the texts, and so are keys with ids.
      if (member === undefined || other === undefined || key.length >= UUID_LENGTH) return false;
      const isTime = typeof member === "number" && TIME_KEYS.has(key);
      if (!(isTime ? this.#times(member, other) : this.#values(member, other))) return false;
    }
    for (const _key in right) count--;
    return count === 0;
  }

  #values(left: unknown, right: unknown): boolean {
    if (typeof left === "string") return typeof right === "string" && this.#texts(left, right);
    if (typeof left !== "object" || left === null) return left === right;
    if (typeof right !== "object" || right === null) return false;
    if (!Array.isArray(left)) return !Array.isArray(right) && this.#members(left, right, undefined);
    if (!Array.isArray(right) || left.length !== right.length) return false;
    for (let index = 0; index < left.length; index++) {
      if (!this.#values(left[index], right[index])) return false;
    }
    return true;
  }

  #times(left: number, right: unknown): boolean {
    return typeof right === "number" && offsetOf(left, this.#left) === offsetOf(right, this.#right);
  }

  #texts(left: string, right: string): boolean {
    if (left.length !== right.length) return false;
    if (left.length < UUID_LENGTH) return left === right;
    if (left.length === UUID_LENGTH) {
      // What is in the renaming was seen to be an id before.
      const there = this.#there.get(left);
      if (there !== undefined) return there === right;
      if (IS_UUID.test(left)) return IS_UUID.test(right) && this.#ids(left, right);
    }
    // Without the middle of an id there is none, also not in the quoted text, where escapes bring digits of their own.
    if (!MIDDLE_OF_UUID.test(left)) return left === right;
    const [one, other] = [JSON.stringify(left), JSON.stringify(right)];
    const [between, others] = [one.split(UUID), other.split(UUID)];
    const [ids, otherIds] = [one.match(UUID) ?? [], other.match(UUID) ?? []];
    return (
      between.length === others.length &&
      between.every((text, index) => text === others[index]) &&
      ids.every((id, index) => this.#ids(id, otherIds[index] ?? ""))
    );
  }

  #ids(left: string, right: string): boolean {
    const there = this.#there.get(left);
    if (there !== undefined) return there === right;
    if (this.#back.has(right)) return false;
    this.#there.set(left, right);
    this.#back.set(right, left);
    return true;
  }
}
