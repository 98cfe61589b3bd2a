/** Milliseconds for small reviews per iteration of the event loop. */
const SMALL_MS = 0.5;
/** Milliseconds for the large review per iteration, after which no further step is begun. */
const LARGE_MS = 0.5;

/** Work in steps, each shorter than a millisecond, between which other work may run. */
export type Steps = Generator<void, void>;

/**
 * Decides whose review is next on the one thread.
 *
 * 1. A small review is decided at once while this iteration of the event loop has time left and none waits.
 * 2. Waiting small reviews are decided round robin among keys, for {@link SMALL_MS} per iteration.
 * 3. One large review at a time goes on in steps, for {@link LARGE_MS} per iteration, after the small ones.
 */
export class FairQueue {
  readonly #small = new RoundRobin<() => void>();
  readonly #large = new RoundRobin<() => Steps>();
  readonly #now: () => number;
  /** The large review under way. Only one at a time, since a second one would be held in memory as well. */
  #underWay: Steps | undefined;
  #spent = 0;
  #scheduled = false;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * @param key reviews are decided round robin among keys
   * @param work must not throw
   */
  push(key: string, work: () => void): void {
    if (this.#spent < SMALL_MS && this.#small.isEmpty) this.#do(work);
    else this.#small.add(key, work);
    this.#schedule();
  }

  /** @param work must not throw, neither when it is begun nor in a step */
  pushLarge(key: string, work: () => Steps): void {
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
    setImmediate(this.#iteration);
  }

  readonly #iteration = (): void => {
    this.#scheduled = false;
    this.#spent = 0;
    while (this.#spent < SMALL_MS) {
      const work = this.#small.next();
      if (work === undefined) break;
      this.#do(work);
    }
    // Called also while small reviews wait, so that large ones do not starve.
    this.#continueLarge();
    if (!this.#small.isEmpty || !this.#large.isEmpty || this.#underWay !== undefined) this.#schedule();
  };

  #continueLarge(): void {
    const steps = (this.#underWay ??= this.#large.next()?.());
    if (steps === undefined) return;
    const until = this.#now() + LARGE_MS;
    do {
      if (steps.next().done === true) {
        this.#underWay = undefined;
        return;
      }
    } while (this.#now() < until);
  }
}

/** A queue per key; the keys take turns. */
export class RoundRobin<T> {
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

/** Runs one waiting task per iteration of the event loop, so that I/O is handled between any two. */
export class OnePerTick {
  readonly #next: () => (() => void) | undefined;
  readonly #later: (run: () => void) => unknown;
  #scheduled = false;

  /**
   * @param next takes out the next task, which must not throw
   * @param later calls `run` in a later iteration: the next one unless told otherwise
   */
  constructor(
    next: () => (() => void) | undefined,
    later: (run: () => void) => unknown = (run) => setImmediate(run),
  ) {
    this.#next = next;
    this.#later = later;
  }

  /** Called when a task waits. */
  schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#later(this.#iteration);
  }

  readonly #iteration = (): void => {
    this.#scheduled = false;
    const work = this.#next();
    if (work === undefined) return;
    this.schedule();
    work();
  };
}
