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
import { firstIndex } from "./ranges.ts";
import type { StoredRegister } from "./stored-write.ts";

/** All registers of one namespace. */
export class RegisterTable {
  readonly #stored: Map<string, StoredRegister>;
  #sortedKeys: readonly string[] | undefined;

  constructor(stored: Iterable<readonly [string, StoredRegister]> = []) {
    this.#stored = new Map(stored);
  }

  /** A table of the same rows that changes on its own from here on. */
  copy(): RegisterTable {
    const copy = new RegisterTable(this.#stored);
    copy.#sortedKeys = this.#sortedKeys;
    return copy;
  }

  set(register: StoredRegister): void {
    const { key } = register;
    if (this.#sortedKeys !== undefined && !this.#stored.has(key)) this.#sortedKeys = undefined;
    this.#stored.set(key, register);
  }

  delete(key: string): void {
    if (this.#stored.delete(key)) this.#sortedKeys = undefined;
  }

  get(key: string): Register | undefined {
    return this.#stored.get(key)?.row;
  }

  /** The registers whose key starts with `keyPrefix`, by key. */
  list(keyPrefix: string): Register[] {
    this.#sortedKeys ??= [...this.#stored.keys()].sort();
    const keys = this.#sortedKeys;
    const found: Register[] = [];
    const first = firstIndex(keys.length, (index) => (keys[index] as string) >= keyPrefix);
    for (let index = first; index < keys.length; index++) {
      const key = keys[index] as string;
      if (!key.startsWith(keyPrefix)) break;
      found.push((this.#stored.get(key) as StoredRegister).row);
    }
    return found;
  }

  /** All registers, in no promised order. */
  all(): StoredRegister[] {
    return [...this.#stored.values()];
  }
}
