import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { VARIANTS } from '../../src/preemption/units.ts';
import { figure, short, withInterval, type StageReport } from '../measure/figures.ts';
import { exactly, meanOf } from '../measure/interval.ts';
import type { SizeCost } from './one-size.ts';

export interface PlanTiming {
  readonly nodes: readonly number[];
  readonly rounds: number;
}

const MOST_SECONDS = 1;
const MOST_MIB = 300;

/** What a plan costs by the size of the cluster: ten Pods on each node, and a gang of 64 that needs whole nodes. */
export function measurePlan({ nodes, rounds }: PlanTiming, progress: (line: string) => void): StageReport {
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
  return { tables: { plan: rows }, figures };
}

function costOf(size: number, variant: string, rounds: number): SizeCost {
  const script = join(import.meta.dirname, 'one-size.ts');
  const args = ['--expose-gc', script, String(size), variant, String(rounds)];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as SizeCost;
}
