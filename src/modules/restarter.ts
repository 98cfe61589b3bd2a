import { messageOf } from '../errors.ts';
import type { ModuleSupervisor } from './supervisor.ts';

/** Time until the next attempt (ms) after a failure before the process exists, such as a missing file. */
const RETRY_MS = 5_000;

/** A module with a supervisor that starts it on request. */
export type Restartable = Pick<ModuleSupervisor<unknown>, 'ready' | 'tell' | 'backOffMs' | 'stop'>;

/** Starts a module, and starts it again whenever it has ended. */
export class Restarter {
  readonly #module: Restartable;
  readonly #begunAgain: () => void;
  #why: string | undefined;
  /** Timer of the next start. */
  #timer: NodeJS.Timeout | undefined;

  /** @param begunAgain called after each further start, failed ones included */
  constructor(module: Restartable, begunAgain: () => void) {
    this.#module = module;
    this.#begunAgain = begunAgain;
  }

  /** Why the last start failed; undefined: the module runs, or was never started. */
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

  /** Restarts the module from now on whenever it has ended. */
  restartWhenEnded(): void {
    this.#module.tell({ ended: () => this.#later(this.#module.backOffMs), said: () => undefined });
    if (this.#why !== undefined) this.#later(this.#module.backOffMs);
  }

  /** Stops the module for good; `why` returns this reason. */
  stopFor(why: string): void {
    this.#why = why;
    void this.stop();
  }

  /** @returns once the module's last output was passed on */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#module.stop();
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
    if (this.#why !== undefined && this.#timer === undefined) this.#later(RETRY_MS);
    this.#begunAgain();
  }
}
