/**
 * The view of a session, as two texts: exact and canonical. Views are what every comparison compares.
 *
 * *Exact*: the dump as JSON with sorted keys; a sequence number stands under the key `@seq`, so that nothing an
 * application stores can be taken for it. *Canonical*: the exact text, where
 * 1. sequence numbers are dropped: gaps are legal, and a crash may leave one;
 * 2. each UUID is renamed to `<idN>`, N by first appearance, so that runs that minted other ids compare equal;
 * 3. a number under a key of the specification's times is an offset in ms from the epoch of the world, without the
 *    downtimes before it.
 * Entries, registers (by namespace, then seq) and usage keep the order of the dump, so order is compared too.
 *
 * Not compared: what opaque values hold under the names of times (`timestamp`, …) is shifted like a time; shifting is
 * one-to-one, so only a downtime can hide there.
 *
 * Both are asked for once per kind of outcome and not once per crash state, because equal views are recognised without
 * their texts. A row's text is made once and kept for as long as the store keeps the row.
 */
import { VIRTUAL_EPOCH_MS } from "../foundation/index.ts";
import type { SessionDump } from "../storage/index.ts";
import type { View, ViewReading } from "./contract.ts";

/** Reads a dump; see the header. The rows of the dump must not change any more. */
export function viewOf(dump: SessionDump, reading: ViewReading): View {
  return new DumpView(dump, reading);
}

/** What a view was read from; undefined for a view that did not come from `viewOf`. */
export function sourceOf(
  view: View,
): { readonly dump: SessionDump; readonly reading: ViewReading } | undefined {
  return view instanceof DumpView ? view : undefined;
}

/**
 * A view whose texts are written when they are first asked for: most views are found to be equal to one that is known
 * already (`same-view.ts`), and nobody reads them.
 */
class DumpView implements View {
  readonly dump: SessionDump;
  readonly reading: ViewReading;
  #exact: string | undefined;
  #canonical: string | undefined;

  constructor(dump: SessionDump, reading: ViewReading) {
    this.dump = dump;
    this.reading = reading;
  }

  get exact(): string {
    this.#exact ??= exactContents(this.dump).join(fragmentOf(this.dump.metadata).exact);
    return this.#exact;
  }

  get canonical(): string {
    this.#canonical ??= canonicalText(this.dump, this.reading);
    return this.#canonical;
  }
}

function canonicalText(
  { entries, metadata, registers, stats, usage }: SessionDump,
  reading: ViewReading,
): string {
  const namer = new Namer(reading);
  const rows = (items: readonly object[]) => {
    items.forEach((item, index) => {
      if (index > 0) namer.literal(",");
      namer.fragment(fragmentOf(item));
    });
  };
  namer.literal('{"entries":[');
  rows(entries);
  namer.literal('],"metadata":');
  namer.fragment(fragmentOf(metadata));
  namer.literal(',"registers":[');
  rows(registers);
  namer.literal(`],"stats":${sortedJson(stats)},"usage":[`);
  rows(usage);
  namer.literal("]}");
  return namer.text;
}

/** The exact text of a dump around its metadata: what stands before them, and what follows. */
export function exactContents({ entries, registers, stats, usage }: SessionDump): readonly [string, string] {
  const rows = (items: readonly object[]) => items.map((item) => fragmentOf(item).exact).join(",");
  return [
    `{"entries":[${rows(entries)}],"metadata":`,
    `,"registers":[${rows(registers)}],"stats":${sortedJson(stats)},"usage":[${rows(usage)}]}`,
  ];
}

/** JSON with sorted keys at every depth; members that are undefined are left out. */
export function sortedJson(value: unknown): string {
  return jsonOf(value, undefined);
}

/**
 * The canonical text of an edited view that was parsed from one: like `sortedJson`, and its ids are renamed by first
 * appearance again, as `viewOf` would have named them.
 */
export function renamedJson(value: unknown): string {
  return jsonOf(value, new Map());
}

/** Renames the ids of an edited canonical text in the same way. */
export function renameIds(canonical: string): string {
  return named(canonical, new Map());
}

function jsonOf(value: unknown, names: Map<string, string> | undefined): string {
  switch (typeof value) {
    case "string":
      return named(quoted(value), names);
    case "number":
    case "boolean":
      return String(value);
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? itemsOf(value, names) : membersOf(value, names);
    default:
      return "null";
  }
}

function itemsOf(items: readonly unknown[], names: Map<string, string> | undefined): string {
  let text = "[";
  for (let index = 0; index < items.length; index++) {
    if (index > 0) text += ",";
    text += jsonOf(items[index], names);
  }
  return `${text}]`;
}

function membersOf(object: object, names: Map<string, string> | undefined): string {
  let text = "{";
  let separator = "";
  for (const key of sortedKeys(object)) {
    const member = (object as Record<string, unknown>)[key];
    if (member === undefined) continue;
    text += `${separator}${named(quotedKey(key), names)}:${jsonOf(member, names)}`;
    separator = ",";
  }
  return `${text}}`;
}

/** A text whose ids bear new names. */
function named(text: string, names: Map<string, string> | undefined): string {
  if (names === undefined || !text.includes("<id")) return text;
  return text.replace(CANONICAL_ID, (found) => nameOf(found, names));
}

/** Times of the specification: of entries and messages, of a session, an operation, a cancellation, a retry. */
export const TIME_KEYS: ReadonlySet<string> = new Set([
  "timestamp",
  "createdAt",
  "startedAt",
  "requestedAt",
  "notBefore",
]);
/** An id, wherever it stands in a text. Scanned for through `matchAll` and `replace` only, which start afresh. */
export const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
export const UUID_LENGTH = 36;
export const IS_UUID = new RegExp(`^${UUID.source}$`);
/** Without the middle of an id a text has none in it. */
export const MIDDLE_OF_UUID = /-[0-9a-f]{4}-[0-9a-f]{4}-/;
const CANONICAL_ID = /<id\d+>/g;
/** A text that JSON writes as it is, between quotes. */
const PLAIN = /^[ !#-[\]-~]*$/;

/**
 * The text of one row, split where the canonical text differs: a number is a time, a string an id. Literals and
 * volatile parts alternate, beginning and ending with a literal.
 */
class Fragment {
  readonly literals: readonly string[];
  readonly volatiles: readonly (string | number)[];
  /** Its sequence number: it stands first, under its own key, and in the exact text only. */
  readonly #seq: unknown;
  #exact: string | undefined;

  constructor(seq: unknown, literals: readonly string[], volatiles: readonly (string | number)[]) {
    this.#seq = seq;
    this.literals = literals;
    this.volatiles = volatiles;
  }

  get exact(): string {
    this.#exact ??= this.#exactText();
    return this.#exact;
  }

  #exactText(): string {
    let text = this.literals[0] ?? "";
    if (this.#seq !== undefined) text = `{"@seq":${String(this.#seq)},${text.slice(1)}`;
    for (let index = 0; index < this.volatiles.length; index++) {
      text += `${this.volatiles[index]}${this.literals[index + 1] ?? ""}`;
    }
    return text;
  }
}

/** Stores hand out one frozen object per row for as long as it lives, so its text is made once. */
const fragments = new WeakMap<object, Fragment>();

function fragmentOf(row: object): Fragment {
  const known = fragments.get(row);
  if (known !== undefined) return known;
  const fragment = new FragmentBuilder().row(row);
  if (Object.isFrozen(row)) fragments.set(row, fragment);
  return fragment;
}

class FragmentBuilder {
  #literal = "";
  readonly #literals: string[] = [];
  readonly #volatiles: (string | number)[] = [];

  row(row: object): Fragment {
    const { seq } = row as { readonly seq?: unknown };
    this.#members(row, seq === undefined ? undefined : "seq");
    return new Fragment(seq, [...this.#literals, this.#literal], this.#volatiles);
  }

  #value(value: unknown): void {
    switch (typeof value) {
      case "string":
        this.#string(value);
        return;
      case "number":
      case "boolean":
        this.#literal += String(value);
        return;
      case "object":
        if (value === null) this.#literal += "null";
        else if (Array.isArray(value)) this.#array(value);
        else this.#members(value, undefined);
        return;
      default:
        this.#literal += "null";
    }
  }

  #array(items: readonly unknown[]): void {
    this.#literal += "[";
    for (let index = 0; index < items.length; index++) {
      if (index > 0) this.#literal += ",";
      this.#value(items[index]);
    }
    this.#literal += "]";
  }

  #members(object: object, without: string | undefined): void {
    this.#literal += "{";
    let isFirst = true;
    for (const key of sortedKeys(object)) {
      const member = (object as Record<string, unknown>)[key];
      if (member === undefined || key === without) continue;
      if (!isFirst) this.#literal += ",";
      isFirst = false;
      if (key.length < UUID_LENGTH) this.#literal += quotedKey(key);
      else this.#string(key);
      this.#literal += ":";
      if (typeof member === "number" && TIME_KEYS.has(key)) this.#volatile(member);
      else this.#value(member);
    }
    this.#literal += "}";
  }

  #string(text: string): void {
    if (text.length === UUID_LENGTH && IS_UUID.test(text)) {
      this.#literal += '"';
      this.#volatile(text);
      this.#literal += '"';
      return;
    }
    const whole = quoted(text);
    if (text.length < UUID_LENGTH || !MIDDLE_OF_UUID.test(whole)) {
      this.#literal += whole;
      return;
    }
    let from = 0;
    for (const { 0: id, index } of whole.matchAll(UUID)) {
      this.#literal += whole.slice(from, index);
      this.#volatile(id);
      from = index + UUID_LENGTH;
    }
    this.#literal += whole.slice(from);
  }

  #volatile(part: string | number): void {
    this.#literals.push(this.#literal);
    this.#volatiles.push(part);
    this.#literal = "";
  }
}

/** A text as JSON writes it. */
function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** A key as JSON writes it. There are few, and each comes by the thousand. */
function quotedKey(key: string): string {
  const known = quotedKeys.get(key);
  if (known !== undefined) return known;
  // Applications choose keys too, so the memory is bounded: full, it starts again.
  if (quotedKeys.size >= KEYS_MAX) quotedKeys.clear();
  const text = quoted(key);
  quotedKeys.set(key, text);
  return text;
}

const quotedKeys = new Map<string, string>();
const KEYS_MAX = 2_000;

/** Writes the canonical text: names ids as they come, and turns times into offsets. */
class Namer {
  readonly #names = new Map<string, string>();
  readonly #reading: ViewReading;
  text = "";

  constructor(reading: ViewReading) {
    this.#reading = reading;
  }

  literal(literal: string): void {
    this.text += literal;
  }

  fragment({ literals, volatiles }: Fragment): void {
    this.text += literals[0] ?? "";
    for (let index = 0; index < volatiles.length; index++) {
      const part = volatiles[index];
      if (typeof part === "number") this.text += offsetOf(part, this.#reading);
      else if (part !== undefined) this.text += nameOf(part, this.#names);
      this.text += literals[index + 1] ?? "";
    }
  }
}

function nameOf(id: string, names: Map<string, string>): string {
  let name = names.get(id);
  if (name === undefined) {
    name = `<id${names.size + 1}>`;
    names.set(id, name);
  }
  return name;
}

/** A time as canonical texts say it: ms since the epoch of the world, without the downtimes before it. */
export function offsetOf(timeMs: number, { downtimes }: ViewReading): number {
  let downMs = 0;
  for (const { atMs, durationMs } of downtimes) {
    downMs += Math.min(Math.max(0, timeMs - atMs), durationMs);
  }
  return timeMs - VIRTUAL_EPOCH_MS - downMs;
}

/**
 * The keys of an object in order. Objects of one shape come by the thousand and sorting is what a view costs most, so
 * an order is kept by the list of keys that it sorts.
 */
function sortedKeys(object: object): readonly string[] {
  const keys = Object.keys(object);
  let isSorted = true;
  for (let index = 1; index < keys.length && isSorted; index++) {
    isSorted = (keys[index - 1] ?? "") < (keys[index] ?? "");
  }
  if (isSorted) return keys;
  const shape = keys.join("\u0000");
  const known = keyOrders.get(shape);
  if (known !== undefined) return known;
  if (keyOrders.size >= KEYS_MAX) keyOrders.clear();
  keys.sort();
  keyOrders.set(shape, keys);
  return keys;
}

const keyOrders = new Map<string, readonly string[]>();
