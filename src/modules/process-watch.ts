import { readFile } from 'node:fs/promises';
import type { ModuleLimits } from './limits.ts';

/** How often (ms) is looked. */
const LOOK_MS = 500;
const PAGE = 4096;

export interface Watched {
  /** Whether an answer is waited for, or was in vain. */
  readonly busy: () => boolean;
  readonly ping: () => void;
  readonly end: (reason: string) => void;
}

/** Ends a process that lets nothing run, or takes more memory than it may. */
export class ProcessWatch {
  readonly #statistics: string;
  readonly #limits: ModuleLimits;
  readonly #watched: Watched;
  readonly #timer: NodeJS.Timeout;
  /** Looks are counted, not time: while Muster itself is held up, it hears nothing either. */
  #silent = 0;

  constructor(pid: number | undefined, limits: ModuleLimits, watched: Watched) {
    this.#limits = limits;
    this.#statistics = `/proc/${pid ?? 0}/statm`;
    this.#watched = watched;
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  heard(): void {
    this.#silent = 0;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const { silentMs } = this.#limits;
    void this.#weigh();
    if (!this.#watched.busy()) {
      this.#silent = 0;
      return;
    }
    this.#silent += 1;
    if (this.#silent === 1) this.#watched.ping();
    if (this.#silent * LOOK_MS <= silentMs) return;
    this.#watched.end(
      `it was at work for ${silentMs / 1000} s and let nothing else run: a loop without an end`,
    );
  }

  /** Where there is no such file, as elsewhere than on Linux, only the heap is bounded. */
  async #weigh(): Promise<void> {
    const text = await readFile(this.#statistics, 'utf8').catch(() => '');
    const resident = Number(text.split(' ')[1] ?? 0) * PAGE;
    if (resident > this.#limits.residentMib * 1024 * 1024)
      this.#watched.end(`it took more than ${this.#limits.residentMib} MiB of memory`);
  }
}
