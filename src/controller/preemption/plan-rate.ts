/** So many plans may be begun within any minute. A new leader counts anew. */
export class PlanRate {
  readonly #perMinute: number;
  readonly #now: () => number;
  #begun: number[] = [];

  /** @param now milliseconds */
  constructor(perMinute: number, now: () => number) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /** Milliseconds until one more may be begun; 0: now. */
  waitMs(): number {
    const now = this.#now();
    this.#begun = this.#begun.filter((at) => now - at < MINUTE);
    const oldest = this.#begun.at(-this.#perMinute);
    return oldest === undefined ? 0 : oldest + MINUTE - now;
  }

  begin(): void {
    this.#begun.push(this.#now());
  }
}

const MINUTE = 60_000;
