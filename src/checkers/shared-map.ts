/** A map that two owners share until one of them writes: forking it costs the same for any size. */
export class SharedMap<Value> {
  #map: Map<string, Value>;
  #isShared = false;
  #values: readonly Value[] | undefined;

  constructor(map = new Map<string, Value>()) {
    this.#map = map;
  }

  fork(): SharedMap<Value> {
    this.#isShared = true;
    const copy = new SharedMap(this.#map);
    copy.#isShared = true;
    copy.#values = this.#values;
    return copy;
  }

  get(key: string): Value | undefined {
    return this.#map.get(key);
  }

  has(key: string): boolean {
    return this.#map.has(key);
  }

  /** In the order in which their keys came. They are listed once between two writes, however often they are asked for. */
  values(): readonly Value[] {
    this.#values ??= [...this.#map.values()];
    return this.#values;
  }

  set(key: string, value: Value): void {
    this.#own().set(key, value);
  }

  delete(key: string): void {
    if (this.#map.has(key)) this.#own().delete(key);
  }

  #own(): Map<string, Value> {
    this.#values = undefined;
    if (this.#isShared) {
      this.#map = new Map(this.#map);
      this.#isShared = false;
    }
    return this.#map;
  }
}
