/**
 * Waiting items in lanes that take turns. The first item of a lane therefore waits for one turn of each other lane at
 * most, however many items the other lanes have.
 */
export class Lanes<T> {
  /** In the order of their turns; no lane is empty. */
  readonly #lanes = new Map<string, Map<string, T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  sizeOf(lane: string): number {
    return this.#lanes.get(lane)?.size ?? 0;
  }

  /** Adds the item at the end of its lane. An existing key keeps its place. */
  push(lane: string, key: string, value: T): void {
    const waiting = this.#lanes.get(lane);
    if (waiting?.has(key) === true) return;
    this.#size += 1;
    if (waiting === undefined) this.#lanes.set(lane, new Map([[key, value]]));
    else waiting.set(key, value);
  }

  /** Removes and returns the first item of the next lane whose first item `may` accepts; undefined when there is none. */
  next(
    may: (lane: string, key: string) => boolean = () => true,
  ): { readonly lane: string; readonly key: string; readonly value: T } | undefined {
    for (const [lane, waiting] of this.#lanes) {
      for (const [key, value] of waiting) {
        if (!may(lane, key)) break;
        waiting.delete(key);
        this.#size -= 1;
        // The lane moves to the end of the order, or is removed when it is empty.
        this.#lanes.delete(lane);
        if (waiting.size > 0) this.#lanes.set(lane, waiting);
        return { lane, key, value };
      }
    }
    return undefined;
  }

  /** The first item of each lane. */
  *firsts(): Generator<T, void> {
    for (const waiting of this.#lanes.values()) {
      for (const value of waiting.values()) {
        yield value;
        break;
      }
    }
  }

  clear(): void {
    this.#lanes.clear();
    this.#size = 0;
  }
}

/** A map with a limited number of entries: beyond the limit, the oldest entry of the largest lane is removed. */
export class FairMemory<T> {
  readonly #max: number;
  readonly #lanes = new Map<string, Map<string, T>>();
  #size = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get(lane: string, key: string): T | undefined {
    return this.#lanes.get(lane)?.get(key);
  }

  /** Makes the entry the newest of its lane. */
  set(lane: string, key: string, value: T): void {
    this.delete(lane, key);
    const known = this.#lanes.get(lane);
    if (known === undefined) this.#lanes.set(lane, new Map([[key, value]]));
    else known.set(key, value);
    this.#size += 1;
    if (this.#size > this.#max) this.#forget();
  }

  delete(lane: string, key: string): void {
    const known = this.#lanes.get(lane);
    if (known?.delete(key) !== true) return;
    this.#size -= 1;
    if (known.size === 0) this.#lanes.delete(lane);
  }

  #forget(): void {
    let [largest, most] = ['', 0];
    for (const [lane, { size }] of this.#lanes) if (size > most) [largest, most] = [lane, size];
    for (const oldest of this.#lanes.get(largest)?.keys() ?? []) {
      this.delete(largest, oldest);
      break;
    }
  }
}
