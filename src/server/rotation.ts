/** What waits, by key: one of each key after the other. */
export class Rotation<T> {
  readonly #waiting = new Map<string, T[]>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  add(key: string, one: T): void {
    const queue = this.#waiting.get(key);
    if (queue === undefined) this.#waiting.set(key, [one]);
    else queue.push(one);
  }

  next(): T | undefined {
    for (const [key, queue] of this.#waiting) {
      const one = queue.shift();
      this.#waiting.delete(key);
      if (queue.length > 0) this.#waiting.set(key, queue);
      return one;
    }
    return undefined;
  }
}

/** Does one thing that waits in each round of the event loop, so that whatever else has come meanwhile has its turn. */
export class OneARound {
  readonly #next: () => (() => void) | undefined;
  #scheduled = false;

  /** @param next takes out what is next, which must not throw */
  constructor(next: () => (() => void) | undefined) {
    this.#next = next;
  }

  /** There is something that waits. */
  schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#round);
  }

  readonly #round = (): void => {
    this.#scheduled = false;
    const work = this.#next();
    if (work === undefined) return;
    this.schedule();
    work();
  };
}
