import { parseArgs } from 'node:util';
import { scenarios } from './scenarios.ts';

export const USAGE = `npm run bench -- [options]

  --rounds N    interleaved rounds per scenario (5); odd numbers make the better medians
  --seconds N   length of a measured window (4)
  --only LIST   some of: ${[...scenarios.map(({ id }) => id), 'growth'].join(',')}
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
}

export interface BenchOptions {
  readonly rounds: number;
  /** Ids of scenarios, and `growth`. */
  readonly only: ReadonlySet<string>;
  readonly json?: string;
  readonly quick: boolean;
  readonly help: boolean;
  readonly timing: Timing;
}

/** @returns what is wrong with the command line, where something is */
export function optionsFrom(argv: readonly string[]): BenchOptions | string {
  try {
    const { values } = parseArgs({
      args: [...argv],
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
    return {
      rounds: Math.ceil(positive('--rounds', values.rounds ?? (quick ? '1' : '5'))),
      only: selection(values.only),
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

function selection(list: string | undefined): Set<string> {
  const known = [...scenarios.map(({ id }) => id), 'growth'];
  const chosen = new Set(list?.split(',') ?? known);
  for (const id of chosen) {
    if (!known.includes(id)) throw new Error(`--only ${id}: one of ${known.join(', ')} is needed`);
  }
  return chosen;
}
