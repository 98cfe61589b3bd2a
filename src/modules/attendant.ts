import { messageOf } from '../errors.ts';
import type { ModuleKeeper } from './module-keeper.ts';

/** Where it is not its process that failed, such as a file that is gone (ms). */
const LOOK_AGAIN_MS = 5_000;

/** Of a module that begins when it is told to. */
export type Attended = Pick<ModuleKeeper<unknown>, 'ready' | 'tell' | 'restsMs' | 'stop'>;

/** Begins a module, and again whenever it has ended. */
export class Attendant {
  readonly #module: Attended;
  readonly #begunAgain: () => void;
  #why: string | undefined;
  /** When it begins again. */
  #timer: NodeJS.Timeout | undefined;

  /** @param begunAgain hears that it was begun again, whatever came of it */
  constructor(module: Attended, begunAgain: () => void) {
    this.#module = module;
    this.#begunAgain = begunAgain;
  }

  /** Why it does not run, as far as it was begun; undefined: it does. */
  get why(): string | undefined {
    return this.#why;
  }

  async begin(): Promise<void> {
    try {
      await this.#module.ready();
      this.#why = undefined;
    } catch (thrown) {
      this.#why = messageOf(thrown);
    }
  }

  /** From now on it begins again by itself. */
  attend(): void {
    this.#module.tell({ ended: () => this.#later(this.#module.restsMs), said: () => undefined });
    if (this.#why !== undefined) this.#later(this.#module.restsMs);
  }

  /** Ends it for good. */
  dismiss(why: string): void {
    this.#why = why;
    this.stop();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#module.stop();
  }

  #later(againInMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#again();
    }, againInMs + 1).unref();
  }

  async #again(): Promise<void> {
    await this.begin();
    if (this.#why !== undefined && this.#timer === undefined) this.#later(LOOK_AGAIN_MS);
    this.#begunAgain();
  }
}
