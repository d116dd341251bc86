/**
 * Changes that can be taken back, so that a transaction is tried on the tables themselves and not on a copy of them.
 *
 * Trying a transaction costs what the transaction is large, however long the session is. While no trial runs nothing is
 * recorded, and reading a file pays next to nothing for it.
 *
 * Invariant: after `takeBack` every map, list and object is equal to what it was at `begin`, but for the order of keys in
 * maps from which a key was removed.
 */
export class UndoLog {
  #steps: (() => void)[] | undefined;

  begin(): void {
    this.#steps = [];
  }

  /** Ends the trial and lets its changes stand. */
  keep(): void {
    this.#steps = undefined;
  }

  /** Ends the trial and undoes its changes, the last first. */
  takeBack(): void {
    const steps = this.#steps ?? [];
    this.#steps = undefined;
    for (let index = steps.length - 1; index >= 0; index--) steps[index]?.();
  }

  put<K, V>(map: Map<K, V>, key: K, value: V): void {
    if (this.#steps !== undefined) this.#steps.push(restoringKey(map, key));
    map.set(key, value);
  }

  remove<K, V>(map: Map<K, V>, key: K): void {
    if (this.#steps !== undefined) this.#steps.push(restoringKey(map, key));
    map.delete(key);
  }

  append<T>(list: T[], item: T): void {
    if (this.#steps !== undefined) this.#steps.push(restoringLength(list, list.length));
    list.push(item);
  }

  assign<T extends object, K extends keyof T>(target: T, key: K, value: T[K]): void {
    if (this.#steps !== undefined) this.#steps.push(restoringMember(target, key, target[key]));
    target[key] = value;
  }
}

// The closures are made in functions of their own: a function whose arguments a closure captures pays for the closure at
// every call, also when it makes none.

function restoringKey<K, V>(map: Map<K, V>, key: K): () => void {
  if (!map.has(key)) return () => map.delete(key);
  const before = map.get(key) as V;
  return () => map.set(key, before);
}

function restoringLength(list: unknown[], length: number): () => void {
  return () => {
    list.length = length;
  };
}

function restoringMember<T extends object, K extends keyof T>(target: T, key: K, before: T[K]): () => void {
  return () => {
    target[key] = before;
  };
}
