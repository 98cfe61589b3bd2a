import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { VARIANTS } from '../../src/preemption/units.ts';
import { figure, short, withInterval, type StageReport } from '../measure/figures.ts';
import { exactly, meanOf } from '../measure/interval.ts';
import { besideScheduler } from './beside-scheduler.ts';
import type { SizeCost } from './one-size.ts';
import type { PreviewCost } from './preview-memory.ts';

export interface PlanTiming {
  readonly nodes: readonly number[];
  readonly rounds: number;
}

const MOST_SECONDS = 1;
const MOST_MIB = 300;
const BESIDE_NODES = 200;
const PREVIEWED_PODS = 50_000;
const MOST_BYTES_A_POD = 1_024;

/** What a plan costs by the size of the cluster: ten Pods on each node, and a gang of 64 that needs whole nodes. */
export async function measurePlan(
  { nodes, rounds }: PlanTiming,
  progress: (line: string) => void,
): Promise<StageReport> {
  const figures = [];
  const rows = [['nodes', 'Pods', 'algorithm', 'victims', 'plan, ms', 'heap, MiB']];
  for (const size of nodes)
    for (const variant of VARIANTS) {
      const cost = costOf(size, variant, rounds);
      const time = meanOf(cost.milliseconds);
      rows.push([
        String(size),
        String(size * 10),
        variant,
        String(cost.victims),
        withInterval(time),
        short(cost.mib),
      ]);
      progress(`plan: ${size} nodes, ${variant}: ${short(time.value)} ms`);
      if (size !== Math.max(...nodes)) continue;
      const what = `gang of 64 among ${size.toLocaleString('en')} nodes, ${variant}`;
      const seconds = meanOf(cost.milliseconds.map((ms) => ms / 1000));
      figures.push(figure('plan', `${what}: plan, s`, seconds, { most: MOST_SECONDS }));
      figures.push(figure('plan', `${what}: heap, MiB`, exactly(cost.mib), { most: MOST_MIB }));
    }
  const { bytesAPod } = printed<PreviewCost>('preview-memory.ts', [String(PREVIEWED_PODS)]);
  const what = `forecasts: bytes a Pod, of ${PREVIEWED_PODS.toLocaleString('en')}, in their own process`;
  figures.push(figure('plan', what, exactly(bytesAPod), { most: MOST_BYTES_A_POD }));
  const { schedulerMs, planMs } = await besideScheduler(BESIDE_NODES, rounds);
  const single = `a Pod that preempts among ${BESIDE_NODES} nodes`;
  figures.push(figure('plan', `${single}: kube-scheduler’s PostFilter, ms`, exactly(schedulerMs)));
  figures.push(figure('plan', `${single}: plan, ms`, exactly(planMs)));
  figures.push(figure('plan', `${single}: plan to kube-scheduler`, exactly(planMs / schedulerMs)));
  return { tables: { plan: rows }, figures };
}

const costOf = (size: number, variant: string, rounds: number): SizeCost =>
  printed('one-size.ts', [String(size), variant, String(rounds)]);

/** What a program beside this one prints, in a process of its own. */
function printed<T>(program: string, args: readonly string[]): T {
  const script = join(import.meta.dirname, program);
  return JSON.parse(
    execFileSync(process.execPath, ['--expose-gc', script, ...args], { encoding: 'utf8' }),
  ) as T;
}
