import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { VARIANTS } from '../../src/preemption/variants.ts';
import { figure, short, withInterval, type Figure, type StageReport } from '../measure/figures.ts';
import { exactly, meanOf, type Estimate } from '../measure/interval.ts';
import type { AdmissionTiming } from '../admission/admission.ts';
import { besideScheduler } from './beside-scheduler.ts';
import { mindingOf, type Near } from './made-cluster.ts';
import type { SizeCost } from './one-size.ts';
import { measurePreviewCost } from './preview-cost.ts';
import type { ReadingCost } from './reading.ts';
import type { PreviewCost } from './preview-memory.ts';

export interface PlanTiming {
  readonly nodes: readonly number[];
  readonly rounds: number;
  /** Of ordinary reviews with forecasts on and off. */
  readonly reviews: AdmissionTiming;
}

/** The parts that can be asked for alone. */
export const PLAN_PARTS = [
  'plan-size',
  'plan-kinds',
  'plan-reading',
  'plan-memory',
  'plan-reviews',
  'plan-scheduler',
] as const;

/** Of so many Pod templates the gang is made. */
const SHAPES = [1, 4] as const;
const MOST_SECONDS = 1;
/** Where the gang minds who is near, or is minded. */
const MINDING = ['spread', 'anti-affinity'] as const;
const MOST_SECONDS_MINDING = 2;
/** Kinds of constraints that are measured once each, in the largest cluster. */
const KINDS = [
  'affinity',
  'apart by rack',
  'spread and ten preferences',
  'spread of 1,000 Pods',
  'a term of anti-affinity on each node',
  'a term of anti-affinity against others on each node',
  'required rack',
  'a required rack for each of 8 groups',
  'overdrawn budgets',
] as const;
const MOST_SECONDS_OF_A_KIND = 5;
/** Several plans are made until one keeps the budgets. */
const MOST_SECONDS_WITHIN_BUDGETS = 1;
const MOST_READING_SECONDS = { json: 1, yaml: 2 } as const;
const MOST_MIB = 300;
const BESIDE_NODES = 200;
const PREVIEWED_PODS = 50_000;
const MOST_BYTES_A_POD = 1_024;
/** An ordinary review with forecasts on, times one without. */
const MOST_FOR_REVIEWS = 1.01;

/**
 * What a plan costs by the size of the cluster: ten Pods on each node, and a gang of 64, of Pods that are alike and of several shapes,
 * that needs whole nodes, also where it matters who is near; what
 * forecasts keep in memory, and what they cost reviews that have none; and the planner beside kube-scheduler.
 */
export async function measurePlan(
  parts: ReadonlySet<string>,
  { nodes, rounds, reviews }: PlanTiming,
  progress: (line: string) => void,
): Promise<StageReport> {
  const figures: Figure[] = [];
  const goal = (name: string, estimate: Estimate, most?: number): void =>
    void figures.push(figure('plan', name, estimate, most === undefined ? undefined : { most }));
  const [rows, beside]: [string[][], string[][]] = [[], []];
  const notes: string[] = [];
  if (parts.has('plan-size')) {
    rows.push(['nodes', 'Pods', 'algorithm', 'victims', 'plan, ms', 'plan, ms of CPU', 'heap, MiB']);
    for (const size of nodes)
      for (const [variant, shapes] of VARIANTS.flatMap((one) =>
        SHAPES.map((count) => [one, count] as const),
      )) {
        const cost = costOf(size, variant, rounds, { shapes });
        const algorithm = shapes === 1 ? variant : `${variant}, ${shapes} shapes`;
        const time = meanOf(cost.milliseconds);
        rows.push([
          String(size),
          String(size * 10),
          algorithm,
          String(cost.victims),
          withInterval(time),
          withInterval(meanOf(cost.cpuMilliseconds)),
          short(cost.mib),
        ]);
        progress(`plan: ${size} nodes, ${algorithm}: ${short(time.value)} ms`);
        if (size !== Math.max(...nodes)) continue;
        const what = `gang of 64 among ${size.toLocaleString('en')} nodes, ${algorithm}`;
        goal(`${what}: plan, s`, meanOf(cost.milliseconds.map((ms) => ms / 1000)), MOST_SECONDS);
        goal(`${what}: heap, MiB`, exactly(cost.mib), MOST_MIB);
        if (shapes > 1) continue;
        for (const near of MINDING) {
          const minding = costOf(size, variant, rounds, { near });
          const { cpuMilliseconds } = minding;
          const [named, seconds] = [`plan with ${near}: ${what}`, cpuMilliseconds.map((ms) => ms / 1000)];
          goal(`${named}, s of CPU`, meanOf(seconds), MOST_SECONDS_MINDING);
          const times = cpuMilliseconds.map((ms, round) => ms / (cost.cpuMilliseconds[round] ?? NaN));
          goal(`${named}: CPU, times that of a gang that minds nobody`, meanOf(times));
          progress(
            `plan: ${size} nodes, ${variant}, ${near}: ${short(meanOf(cpuMilliseconds).value)} ms of CPU`,
          );
        }
      }
  }
  if (parts.has('plan-kinds'))
    for (const near of KINDS)
      for (const variant of VARIANTS) {
        const { gang, keepsBudgets, variants = VARIANTS } = mindingOf(near);
        if (!variants.includes(variant)) continue;
        const size = Math.max(...nodes);
        const { cpuMilliseconds } = costOf(size, variant, Math.min(rounds, 3), { near });
        const what = `plan with ${near}: gang of ${gang.toLocaleString('en')} among ${size.toLocaleString('en')} nodes, ${variant}, s of CPU`;
        const seconds = meanOf(cpuMilliseconds.map((ms) => ms / 1000));
        goal(what, seconds, keepsBudgets ? MOST_SECONDS_WITHIN_BUDGETS : MOST_SECONDS_OF_A_KIND);
        progress(`${what}: ${short(seconds.value)}`);
      }
  if (parts.has('plan-reading'))
    for (const [form, most] of Object.entries(MOST_READING_SECONDS)) {
      const { seconds } = printed<ReadingCost>('reading.ts', [form, String(rounds)]);
      goal(`plan: reading 20 MB${form === 'json' ? '' : ' of YAML documents'}, s`, meanOf(seconds), most);
      progress(`plan: reading 20 MB, ${form}: ${short(meanOf(seconds).value)} s`);
    }
  if (parts.has('plan-memory')) {
    const { bytesAPod } = printed<PreviewCost>('preview-memory.ts', [String(PREVIEWED_PODS)]);
    const what = `forecasts: bytes a Pod, of ${PREVIEWED_PODS.toLocaleString('en')}, in their own process`;
    goal(what, exactly(bytesAPod), MOST_BYTES_A_POD);
  }
  if (parts.has('plan-reviews')) {
    const { withForecasts, alike } = await measurePreviewCost(reviews, progress);
    goal('forecasts: CPU of a review without one, times that with them off', withForecasts, MOST_FOR_REVIEWS);
    goal('the same of two Musters with them off', alike);
    notes.push(`CPU of two Musters with forecasts off: ${withInterval(alike)} times each other’s`);
  }
  if (parts.has('plan-scheduler')) {
    beside.push(['who preempts, among 200 nodes', 'kube-scheduler, ms', 'plan, ms', 'ratio']);
    const measured = await besideScheduler(BESIDE_NODES, rounds);
    for (const [who, { schedulerMs, planMs }] of Object.entries(measured)) {
      const what = who === 'gang' ? 'a gang of 8 Pods' : 'a single Pod';
      beside.push([what, short(schedulerMs), short(planMs), short(planMs / schedulerMs)]);
      goal(`${what} among ${BESIDE_NODES} nodes: kube-scheduler, ms`, exactly(schedulerMs));
      goal(`${what} among ${BESIDE_NODES} nodes: plan, ms`, exactly(planMs));
    }
  }
  return { tables: { plan: rows, 'plan beside': beside }, figures, notes };
}

const costOf = (
  size: number,
  variant: string,
  rounds: number,
  { shapes = 1, near = 'nobody' }: { readonly shapes?: number; readonly near?: Near },
): SizeCost => printed('one-size.ts', [String(size), variant, String(shapes), String(rounds), near]);

/** What a program beside this one prints, in a process of its own. */
function printed<T>(program: string, args: readonly string[]): T {
  const script = join(import.meta.dirname, program);
  return JSON.parse(
    execFileSync(process.execPath, ['--expose-gc', script, ...args], { encoding: 'utf8' }),
  ) as T;
}
