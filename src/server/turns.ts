import { Rotation } from './rotation.ts';

/** Milliseconds of small reviews in one round of the event loop. */
const SMALL_MS = 0.5;
/** Milliseconds of a large one in one round, beyond which no further step of it is begun. */
const LARGE_MS = 0.5;

/** Work that can be left between any two of its steps, each shorter than a millisecond. */
export type Steps = Generator<void, void>;

/**
 * Whose review is next, where more wait than one round of the event loop can do. There is one thread, so what stands
 * before others costs them its whole time: large reviews are done in steps, one review at a time, after all small ones; of
 * the small ones everybody who waits has one in turn. Where nobody waits, a small review has its turn at once.
 */
export class Turns {
  readonly #small = new Rotation<() => void>();
  readonly #large = new Rotation<() => Steps>();
  readonly #now: () => number;
  /** The large review that was begun. To begin a second would hold both in memory. */
  #begun: Steps | undefined;
  #spent = 0;
  #scheduled = false;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * @param key turns are shared out evenly among keys
   * @param work must not throw
   */
  take(key: string, work: () => void): void {
    if (this.#spent < SMALL_MS && this.#small.isEmpty) this.#do(work);
    else this.#small.add(key, work);
    this.#schedule();
  }

  /** @param work must not throw, neither when it is begun nor in a step */
  takeLarge(key: string, work: () => Steps): void {
    this.#large.add(key, work);
    this.#schedule();
  }

  #do(work: () => void): void {
    const since = this.#now();
    work();
    this.#spent += this.#now() - since;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#round);
  }

  readonly #round = (): void => {
    this.#scheduled = false;
    this.#spent = 0;
    while (this.#spent < SMALL_MS) {
      const work = this.#small.next();
      if (work === undefined) break;
      this.#do(work);
    }
    // Also where small ones are left: it shall not wait for ever.
    this.#goOn();
    if (!this.#small.isEmpty || !this.#large.isEmpty || this.#begun !== undefined) this.#schedule();
  };

  #goOn(): void {
    const steps = (this.#begun ??= this.#large.next()?.());
    if (steps === undefined) return;
    const until = this.#now() + LARGE_MS;
    do {
      if (steps.next().done === true) {
        this.#begun = undefined;
        return;
      }
    } while (this.#now() < until);
  }
}
