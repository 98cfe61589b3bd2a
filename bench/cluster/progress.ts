import { cpuMicrosOf } from '../measure/process-usage.ts';
import { PROGRAMS, type Program } from './results.ts';

export type Pids = Readonly<Partial<Record<Program, number>>>;

/** A gang takes a second or two, so nothing that still works is silent for so long. */
const STILL_MINUTES = 3;
/** Of one processor. */
const STANDS_STILL = 0.02;

/** Tells once when no gang is bound any more, and what the programs did meanwhile. */
export class Progress {
  readonly #pids: Pids;
  readonly #still: (said: string) => void;
  readonly #cpu: (pid: number) => number;
  #since: { readonly at: number; readonly cpu: ReadonlyMap<Program, number> } | undefined;
  #moved = true;
  #told = false;

  /** @param given.cpu microseconds of a process so far */
  constructor(given: {
    readonly pids: Pids;
    readonly still: (said: string) => void;
    readonly cpu?: (pid: number) => number;
  }) {
    this.#pids = given.pids;
    this.#still = given.still;
    this.#cpu = given.cpu ?? cpuMicrosOf;
  }

  /** A gang is bound. */
  bound(): void {
    this.#moved = true;
  }

  /** @param now milliseconds */
  look(now: number): void {
    const ms = now - (this.#since?.at ?? now);
    if (this.#moved || this.#since === undefined) {
      this.#since = { at: now, cpu: this.#all() };
      this.#moved = false;
    } else if (ms >= STILL_MINUTES * 60_000 && !this.#told) {
      this.#told = true;
      this.#still(`no gang was bound for ${STILL_MINUTES} minutes, in which ${this.#meanwhile(ms)}`);
    }
  }

  #meanwhile(ms: number): string {
    const now = this.#all();
    const shares = PROGRAMS.filter((program) => this.#pids[program] !== undefined)
      .map((program) => {
        const micros = (now.get(program) ?? Number.NaN) - (this.#since?.cpu.get(program) ?? Number.NaN);
        return { program, share: micros / 1000 / ms };
      })
      .sort((a, b) => b.share - a.share);
    const named = (which: (share: number) => boolean, said: string): string[] => {
      const names = shares.filter(({ share }) => which(share)).map(({ program }) => program);
      return names.length === 0 ? [] : [`${said} ${names.join(', ')}`];
    };
    const busy = shares.filter(({ share }) => share >= STANDS_STILL);
    const took = busy.map(({ program, share }) => `${program} took ${share.toFixed(2)} of a processor`);
    return [
      ...took,
      ...named((share) => share < STANDS_STILL, 'still stood'),
      ...named(Number.isNaN, 'there was no longer'),
    ].join('; ');
  }

  #all(): ReadonlyMap<Program, number> {
    const all = new Map<Program, number>();
    for (const program of PROGRAMS) {
      const pid = this.#pids[program];
      try {
        if (pid !== undefined) all.set(program, this.#cpu(pid));
      } catch {
        // It has ended.
      }
    }
    return all;
  }
}
