import { LARGE_BYTES } from './load-limits.ts';

/** Bytes of bodies that are parsed in one round of the event loop: about 2 ms of work. */
const ROUND_BYTES = 256 * 1024;

interface Turn {
  readonly bytes: number;
  readonly work: () => void;
}

/**
 * Whose review is next, where more wait than one round of the event loop can do. There is one thread, so a review that
 * stands before others costs them its whole time: large ones come one a round, after all small ones; of the small ones
 * everybody who waits has one in turn. Where nobody waits, a small review has its turn at once and pays for none of this.
 */
export class Turns {
  readonly #small = new Rotation();
  readonly #large = new Rotation();
  #spent = 0;
  #scheduled = false;

  /**
   * @param key turns are shared out evenly among keys
   * @param work must not throw
   */
  take(key: string, bytes: number, work: () => void): void {
    if (bytes > LARGE_BYTES) this.#large.add(key, { bytes, work });
    else if (this.#spent < ROUND_BYTES && this.#small.isEmpty) {
      this.#spent += bytes;
      work();
    } else this.#small.add(key, { bytes, work });
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#round);
  }

  readonly #round = (): void => {
    this.#scheduled = false;
    this.#spent = 0;
    while (this.#spent < ROUND_BYTES) {
      const turn = this.#small.next();
      if (turn === undefined) break;
      this.#spent += turn.bytes;
      turn.work();
    }
    // Also where small ones are left: it shall not wait for ever.
    this.#large.next()?.work();
    if (!this.#small.isEmpty || !this.#large.isEmpty) this.#schedule();
  };
}

/** Turns by key, one of each key after the other. */
class Rotation {
  readonly #waiting = new Map<string, Turn[]>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  add(key: string, turn: Turn): void {
    const queue = this.#waiting.get(key);
    if (queue === undefined) this.#waiting.set(key, [turn]);
    else queue.push(turn);
  }

  next(): Turn | undefined {
    for (const [key, queue] of this.#waiting) {
      const turn = queue.shift();
      this.#waiting.delete(key);
      if (queue.length > 0) this.#waiting.set(key, queue);
      return turn;
    }
    return undefined;
  }
}
