import type { Clock } from '../kube/client/clock.ts';

/** Wakes one waiting caller. A ring without a waiting caller is kept for the next wait. */
export class Bell {
  readonly #clock: Clock;
  #rung = false;
  #wake: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Waits until the next ring, or one since the last wait; at most `ms` milliseconds. */
  async wait(ms: number): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const cancel = this.#clock.after(ms, resolve);
        this.#wake = () => {
          cancel();
          resolve();
        };
      });
      this.#wake = undefined;
    }
    this.#rung = false;
  }
}
