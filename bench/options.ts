import { parseArgs } from 'node:util';
import { BACKEND_PARTS, type BackendTiming } from './backends.ts';
import { LOOP_PARTS, type LoopTiming } from './loop.ts';
import { scenarios } from './scenarios.ts';

/** What can be left out: scenarios of admission, its memory, and the parts of the others. */
const ADMISSION = [...scenarios.map(({ id }) => id), 'growth'];
/** Names of several. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  admission: ADMISSION,
  loop: LOOP_PARTS,
  backends: BACKEND_PARTS,
};
const PARTS = Object.values(GROUPS).flat();

export const USAGE = `npm run bench -- [admission] [loop] [backends] [options]

  --rounds N    interleaved rounds per scenario (5); odd numbers make the better medians
  --seconds N   length of a measured window (4)
  --only LIST   some of: ${PARTS.join(',')}
  --json FILE   every round as JSON
  --quick       does it work at all: a few seconds, nothing is judged

Exit codes: 0 every goal that was measured is reached, 1 one is not or a server answered wrongly, 2 wrong usage.`;

export interface Timing {
  /** Of the first window of a run: V8 goes on optimising for tens of thousands of reviews. */
  readonly firstWarmUpMs: number;
  /** Of one window before the rounds of every further scenario. */
  readonly warmUpMs: number;
  /** Of the same load before each window, for the load generator's. */
  readonly rampMs: number;
  readonly windowMs: number;
  /** Reviews before and in the memory test, and how long memory is watched without load. */
  readonly growth: { readonly warmUp: number; readonly reviews: number; readonly settleMs: number };
  readonly loop: LoopTiming;
  readonly backends: BackendTiming;
}

export interface BenchOptions {
  readonly rounds: number;
  /** Ids of scenarios, `growth`, and parts of the loop and of the backends. */
  readonly only: ReadonlySet<string>;
  readonly json?: string;
  readonly quick: boolean;
  readonly help: boolean;
  readonly timing: Timing;
}

/** @returns what is wrong with the command line, where something is */
export function optionsFrom(argv: readonly string[]): BenchOptions | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        rounds: { type: 'string' },
        seconds: { type: 'string' },
        only: { type: 'string' },
        json: { type: 'string' },
        quick: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    const { quick, help, json } = values;
    const windowMs = positive('--seconds', values.seconds ?? (quick ? '0.3' : '4')) * 1000;
    const rounds = Math.ceil(positive('--rounds', values.rounds ?? (quick ? '1' : '5')));
    return {
      rounds,
      only: selection(positionals, values.only),
      quick,
      help,
      ...(json === undefined ? {} : { json }),
      timing: {
        firstWarmUpMs: quick ? 100 : 10_000,
        warmUpMs: quick ? 100 : 2000,
        rampMs: quick ? 100 : 700,
        windowMs,
        growth: quick
          ? { warmUp: 1000, reviews: 5000, settleMs: 100 }
          : { warmUp: 100_000, reviews: 1_000_000, settleMs: 1500 },
        loop: loopTiming(rounds, quick),
        backends: quick
          ? { prepare: { rounds: 20, decisions: 100 }, gangs: 250 }
          : { prepare: { rounds: 400, decisions: 500 }, gangs: 1000 },
      },
    };
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

function positive(flag: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`${flag} ${text}: a number above 0 is needed`);
  return value;
}

function selection(groups: readonly string[], list: string | undefined): Set<string> {
  for (const name of groups) {
    if (GROUPS[name] === undefined)
      throw new Error(`${name}: one of ${Object.keys(GROUPS).join(', ')} is needed`);
  }
  const named = [...groups.flatMap((name) => GROUPS[name] ?? []), ...(list?.split(',') ?? [])];
  for (const id of named) {
    if (!PARTS.includes(id)) throw new Error(`--only ${id}: one of ${PARTS.join(', ')} is needed`);
  }
  return new Set(named.length === 0 ? PARTS : named);
}

const loopTiming = (rounds: number, quick: boolean): LoopTiming =>
  quick
    ? {
        rounds,
        warmUp: { gangs: 1, podsPerGang: 8 },
        one: { gangs: 1, podsPerGang: 50 },
        many: { gangs: 5, podsPerGang: 8 },
        podsFirst: { gangs: 2, podsPerGang: 8 },
        memory: { shape: { gangs: 25, podsPerGang: 8 }, settleMs: 1000 },
      }
    : {
        rounds,
        warmUp: { gangs: 10, podsPerGang: 20 },
        one: { gangs: 1, podsPerGang: 1000 },
        many: { gangs: 100, podsPerGang: 8 },
        podsFirst: { gangs: 20, podsPerGang: 8 },
        memory: { shape: { gangs: 2500, podsPerGang: 8 }, settleMs: 10_000 },
      };
