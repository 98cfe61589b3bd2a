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
