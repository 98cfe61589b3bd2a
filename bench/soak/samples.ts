import { quantile } from '../measure/interval.ts';
import { rssMiBOf } from '../measure/process-usage.ts';
import { blamed, causeOf, type Blamed, type Done } from './failures.ts';
import type { Ledger } from './ledger.ts';
import type { Attempt } from './load.ts';
import type { Cause, Sample } from './results.ts';

interface Second {
  readonly memory: readonly number[];
  readonly waiting: number;
  readonly waitingLongest: number;
}

/** No more points than a picture can show. */
const MOST_SAMPLES = 240;

/** What was measured, second by second, from the start of the load. */
export class Samples {
  readonly #started = performance.now();
  readonly #ledger: Ledger;
  readonly #pids: () => readonly number[];
  readonly #attempts: Attempt[] = [];
  readonly #seconds: Second[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(ledger: Ledger, pids: () => readonly number[]) {
    this.#ledger = ledger;
    this.#pids = pids;
    this.#timer = setInterval(() => this.#look(), 1_000);
  }

  take(attempt: Attempt): void {
    this.#attempts.push(attempt);
  }

  /** Seconds since the start. */
  at(time = performance.now()): number {
    return (time - this.#started) / 1000;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const { gangs, longestMs } = this.#ledger.waiting(performance.now());
    // One that has just ended, or is about to begin, has no memory.
    const memory = this.#pids().flatMap((pid) => {
      try {
        return [Math.round(rssMiBOf(pid))].filter((mib) => mib > 0);
      } catch {
        return [];
      }
    });
    this.#seconds.push({ memory, waiting: gangs, waitingLongest: Math.round(longestMs) });
  }

  /** The last seconds in words, for whoever watches. */
  recently(): string {
    const since = performance.now() - 10_000;
    const recent = this.#attempts.filter(({ ended }) => ended > since);
    const released = this.#ledger.releases.filter(({ at }) => at > since).map(({ lagMs }) => lagMs);
    const last = this.#seconds.at(-1);
    const create = took(recent);
    return (
      `${this.at().toFixed(0)} s: ${recent.length / 10} creations a second, p50 ${ms(quantile(create, 0.5))} p99 ${ms(quantile(create, 0.99))}; ` +
      `release p50 ${ms(quantile(released, 0.5))} p99 ${ms(quantile(released, 0.99))}, ${last?.waiting ?? 0} gangs wait; ` +
      `memory ${last?.memory.join(' ') ?? ''} MiB; ${this.#attempts.filter(({ failure }) => failure !== undefined).length} failed so far`
    );
  }

  overall(): { createP50: number; createP99: number; releaseP50: number; releaseP99: number } {
    const create = took(this.#attempts);
    const release = this.#ledger.releases.map(({ lagMs }) => lagMs);
    return {
      createP50: rounded(quantile(create, 0.5)) ?? 0,
      createP99: rounded(quantile(create, 0.99)) ?? 0,
      releaseP50: rounded(quantile(release, 0.5)) ?? 0,
      releaseP99: rounded(quantile(release, 0.99)) ?? 0,
    };
  }

  memoryMost(): number {
    return Math.max(0, ...this.#seconds.flatMap(({ memory }) => memory));
  }

  /** Failures by whom they are counted to and by cause, most first. */
  causes(done: readonly Done[]): Cause[] {
    const causes = new Map<string, Cause>();
    for (const attempt of this.#attempts) {
      if (attempt.failure === undefined) continue;
      const [who, cause] = [blamed(attempt, done), causeOf(attempt.failure)];
      const key = `${who} ${cause}`;
      causes.set(key, { blamed: who, cause, times: (causes.get(key)?.times ?? 0) + 1 });
    }
    return [...causes.values()].sort((a, b) => b.times - a.times);
  }

  /** Failures that nothing excuses, with when they came. */
  inexcusable(done: readonly Done[]): string[] {
    return this.#attempts
      .filter((attempt) => attempt.failure !== undefined && blamed(attempt, done) === 'Muster')
      .map(({ begun, ended, failure = '' }) => {
        const [from, to] = [this.at(begun), this.at(ended)].map((at) => at.toFixed(1));
        return `${from} to ${to} s: ${causeOf(failure)}`;
      });
  }

  /** All of it in buckets of as many seconds. */
  inBuckets(done: readonly Done[]): { bucket: number; samples: Sample[] } {
    const bucket = Math.max(1, Math.ceil(this.#seconds.length / MOST_SAMPLES));
    const count = Math.ceil(this.#seconds.length / bucket);
    const index = (time: number): number => Math.floor(this.at(time) / bucket);
    const attempts = grouped(this.#attempts, ({ ended }) => index(ended));
    const releases = grouped(this.#ledger.releases, ({ at }) => index(at));
    const samples = Array.from({ length: count }, (_, number) => {
      const tries = attempts.get(number) ?? [];
      const create = took(tries);
      const release = (releases.get(number) ?? []).map(({ lagMs }) => lagMs);
      const seconds = this.#seconds.slice(number * bucket, (number + 1) * bucket);
      const failed: Partial<Record<Blamed, number>> = {};
      for (const attempt of tries.filter(({ failure }) => failure !== undefined)) {
        const who = blamed(attempt, done);
        failed[who] = (failed[who] ?? 0) + 1;
      }
      return {
        at: number * bucket,
        created: create.length,
        createP50: rounded(quantile(create, 0.5)),
        createP99: rounded(quantile(create, 0.99)),
        released: release.length,
        releaseP50: rounded(quantile(release, 0.5)),
        releaseP99: rounded(quantile(release, 0.99)),
        waiting: Math.max(...seconds.map(({ waiting }) => waiting)),
        waitingLongest: Math.max(...seconds.map(({ waitingLongest }) => waitingLongest)),
        memory: seconds.at(-1)?.memory ?? [],
        failed,
      };
    });
    return { bucket, samples };
  }
}

/** Milliseconds of the tries that went well. */
const took = (attempts: readonly Attempt[]): number[] =>
  attempts.flatMap(({ begun, ended, failure }) => (failure === undefined ? [ended - begun] : []));

const rounded = (value: number): number | null => (Number.isFinite(value) ? Math.round(value) : null);
const ms = (value: number): string => `${rounded(value) ?? '–'} ms`;

function grouped<T>(all: readonly T[], by: (one: T) => number): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const one of all) {
    const group = groups.get(by(one));
    if (group === undefined) groups.set(by(one), [one]);
    else group.push(one);
  }
  return groups;
}
