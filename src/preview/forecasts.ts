import { fork, type ChildProcess } from 'node:child_process';
import { extname } from 'node:path';
import { trimmed } from '../preemption/read/trim.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Asked, PreviewSetting, ForecastQuestion, ForecastMessage } from './question.ts';

/** At most this many questions wait at a time, and at most {@link MOST_OF_ONE} of one user. */
const MOST_WAITING = 16;
const MOST_OF_ONE = 2;
/** Milliseconds of a review's remaining time that are kept for sending the answer. */
const RESERVE_MS = 250;
/** Milliseconds before a process that has ended is started again. */
const REST_MS = 30_000;
/** Heap of the process in MiB. A cluster of 100,000 Pods takes a quarter of it. */
const HEAP_MIB = 256;

const NONE = 'forecast: none';

interface Waiting {
  readonly user: string;
  readonly settle: (warnings: readonly string[]) => void;
}

export interface ForecastsOptions {
  readonly setting: PreviewSetting;
  readonly log: Logger;
  /** For tests: another program for the process, and the milliseconds before it is started again. */
  readonly program?: URL;
  readonly restMs?: number;
}

/**
 * Makes forecasts in a process of their own. A forecast delays no review but its own dry run, and takes no memory from the
 * loop. A process that has ended is started again.
 */
export class Forecasts {
  readonly #options: ForecastsOptions;
  readonly #waiting = new Map<number, Waiting>();
  #process: ChildProcess | undefined;
  #rest: NodeJS.Timeout | undefined;
  #stopped = false;
  #last = 0;

  constructor(options: ForecastsOptions) {
    this.#options = options;
    this.#begin();
  }

  /** Returns warnings within this time. The promise never rejects, since a missing forecast must not fail a dry run. */
  ask(question: ForecastQuestion, withinMs: number): Promise<readonly string[]> {
    const child = this.#process;
    if (child === undefined) return Promise.resolve([`${NONE}: it is begun anew in some seconds`]);
    let ofOne = 0;
    for (const { user } of this.#waiting.values()) if (user === question.user) ofOne += 1;
    if (ofOne >= MOST_OF_ONE || this.#waiting.size >= MOST_WAITING)
      return Promise.resolve([`${NONE}: too many are asked for at a time`]);
    const ms = Math.max(0, withinMs - RESERVE_MS);
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => settle([`${NONE} within ${(ms / 1000).toFixed(1)} s, the time of this request`]),
        ms,
      );
      const settle = (warnings: readonly string[]): void => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(warnings);
      };
      this.#waiting.set(id, { user: question.user, settle });
      // Only the fields that a plan reads are sent: sending all of a large object would take time for nothing.
      const object = trimmed(question.object);
      const asked: Asked = { ...question, object, id, until: Date.now() + ms };
      // An error of sending is ignored: if the process has ended, its `exit` event settles the question.
      child.send(asked, () => undefined);
    });
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#rest);
    this.#process?.kill('SIGKILL');
  }

  #begin(): void {
    const { setting, program } = this.#options;
    const child = fork(
      program ?? new URL(`./program${extname(import.meta.url)}`, import.meta.url),
      [JSON.stringify(setting)],
      {
        // The flags limit the heap of this process alone. The process ends when the heap is full.
        execArgv: [`--max-old-space-size=${HEAP_MIB}`, '--max-semi-space-size=4', '--v8-pool-size=0'],
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      },
    );
    this.#process = child;
    // The process must not keep Muster from ending.
    child.unref();
    child.channel?.unref();
    let ended = false;
    const end = (why: string): void => {
      if (ended) return;
      ended = true;
      this.#ended(why);
    };
    child.on('error', ({ message }) => end(message));
    child.on('exit', (code, signal) => end(`it ended with ${signal ?? `exit code ${code ?? ''}`}`));
    child.on('message', (said) => this.#hear(said as ForecastMessage));
  }

  #hear(said: ForecastMessage): void {
    if (said.what === 'forecast') this.#waiting.get(said.id)?.settle(said.warnings);
    else if (said.ready) this.#options.log.info('forecasts of preemption can be given');
    else this.#options.log.warn({ reason: said.reason }, 'no forecasts of preemption');
  }

  #ended(why: string): void {
    this.#process = undefined;
    for (const { settle } of [...this.#waiting.values()]) settle([`${NONE}: ${why}`]);
    if (this.#stopped) return;
    const { log, restMs = REST_MS } = this.#options;
    log.error({ reason: why, againInMs: restMs }, 'the process of the forecasts has ended');
    this.#rest = setTimeout(() => this.#begin(), restMs);
    this.#rest.unref();
  }
}
