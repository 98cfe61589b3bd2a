import { quantile } from '../measure/interval.ts';
import { cpuMicrosOf, rssMiBOf } from '../measure/process-usage.ts';
import { GANG_SIZE, STEPS } from './options.ts';
import type { Pids } from './progress.ts';
import { PROGRAMS, type PerProgram, type Program, type Step } from './results.ts';
import type { Milestones } from './watched.ts';

interface Mark {
  readonly at: number;
  readonly cpu: PerProgram;
}

/** Cuts a run into tenths by the Pods that are bound. */
export class Steps {
  readonly #pids: Pids;
  readonly #podsAStep: number;
  readonly #callsSoFar: () => Promise<number | null>;
  readonly #said: (step: Step, all: readonly Step[]) => void;
  readonly #made: Step[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #steps: Promise<Step>[] = [];
  #mark: Mark;
  #calls: Promise<number | null>;
  #gangs: Milestones[] = [];
  #memory: Partial<Record<Program, number>> = {};
  #bound = 0;

  constructor(given: {
    readonly pids: Pids;
    readonly pods: number;
    /** Requests of Muster's loop; null where there is no Muster. */
    readonly calls: () => Promise<number | null>;
    /** With all that there are, this one the last. */
    readonly said: (step: Step, all: readonly Step[]) => void;
  }) {
    const { pids, pods, calls, said } = given;
    this.#pids = pids;
    this.#podsAStep = pods / STEPS;
    this.#callsSoFar = calls;
    this.#said = said;
    this.#mark = this.#now();
    this.#calls = calls();
    this.#timer = setInterval(() => this.#look(), 1_000);
  }

  /** Pods that are bound so far. */
  get pods(): number {
    return this.#bound;
  }

  /** A Pod is bound, and with it perhaps the whole gang. */
  bound(gang: Milestones | undefined): void {
    if (gang !== undefined) this.#gangs.push({ ...gang });
    this.#bound += 1;
    if (this.#bound % this.#podsAStep === 0) this.#cut();
  }

  /** The tenths that are whole. */
  async end(): Promise<readonly Step[]> {
    clearInterval(this.#timer);
    return Promise.all(this.#steps);
  }

  #cut(): void {
    this.#look();
    const [before, now, gangs, memory, earlier, pods] = [
      ...([this.#mark, this.#now(), this.#gangs, this.#memory] as const),
      ...([this.#calls, this.#bound] as const),
    ];
    const calls = this.#callsSoFar();
    [this.#mark, this.#gangs, this.#memory, this.#calls] = [now, [], {}, calls];
    const cpu = each((program) => {
      const micros = (now.cpu[program] ?? Number.NaN) - (before.cpu[program] ?? Number.NaN);
      return Number.isNaN(micros) ? undefined : tidy(micros / 1000 / this.#podsAStep);
    });
    const release = gangs.map(({ complete, released }) => Math.max(0, released - complete));
    const bound = gangs.map(({ complete, bound: all }) => Math.max(0, all - complete));
    const step = async (): Promise<Step> => {
      const [from, to] = [await earlier, await calls];
      const made = {
        pods,
        seconds: tidy((now.at - before.at) / 1000),
        releaseP50: rounded(quantile(release, 0.5)),
        releaseP99: rounded(quantile(release, 0.99)),
        boundP50: rounded(quantile(bound, 0.5)),
        boundP99: rounded(quantile(bound, 0.99)),
        ...{ cpu, memory },
        calls: from === null || to === null ? null : tidy(((to - from) * GANG_SIZE) / this.#podsAStep),
      };
      this.#made.push(made);
      this.#said(made, this.#made);
      return made;
    };
    this.#steps.push(step());
  }

  #now(): Mark {
    return { at: performance.now(), cpu: each((_, pid) => cpuMicrosOf(pid), this.#pids) };
  }

  #look(): void {
    for (const [program, mib] of Object.entries(each((_, pid) => Math.round(rssMiBOf(pid)), this.#pids)))
      this.#memory[program as Program] = Math.max(this.#memory[program as Program] ?? 0, mib);
  }
}

/** A figure of every program that has one. */
function each(figure: (program: Program, pid: number) => number | undefined, pids?: Pids): PerProgram {
  const found: Partial<Record<Program, number>> = {};
  for (const program of PROGRAMS) {
    const pid = pids?.[program];
    if (pids !== undefined && pid === undefined) continue;
    try {
      const value = figure(program, pid ?? 0);
      if (value !== undefined) found[program] = value;
    } catch {
      // A program that has ended has no figure any more.
    }
  }
  return found;
}

const rounded = (value: number): number | null => (Number.isFinite(value) ? Math.round(value) : null);
const tidy = (value: number): number => Number(value.toPrecision(4));
