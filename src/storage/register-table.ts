/**
 * The registers of one namespace, with listings by prefix.
 *
 * Invariants.
 * 1. Setting and deleting cost the same however many keys there are. The sorted index of keys is made at a listing,
 *    and only if keys came or went since the last one; overwriting a register keeps it.
 * 2. A listing that finds the index in place costs its own length, and a binary search.
 * 3. Keys are ordered by UTF-16 code units.
 */
import type { Register } from "../model/index.ts";
import { type Cell, rowOf } from "./cell.ts";

/** All registers of one namespace. */
export class RegisterTable {
  readonly #cells: Map<string, Cell<Register>>;
  #sortedKeys: readonly string[] | undefined;

  constructor(cells: Iterable<readonly [string, Cell<Register>]> = []) {
    this.#cells = new Map(cells);
  }

  /** A table of the same rows that changes on its own from here on. */
  copy(): RegisterTable {
    const copy = new RegisterTable(this.#cells);
    copy.#sortedKeys = this.#sortedKeys;
    return copy;
  }

  set(cell: Cell<Register>): void {
    const { key } = cell.row;
    if (this.#sortedKeys !== undefined && !this.#cells.has(key)) this.#sortedKeys = undefined;
    this.#cells.set(key, cell);
  }

  delete(key: string): void {
    if (this.#cells.delete(key)) this.#sortedKeys = undefined;
  }

  get(key: string): Register | undefined {
    const cell = this.#cells.get(key);
    return cell === undefined ? undefined : rowOf(cell);
  }

  /** The registers whose key starts with `keyPrefix`, by key. */
  list(keyPrefix: string): Register[] {
    this.#sortedKeys ??= [...this.#cells.keys()].sort();
    const keys = this.#sortedKeys;
    const found: Register[] = [];
    for (let index = firstNotBelow(keys, keyPrefix); index < keys.length; index++) {
      const key = keys[index] as string;
      if (!key.startsWith(keyPrefix)) break;
      found.push(rowOf(this.#cells.get(key) as Cell<Register>));
    }
    return found;
  }

  /** All registers, in no promised order. */
  all(): Register[] {
    return [...this.#cells.values()].map(rowOf);
  }
}

function firstNotBelow(keys: readonly string[], bound: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
