const FIRST_MS = 1_000;
const MOST_MS = 60_000;
/** One that has run so long is as good as new. */
const SOUND_MS = 60_000;

/** How long a process that ended by itself is left alone: twice as long each time, unless it ran for a while. */
export class BackOff {
  readonly #now: () => number;
  #began = 0;
  #wait = 0;
  #until = 0;

  /** @param now in milliseconds, by a clock that never goes back */
  constructor(now: () => number) {
    this.#now = now;
  }

  began(): void {
    this.#began = this.#now();
  }

  /** @returns after how many milliseconds it may begin again */
  ended(): number {
    const sound = this.#now() - this.#began >= SOUND_MS;
    this.#wait = sound || this.#wait === 0 ? FIRST_MS : Math.min(this.#wait * 2, MOST_MS);
    this.#until = this.#now() + this.#wait;
    return this.#wait;
  }

  /** Milliseconds until it may begin; 0: now. */
  get leftMs(): number {
    return Math.max(0, this.#until - this.#now());
  }
}
