import type { Clock } from '../../../../src/kube/client/clock.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/** A clock that stands still until a test moves it. Timers fire in order, each at its own time. */
export class FakeClock implements Clock {
  #now = 1_000;
  #order = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  date(): Date {
    return new Date(Date.UTC(2026, 0, 1) + this.#now);
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, order: this.#order++, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  get waiting(): number {
    return this.#timers.size;
  }

  /** Lets time pass, and with each timer everything that follows from it. */
  async pass(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      await settled();
      const next = [...this.#timers].sort((a, b) => a.at - b.at || a.order - b.order)[0];
      if (next === undefined || next.at > until) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
    }
    this.#now = until;
    await settled();
  }
}

/** Everything that needs no time has happened: all promises that lead to others have been followed. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
