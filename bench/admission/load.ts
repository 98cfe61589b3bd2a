// The load generator, a process of its own so that it can have a core of its own. It lets the servers take turns, a
// slice of some tenths of a second each, and reads what CPU time each turn took. Any wrong answer ends it with code 1.
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';
import { plainMean, quantile } from '../measure/interval.ts';
import { fineCpuMicrosOf, rssMiBOf } from '../measure/process-usage.ts';
import type { Contender, Contest, ContestResult, Slice } from './contest.ts';
import { Lane, type Target } from './lane.ts';

/** After the last turn: what a server still has to do then is of it, too. */
const AFTERWARDS_MS = 300;

const contest = JSON.parse(process.argv[2] ?? '') as Contest;
const secureContext = createSecureContext({
  ca: readFileSync(contest.caFile),
  minVersion: 'TLSv1.3',
  // The suite that a Go client and a Go server agree on, so that all servers encrypt with the same.
  ciphers: 'TLS_AES_128_GCM_SHA256',
});

/** Turns whose reviews give one p99 together. */
const TURNS_OF_P99 = 5;

/** A slice whose CPU time is not known before the next begins. */
type Turn = Omit<Slice, 'cpuMicros'> & { readonly from: number };

/** Of one contender. */
interface Taken {
  readonly side: Side;
  reviews: number;
  /** The turn whose CPU time is not known yet. */
  readonly turns: Turn[];
  readonly slices: Slice[];
  /** Milliseconds of each review, by turn. */
  readonly waits: (readonly number[])[];
}

class Side {
  readonly name: string;
  readonly every: number;
  readonly #pid: number;
  readonly #lanes: readonly Lane[];
  /** Milliseconds of each review of the last turn. */
  waits: number[] = [];
  #left = 0;
  #open = 0;
  #over: (() => void) | undefined;
  #failed: ((error: Error) => void) | undefined;

  constructor({ name, port, pid, every, own: { body, patch } = contest }: Contender) {
    this.name = name;
    this.every = every;
    this.#pid = pid;
    const target: Target = {
      port,
      secureContext,
      mode: contest.mode,
      answered: (lane, ms) => this.#answered(lane, ms),
      failed: (error) => this.#failed?.(new Error(`${name}: ${error.message}`, { cause: error })),
    };
    this.#lanes = Array.from({ length: contest.connections }, (_, at) => new Lane(target, body, at, patch));
  }

  get cpuMicros(): number {
    return fineCpuMicrosOf(this.#pid);
  }

  get rssMiB(): number {
    return rssMiBOf(this.#pid);
  }

  /** `reviews` over all lanes, until the last answer is there: nothing of it is under way when the next one begins. */
  async turn(round: number, reviews: number): Promise<Turn> {
    const from = this.cpuMicros;
    const since = performance.now();
    this.waits = [];
    this.#left = reviews - this.#lanes.length;
    this.#open = this.#lanes.length;
    await new Promise<void>((resolve, reject) => {
      this.#over = resolve;
      this.#failed = reject;
      for (const lane of this.#lanes) lane.send();
    });
    return { round, reviews, ms: performance.now() - since, p50: quantile(this.waits, 0.5), from };
  }

  #answered(lane: Lane, ms: number): void {
    this.waits.push(ms);
    if (this.#left > 0) {
      this.#left -= 1;
      lane.send();
      return;
    }
    this.#open -= 1;
    if (this.#open === 0) this.#over?.();
  }
}

/** How many reviews make a slice, found on the way through the warm-up. */
async function warmUp(side: Side): Promise<number> {
  if (contest.reviews !== undefined) return contest.reviews;
  let reviews = contest.connections;
  let micros = 0;
  for (const from = side.cpuMicros; micros < contest.warmUpMs * 1000 || micros === 0;) {
    const before = side.cpuMicros;
    await side.turn(-1, reviews);
    micros = side.cpuMicros - from;
    const each = (side.cpuMicros - before) / reviews;
    reviews = Math.max(contest.connections, Math.round((contest.sliceMs * 1000) / each));
  }
  return reviews;
}

async function measure(): Promise<ContestResult> {
  const sides: Taken[] = [];
  for (const contender of contest.contenders) {
    const side = new Side(contender);
    sides.push({ side, reviews: await warmUp(side), turns: [], slices: [], waits: [] });
  }
  // Those who are compared turn by turn have equally many in a turn: a shorter one is colder from its first review to its last.
  const close = sides.filter(({ side }) => side.every === 1);
  const equal = Math.round(plainMean(close.map(({ reviews }) => reviews)));
  for (const one of close) one.reviews = equal;
  const settle = ({ side, turns, slices }: Taken): void => {
    const turn = turns.pop();
    if (turn === undefined) return;
    const { from, ...rest } = turn;
    slices.push({ ...rest, cpuMicros: (side.cpuMicros - from) / turn.reviews });
  };
  for (let round = 0; round < contest.rounds; round += 1) {
    for (const one of round % 2 === 0 ? sides : sides.toReversed()) {
      if (round % one.side.every !== 0) continue;
      settle(one);
      one.turns.push(await one.side.turn(round, one.reviews));
      one.waits.push(one.side.waits);
      // Else the same one would always have its turn beside what the slow one still does.
      if (one.side.every > 1) await delay(AFTERWARDS_MS);
    }
  }
  await delay(AFTERWARDS_MS);
  sides.forEach(settle);
  return {
    slices: Object.fromEntries(sides.map(({ side, slices }) => [side.name, slices])),
    p99s: Object.fromEntries(sides.map(({ side, waits }) => [side.name, p99sOf(waits)])),
    rss: Object.fromEntries(sides.map(({ side }) => [side.name, side.rssMiB])),
  };
}

function p99sOf(turns: readonly (readonly number[])[]): number[] {
  const samples = Math.ceil(turns.length / TURNS_OF_P99);
  return Array.from({ length: samples }, (_, at) =>
    quantile(turns.slice(at * TURNS_OF_P99, (at + 1) * TURNS_OF_P99).flat(), 0.99),
  );
}

let finished = false;

/**
 * Keeps the generator from ever falling asleep. A client that sleeps has to be woken by whoever answers it, with an
 * interrupt to the other core that is charged to the server: some 8 µs a review here, and only to servers that are slow
 * enough for the client to run out of work.
 */
function stayAwake(): void {
  if (!finished) setImmediate(stayAwake);
}

stayAwake();
const result = await measure();
finished = true;
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
