/** The items of one lane by key: those that come first, and the rest. */
interface Lane<T> {
  readonly first: Map<string, T>;
  readonly rest: Map<string, T>;
}

const sizeOf = (lane: Lane<unknown> | undefined): number =>
  lane === undefined ? 0 : lane.first.size + lane.rest.size;

/**
 * Waiting items in lanes that take turns. The first item of a lane therefore waits for one turn of each other lane at
 * most, however many items the other lanes have.
 */
export class Lanes<T> {
  /** In the order of their turns; no lane is empty. */
  readonly #lanes = new Map<string, Lane<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  sizeOf(lane: string): number {
    return sizeOf(this.#lanes.get(lane));
  }

  /**
   * Adds the item at the end of its lane. An existing key keeps its place.
   * @param first whether it comes before all of the lane that are not
   */
  push(lane: string, key: string, value: T, first = false): void {
    let waiting = this.#lanes.get(lane);
    if (waiting?.first.has(key) === true || waiting?.rest.has(key) === true) return;
    if (waiting === undefined) this.#lanes.set(lane, (waiting = { first: new Map(), rest: new Map() }));
    (first ? waiting.first : waiting.rest).set(key, value);
    this.#size += 1;
  }

  /** Removes and returns the first item of the next lane whose first item `may` accepts; undefined when there is none. */
  next(
    may: (lane: string, key: string) => boolean = () => true,
  ): { readonly lane: string; readonly key: string; readonly value: T } | undefined {
    for (const [lane, waiting] of this.#lanes) {
      const items = waiting.first.size > 0 ? waiting.first : waiting.rest;
      for (const [key, value] of items) {
        if (!may(lane, key)) break;
        items.delete(key);
        this.#size -= 1;
        // The lane moves to the end of the order, or is removed when it is empty.
        this.#lanes.delete(lane);
        if (sizeOf(waiting) > 0) this.#lanes.set(lane, waiting);
        return { lane, key, value };
      }
    }
    return undefined;
  }

  /** The first item of each lane. */
  *firsts(): Generator<T, void> {
    for (const { first, rest } of this.#lanes.values()) {
      for (const value of (first.size > 0 ? first : rest).values()) {
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
