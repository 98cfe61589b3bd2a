/**
 * Things that wait, each in the lane of whom it is for; lanes take turns. So what one lane holds, be it a thousand, makes
 * another wait for one turn of each lane and no longer.
 */
export class Lanes<T> {
  /** In the order of their turns; none is empty. */
  readonly #lanes = new Map<string, Map<string, T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  sizeOf(lane: string): number {
    return this.#lanes.get(lane)?.size ?? 0;
  }

  /** Puts it last in its lane. A key that is there already keeps its place. */
  push(lane: string, key: string, value: T): void {
    const waiting = this.#lanes.get(lane);
    if (waiting?.has(key) === true) return;
    this.#size += 1;
    if (waiting === undefined) this.#lanes.set(lane, new Map([[key, value]]));
    else waiting.set(key, value);
  }

  /** Takes out the first of the lane whose turn it is, of those that may with that. */
  next(
    may: (lane: string, key: string) => boolean = () => true,
  ): { readonly lane: string; readonly key: string; readonly value: T } | undefined {
    for (const [lane, waiting] of this.#lanes) {
      for (const [key, value] of waiting) {
        if (!may(lane, key)) break;
        waiting.delete(key);
        this.#size -= 1;
        // To the end of the turns, or out.
        this.#lanes.delete(lane);
        if (waiting.size > 0) this.#lanes.set(lane, waiting);
        return { lane, key, value };
      }
    }
    return undefined;
  }

  /** The first of each lane. */
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

/** So much work at a time and no more; where more is asked for, lanes take turns. One lane alone may have all of it. */
export class FairSlots {
  readonly #waiting = new Lanes<() => void>();
  #free: number;
  #asked = 0;

  constructor(slots: number) {
    this.#free = slots;
  }

  async run<T>(lane: string, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(lane, String(this.#asked++), resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.next();
      // The slot goes from hand to hand, so that nobody who comes in between takes it.
      if (next === undefined) this.#free += 1;
      else next.value();
    }
  }
}

/** Remembers so much and no more, oldest first: what is too much is forgotten of the lane that has most. */
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

  /** What is set is the newest of its lane. */
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
