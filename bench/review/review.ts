import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { benchPod, gangName } from '../loop/objects.ts';
import { figure, short, type StageReport } from '../measure/figures.ts';
import { meanOf } from '../measure/interval.ts';

export interface ReviewTiming {
  readonly pods: number;
  readonly rounds: number;
}

const ROOT = join(import.meta.dirname, '..', '..');
const PODS_PER_GANG = 10;
const MAX_SECONDS = 4;

/** `muster review` of a file with many Pods, as a whole process: reading, deciding, printing. */
export function measureReview({ pods, rounds }: ReviewTiming, progress: (line: string) => void): StageReport {
  const folder = mkdtempSync(join(tmpdir(), 'muster-bench-review-'));
  try {
    const file = join(folder, 'pods.json');
    const items = Array.from({ length: pods }, (_, index) => plainPod(index));
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    const seconds: number[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const since = performance.now();
      const args = [join(ROOT, 'dist', 'src', 'main.js'), 'review', '-f', file];
      const { status, stdout, stderr } = spawnSync(process.execPath, args, {
        encoding: 'utf8',
        maxBuffer: 1 << 30,
      });
      seconds.push((performance.now() - since) / 1000);
      if (status !== 0 || !stdout.includes(gangName(0))) {
        throw new Error(`review ended with ${status}: ${stderr.slice(0, 500)} ${stdout.slice(0, 500)}`);
      }
      progress(`review: round ${round} of ${rounds}: ${short(seconds.at(-1) ?? null)} s`);
    }
    const name = `review of ${pods.toLocaleString('en')} Pods, s`;
    return { tables: {}, figures: [figure('review', name, meanOf(seconds), { most: MAX_SECONDS })] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A Pod as people write it, some half a KiB: the one of the reviews has what only an API server adds. */
function plainPod(index: number): object {
  const gang = Math.floor(index / PODS_PER_GANG);
  const { metadata } = benchPod('default', { gang, index: index % PODS_PER_GANG, contender: 'muster' });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: metadata.name, namespace: 'default', labels: metadata.labels },
    spec: {
      containers: [
        {
          name: 'worker',
          image: 'registry.example.com/serving/vllm:0.9.1',
          args: ['--model', '/models/llama', '--tensor-parallel-size', '8'],
          resources: { limits: { 'nvidia.com/gpu': '8' }, requests: { cpu: '16', 'nvidia.com/gpu': '8' } },
        },
      ],
    },
  };
}
