import { Lanes } from './lanes.ts';

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
