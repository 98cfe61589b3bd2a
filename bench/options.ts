import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { SCENARIOS, type AdmissionTiming } from './admission/admission.ts';
import type { GrowthTiming } from './admission/growth.ts';
import type { RestedTiming } from './admission/rested.ts';
import type { ApiServerTiming } from './api-server/api-server.ts';
import { BACKEND_PARTS, type BackendTiming } from './backends/backends.ts';
import { FAR_PARTS } from './far/far.ts';
import type { FarTiming } from './far/report.ts';
import { FLEET_PARTS, type FleetTiming } from './fleet/fleet.ts';
import { HOSTILE_PARTS } from './hostile/hostile.ts';
import type { HostileTiming } from './hostile/scenario.ts';
import { LARGE_PARTS, type LargeTiming } from './loop/large.ts';
import { LOOP_PARTS } from './loop/loop.ts';
import type { LoopTiming } from './loop/loop-figures.ts';
import { PLAN_PARTS, type PlanTiming } from './plan/plan.ts';
import type { ReviewTiming } from './review/review.ts';
import type { WorkloadTiming } from './workloads/workloads.ts';

/** The stages, and the parts of each that can be asked for alone. */
const STAGES: Readonly<Record<string, readonly string[]>> = {
  admission: SCENARIOS.map(({ id }) => id),
  labelled: ['labelled'],
  rested: ['rested'],
  growth: ['growth'],
  'api-server': ['api-server'],
  review: ['review'],
  loop: LOOP_PARTS,
  far: FAR_PARTS,
  workloads: ['workloads'],
  backends: BACKEND_PARTS,
  hostile: HOSTILE_PARTS,
  plan: PLAN_PARTS,
  fleet: FLEET_PARTS,
  hpc: ['hpc'],
  large: LARGE_PARTS,
};
const PARTS = Object.values(STAGES).flat();
/** Without those that are measured only where they are named. */
const USUAL_PARTS = PARTS.filter((part) => !LARGE_PARTS.some((large) => large === part));

export const partsOf = (stage: string): readonly string[] => STAGES[stage] ?? [];

export interface Timing {
  readonly admission: AdmissionTiming;
  readonly labelled: AdmissionTiming;
  readonly rested: RestedTiming;
  readonly growth: GrowthTiming;
  readonly apiServer: ApiServerTiming;
  readonly review: ReviewTiming;
  readonly loop: LoopTiming;
  readonly large: LargeTiming;
  readonly far: FarTiming;
  readonly workloads: WorkloadTiming;
  readonly backends: BackendTiming;
  readonly hostile: HostileTiming;
  readonly plan: PlanTiming;
  readonly fleet: FleetTiming;
  readonly hpc: AdmissionTiming;
}

export interface BenchOptions {
  readonly only: ReadonlySet<string>;
  /** undefined: nothing that is worth keeping. */
  readonly json?: string;
  readonly against?: string;
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
        starts: { type: 'string' },
        slice: { type: 'string' },
        only: { type: 'string' },
        against: { type: 'string' },
        json: { type: 'string' },
        quick: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    const { quick, help, json, against, rounds } = values;
    const timing = quick ? QUICK : USUAL;
    const { admission, loop, hostile, hpc } = timing;
    const asAsked = (usual: AdmissionTiming): AdmissionTiming => ({
      ...usual,
      starts: positive('--starts', values.starts) ?? usual.starts,
      rounds: positive('--rounds', rounds) ?? usual.rounds,
      sliceMs: positive('--slice', values.slice) ?? usual.sliceMs,
    });
    return {
      only: selection(positionals, values.only),
      quick,
      help,
      ...(json !== undefined || !quick ? { json: json ?? 'bench/results.json' } : {}),
      ...(against === undefined ? {} : { against: resolve(against, 'dist') }),
      timing: {
        ...timing,
        admission: asAsked(admission),
        hpc: asAsked(hpc),
        loop: { ...loop, rounds: positive('--rounds', rounds) ?? loop.rounds },
        hostile: {
          ...hostile,
          attacks: { ...hostile.attacks, rounds: positive('--rounds', rounds) ?? hostile.attacks.rounds },
          floods: { ...hostile.floods, rounds: positive('--rounds', rounds) ?? hostile.floods.rounds },
        },
      },
    };
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

function positive(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!(value > 0)) throw new Error(`${flag} ${text}: a number above 0 is needed`);
  return Math.ceil(value);
}

function selection(stages: readonly string[], list: string | undefined): Set<string> {
  for (const name of stages) {
    if (STAGES[name] === undefined)
      throw new Error(`${name}: one of ${Object.keys(STAGES).join(', ')} is needed`);
  }
  const named = [...stages.flatMap(partsOf), ...(list?.split(',') ?? [])];
  for (const id of named) {
    if (!PARTS.includes(id)) throw new Error(`--only ${id}: one of ${PARTS.join(', ')} is needed`);
  }
  return new Set(named.length === 0 ? USUAL_PARTS : named);
}

const QUICK: Timing = {
  admission: { starts: 1, rounds: 4, sliceMs: 20, firstWarmUpMs: 50, warmUpMs: 50 },
  labelled: { starts: 1, rounds: 4, sliceMs: 20, firstWarmUpMs: 50, warmUpMs: 0 },
  rested: { rests: 2, restMs: 500, sliceMs: 20, warmUpMs: 50, slices: 2, reviews: 32 },
  growth: { warmUp: 1000, reviews: 5000, settleMs: 100 },
  apiServer: { rounds: 4, pods: 8 },
  review: { pods: 500, rounds: 2 },
  loop: {
    rounds: 2,
    warmUp: { rounds: 1, shape: { gangs: 1, podsPerGang: 8 } },
    one: { gangs: 1, podsPerGang: 50 },
    many: { gangs: 5, podsPerGang: 8 },
    podsFirst: { gangs: 2, podsPerGang: 8 },
    memory: { shape: { gangs: 25, podsPerGang: 8 }, settleMs: 1000, restarts: 1 },
  },
  large: {
    'large-100000': { shape: { gangs: 50, podsPerGang: 8 }, settleMs: 1000, restarts: 2 },
    'large-200000': { shape: { gangs: 100, podsPerGang: 8 }, settleMs: 1000, restarts: 1 },
  },
  far: { rounds: 1, shape: { gangs: 5, podsPerGang: 8 }, thousand: { gangs: 10, podsPerGang: 8 } },
  workloads: { shapes: [{ jobs: 1, pods: 8 }] },
  backends: { prepare: { rounds: 20, decisions: 100 }, module: { rounds: 5, reviews: 96 }, gangs: 50 },
  hostile: {
    attacks: { rounds: 1, roundMs: 500 },
    floods: { rounds: 1, roundMs: 1000 },
    settleMs: 200,
  },
  plan: {
    nodes: [10, 100],
    rounds: 2,
    reviews: { starts: 2, rounds: 4, sliceMs: 20, firstWarmUpMs: 50, warmUpMs: 0 },
  },
  fleet: { clusters: 20, bindings: 100, waiting: 5 },
  hpc: { starts: 1, rounds: 4, sliceMs: 20, firstWarmUpMs: 50, warmUpMs: 0 },
};

const USUAL: Timing = {
  admission: { starts: 4, rounds: 20, sliceMs: 100, firstWarmUpMs: 15_000, warmUpMs: 500 },
  labelled: { starts: 6, rounds: 20, sliceMs: 100, firstWarmUpMs: 4000, warmUpMs: 0 },
  rested: { rests: 6, restMs: 40_000, sliceMs: 100, warmUpMs: 6000, slices: 5, reviews: 304 },
  growth: { warmUp: 400_000, reviews: 1_000_000, settleMs: 1500 },
  apiServer: { rounds: 40, pods: 16 },
  review: { pods: 17_770, rounds: 3 },
  loop: {
    rounds: 8,
    warmUp: { rounds: 8, shape: { gangs: 100, podsPerGang: 8 } },
    one: { gangs: 1, podsPerGang: 1000 },
    many: { gangs: 100, podsPerGang: 8 },
    podsFirst: { gangs: 20, podsPerGang: 8 },
    memory: { shape: { gangs: 2500, podsPerGang: 8 }, settleMs: 20_000, restarts: 1 },
  },
  large: {
    'large-100000': { shape: { gangs: 12_500, podsPerGang: 8 }, settleMs: 20_000, restarts: 6 },
    'large-200000': { shape: { gangs: 25_000, podsPerGang: 8 }, settleMs: 20_000, restarts: 6 },
  },
  far: { rounds: 3, shape: { gangs: 100, podsPerGang: 8 }, thousand: { gangs: 1000, podsPerGang: 8 } },
  workloads: {
    shapes: [
      { jobs: 10, pods: 8 },
      { jobs: 5, pods: 100 },
    ],
  },
  backends: { prepare: { rounds: 400, decisions: 500 }, module: { rounds: 40, reviews: 480 }, gangs: 250 },
  hostile: {
    attacks: { rounds: 10, roundMs: 2000 },
    floods: { rounds: 4, roundMs: 8000 },
    settleMs: 700,
  },
  plan: {
    nodes: [10, 100, 1000, 5000],
    rounds: 5,
    reviews: { starts: 6, rounds: 40, sliceMs: 100, firstWarmUpMs: 4000, warmUpMs: 0 },
  },
  fleet: { clusters: 1_000, bindings: 10_000, waiting: 100 },
  hpc: { starts: 4, rounds: 20, sliceMs: 100, firstWarmUpMs: 4000, warmUpMs: 0 },
};

export const USAGE = `npm run bench -- [${Object.keys(STAGES).join('] [')}] [options]

  --rounds N     interleaved rounds, per start of the servers for reviews (${USUAL.admission.rounds}), of the loop (${USUAL.loop.rounds}), of attacks (${USUAL.hostile.attacks.rounds}),
                 of floods (${USUAL.hostile.floods.rounds})
  --starts N     how often the servers are started anew (${USUAL.admission.starts})
  --slice MS     CPU time of one server's turn (${USUAL.admission.sliceMs})
  --only LIST    some of: ${PARTS.join(',')}
  --against DIR  another checkout, built: its Muster takes part in the reviews, and is the one that is attacked
  --json FILE    where figures, intervals and tables go (bench/results.json)
  --quick        does it work at all: a few seconds, nothing is judged

A whole cluster, which takes longer than all of these: npm run bench -- cluster --help

Exit codes: 0 no goal that was measured is missed, 1 one is or a server answered wrongly, 2 wrong usage.`;
