import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../src/json/json.ts';
import { toYaml } from '../../src/cli/output/structured.ts';
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
const MAX_MIB = 250;
/** Of each Pod of a large file: 20,000 of them are 20 MB. */
const BYTES = 1_000;

/** The files that are reviewed: Pods as they are, and filled up to 20 MB as one JSON List and as YAML documents. */
function filesOf(pods: number): Readonly<Record<string, string>> {
  const list = (items: readonly object[]): string =>
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  const plain = Array.from({ length: pods }, (_, index) => plainPod(index));
  const filled = Array.from({ length: Math.round((pods * 20_000) / 17_770) }, (_, index) =>
    plainPod(index, BYTES),
  );
  const named = `${filled.length.toLocaleString('en')} Pods of a KB`;
  return {
    [`${pods.toLocaleString('en')} Pods`]: list(plain),
    [`${named}, a JSON List`]: list(filled),
    [`${named}, YAML documents`]: filled.map((pod) => `---\n${toYaml(pod)}`).join(''),
  };
}

/** `muster review` of a file with many Pods, as a whole process: reading, deciding, printing. */
export function measureReview({ pods, rounds }: ReviewTiming, progress: (line: string) => void): StageReport {
  const folder = mkdtempSync(join(tmpdir(), 'muster-bench-review-'));
  try {
    const figures = Object.entries(filesOf(pods)).flatMap(([name, text]) => {
      const file = join(folder, 'pods');
      writeFileSync(file, text);
      const all = Array.from({ length: rounds }, () => reviewed(file));
      const seconds = meanOf(all.map((one) => one.seconds));
      const mib = meanOf(all.map((one) => one.mib));
      progress(`review of ${name}: ${short(seconds.value)} s, ${short(mib.value)} MiB`);
      return [
        figure('review', `review of ${name}, s`, seconds, { most: MAX_SECONDS }),
        figure('review', `review of ${name}: most memory (RSS), MiB`, mib, { most: MAX_MIB }),
      ];
    });
    return { tables: {}, figures };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function reviewed(file: string): { readonly seconds: number; readonly mib: number } {
  const since = performance.now();
  const told = join(import.meta.dirname, 'tell-peak.ts');
  const args = ['--import', told, join(ROOT, 'dist', 'src', 'main.js'), 'review', '-f', file];
  const { status, output, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 30,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const seconds = (performance.now() - since) / 1000;
  if (status !== 0 || !stdout.includes(gangName(0)))
    throw new Error(`review ended with ${status}: ${stderr.slice(0, 500)} ${stdout.slice(0, 500)}`);
  return { seconds, mib: Number(output[3]) / 1024 };
}

/**
 * A Pod as people write it, some half a KiB: the one of the reviews has what only an API server adds.
 * @param bytes that it is filled up to, with an annotation
 */
function plainPod(index: number, bytes = 0): JsonObject {
  const gang = Math.floor(index / PODS_PER_GANG);
  const { metadata } = benchPod('default', { gang, index: index % PODS_PER_GANG, contender: 'muster' });
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: metadata.name, namespace: 'default', labels: metadata.labels ?? {} },
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
  const note = 'x'.repeat(Math.max(0, bytes - JSON.stringify(pod).length));
  return note === '' ? pod : { ...pod, metadata: { ...pod.metadata, annotations: { note } } };
}
