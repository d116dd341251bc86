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
import { canonicalJson, quoted, quotedKey, sortedKeys } from "../foundation/index.ts";
import type { SessionDump } from "../storage/index.ts";
import type { View, ViewReading } from "./contract.ts";
import { IS_UUID, MIDDLE_OF_UUID, nameOf, offsetOf, TIME_KEYS, UUID, UUID_LENGTH } from "./ids-and-times.ts";

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
  namer.literal(`],"stats":${canonicalJson(stats)},"usage":[`);
  rows(usage);
  namer.literal("]}");
  return namer.text;
}

/** The exact text of a dump around its metadata: what stands before them, and what follows. */
export function exactContents({ entries, registers, stats, usage }: SessionDump): readonly [string, string] {
  const rows = (items: readonly object[]) => items.map((item) => fragmentOf(item).exact).join(",");
  return [
    `{"entries":[${rows(entries)}],"metadata":`,
    `,"registers":[${rows(registers)}],"stats":${canonicalJson(stats)},"usage":[${rows(usage)}]}`,
  ];
}

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
