/** What was created a moment ago, by key: caches may not show it yet, however often somebody looks meanwhile. */
export class JustMade {
  readonly #at = new Map<string, number>();
  readonly #forMs: number;
  readonly #now: () => number;

  /**
   * @param forMs how long a cache may lag behind; what it does not show by then is gone again
   * @param now milliseconds, of any beginning
   */
  constructor(forMs: number, now: () => number) {
    this.#forMs = forMs;
    this.#now = now;
  }

  add(key: string): void {
    this.#at.set(key, this.#now());
  }

  /** It is seen, or nobody asks for it any more. */
  forget(key: string): void {
    this.#at.delete(key);
  }

  has(key: string): boolean {
    const at = this.#at.get(key);
    if (at !== undefined && this.#now() - at < this.#forMs) return true;
    this.#at.delete(key);
    return false;
  }
}
