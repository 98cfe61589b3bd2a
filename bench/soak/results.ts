import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Blamed } from './failures.ts';
import type { Kind } from './schedule.ts';

/** Of a bucket of seconds; times in milliseconds, null where nothing was measured. */
export interface Sample {
  /** Seconds from the start of the load. */
  readonly at: number;
  readonly created: number;
  readonly createP50: number | null;
  readonly createP99: number | null;
  readonly released: number;
  readonly releaseP50: number | null;
  readonly releaseP99: number | null;
  /** Gangs that are complete and not released, and the age of the oldest. */
  readonly waiting: number;
  readonly waitingLongest: number;
  /** MiB of each replica that runs. */
  readonly memory: readonly number[];
  readonly failed: Readonly<Partial<Record<Blamed, number>>>;
}

export interface Event {
  readonly kind: Kind;
  /** Seconds from the start of the load. */
  readonly begun: number;
  readonly ended: number;
  /** What was seen of it, such as how long it took. */
  readonly note: string;
}

export interface Cause {
  readonly blamed: Blamed;
  readonly cause: string;
  readonly times: number;
}

export interface Goal {
  readonly name: string;
  readonly found: number;
  /** Some of what was found. */
  readonly examples: readonly string[];
}

/** What `npm run soak` writes: the table and the picture of docs/reliability.md are made from it. */
export interface SoakResults {
  readonly date: string;
  readonly commit: string;
  readonly node: string;
  readonly kubernetes: string;
  readonly machine: string;
  /** Processors that computed for somebody else when it began. */
  readonly elsewhere: number;
  readonly seed: number;
  readonly seconds: number;
  readonly rate: number;
  readonly nodes: number;
  /** Commit of the other checkout; undefined: there was no rollback and upgrade. */
  readonly other?: string;
  readonly gangs: number;
  readonly pods: number;
  readonly podsEnded: number;
  readonly gangsReleased: number;
  /** Seconds from the end of the load until nothing was left. */
  readonly emptyAfter: number;
  readonly overall: Readonly<Record<'createP50' | 'createP99' | 'releaseP50' | 'releaseP99', number>>;
  /** Of a replica, MiB. */
  readonly memoryMost: number;
  /** Answers to the clients of the overload. */
  readonly overloaded: Readonly<Record<string, number>>;
  readonly goals: readonly Goal[];
  readonly failures: readonly Cause[];
  readonly events: readonly Event[];
  /** Seconds of a sample. */
  readonly bucket: number;
  readonly samples: readonly Sample[];
}

/** Goals that were missed, each as a sentence. */
export const missed = ({ goals }: SoakResults): string[] =>
  goals.filter(({ found }) => found > 0).map(({ name, found }) => `${name}: ${found}, and it has to be 0`);

/** The run whose figures are in docs/reliability.md. */
export const RECORDED = join(import.meta.dirname, 'recorded.json');
export const readSoak = (): SoakResults => JSON.parse(readFileSync(RECORDED, 'utf8')) as SoakResults;
