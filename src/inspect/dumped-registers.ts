/** The registers and entries of a dump, by key. */
import type { Entry, RegisterNamespace, RegisterValues } from "../model/index.ts";
import type { SessionDump } from "../storage/index.ts";

/** See the module header. Values are given as their namespace has them; who asks has held them against their schemas. */
export class DumpedRegisters {
  readonly entries: ReadonlyMap<string, Entry>;
  readonly #values = new Map<RegisterNamespace, Map<string, unknown>>();

  constructor({ entries, registers }: SessionDump) {
    this.entries = new Map(entries.map((entry) => [entry.id, entry]));
    for (const { namespace, key, value } of registers) this.#namespace(namespace).set(key, value);
  }

  value<N extends RegisterNamespace>(namespace: N, key: string): RegisterValues[N] | undefined {
    return this.all(namespace).get(key);
  }

  /** All values of a namespace, by key. */
  all<N extends RegisterNamespace>(namespace: N): ReadonlyMap<string, RegisterValues[N]> {
    return this.#namespace(namespace) as Map<string, RegisterValues[N]>;
  }

  /** Sorted. */
  keys(namespace: RegisterNamespace): string[] {
    return [...this.#namespace(namespace).keys()].sort();
  }

  #namespace(namespace: RegisterNamespace): Map<string, unknown> {
    let values = this.#values.get(namespace);
    if (values === undefined) {
      values = new Map();
      this.#values.set(namespace, values);
    }
    return values;
  }
}
