/** What people may give to `review`, `validate`, `plan` and `hpc render`, in files and beside flags. */
import { VARIANTS } from '../../src/preemption/variants.ts';
import type { Random } from '../support/random.ts';
import { randomPodText } from '../support/random-pods.ts';
import { tree as configuration } from './configurations.ts';
import { gangTree, reviewText } from './objects.ts';
import { spoiltText } from './spoil.ts';
import { written, writtenOnce } from './yaml-text.ts';

/** An input: what follows `muster`, and the files of a folder in base64; `-` is read from standard input. */
export interface Input {
  readonly args: readonly string[];
  readonly files: Readonly<Record<string, string>>;
}
export const FOLDER = 'FOLDER';

/** What `plan` and `hpc render` read: a cluster or policies beside the gang. */
function besideGangs(random: Random): Input {
  const base64 = (bytes: Buffer): string => bytes.toString('base64');
  const output = random.chance(60) ? ['-o', random.pick(['json', 'yaml', 'text', 'x'] as const)] : [];
  if (random.chance(50)) {
    const texts = random.list(4, () => hpcObject(random));
    return {
      args: ['hpc', 'render', '-f', '-', ...output],
      files: { '-': base64(joined(texts, random)) },
    };
  }
  const cluster = JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'List' },
    items: random.list(12, () => clusterObject(random)),
  });
  const snapshot = random.chance(60)
    ? cluster
    : spoiltText(cluster, random, random.chance(70) ? ['items'] : []);
  const wanted = [gangTree(random), ...random.list(3, () => clusterObject(random))];
  const variant = random.chance(40) ? ['--variant', random.pick([...VARIANTS, 'x'] as const)] : [];
  return {
    args: ['plan', '-f', '-', '--snapshot', `${FOLDER}/cluster.json`, ...output, ...variant],
    files: { '-': base64(joined(wanted, random)), 'cluster.json': base64(Buffer.from(snapshot)) },
  };
}

const joined = (objects: readonly unknown[], random: Random): Buffer =>
  Buffer.concat(objects.flatMap((one) => [written(one, random), Buffer.from('\n---\n')]));

function clusterObject(random: Random): unknown {
  const name = random.pick<unknown>(['train', 'n1', 'n2', 'w0', '\u001b[31m', 5]);
  const amount = random.pick<unknown>(['4', '500m', '1e30', '-1', 'x', 7, null]);
  const kind = random.pick(['Node', 'Pod', 'PriorityClass', 'PodDisruptionBudget', 'PodGroup'] as const);
  if (kind === 'Node')
    return {
      apiVersion: 'v1',
      kind,
      metadata: { name },
      status: { allocatable: { cpu: amount, pods: '50' } },
    };
  if (kind === 'PriorityClass')
    return { apiVersion: 'scheduling.k8s.io/v1', kind, metadata: { name }, value: random.below(9) };
  const metadata = {
    ...{ name, namespace: 'ml', uid: `u${random.below(9)}` },
    labels: { 'grove.io/podgang': 'train', 'grove.io/podclique': 'worker' },
  };
  if (kind === 'PodDisruptionBudget')
    return {
      ...{ apiVersion: 'policy/v1', kind, metadata },
      spec: { selector: { matchLabels: metadata.labels }, minAvailable: amount },
      status: { disruptionsAllowed: random.pick<unknown>([0, 1, 'x']) },
    };
  if (kind === 'PodGroup')
    return {
      ...{ apiVersion: 'scheduling.k8s.io/v1alpha2', kind, metadata },
      spec: { schedulingPolicy: { gang: { minCount: random.pick<unknown>([1, 2, -1, 'x']) } } },
    };
  return {
    ...{ apiVersion: 'v1', kind, metadata },
    spec: {
      ...{ nodeName: random.pick<unknown>(['n1', 'n2', '', 'nowhere', 5]), priority: random.below(9) },
      containers: [{ name: 'main', image: 'x', resources: { requests: { cpu: amount } } }],
    },
  };
}

function hpcObject(random: Random): unknown {
  if (random.chance(30)) return gangTree(random);
  const metadata = { name: random.pick(['p', 'train']), namespace: random.pick<unknown>(['ml', 'other', 5]) };
  if (random.chance(50))
    return {
      ...{ apiVersion: 'scheduler.grove.io/v1alpha1', kind: 'PodGang' },
      metadata: {
        ...metadata,
        annotations: { 'muster.dev/hpc-policy': random.pick(['p', 'train', '\u001b[2J']) },
      },
      spec: {
        podgroups: [
          { name: 'worker', minReplicas: random.pick<unknown>([1, 4, 1e9, 'x']), podReferences: [] },
        ],
      },
    };
  const settings = { 'tasks-per-node': random.pick<unknown>(['2', 'x', '', 5, '$(id)']) };
  const spec = random.pick<unknown>([
    { hpc: { manager: 'flux', settings } },
    { hpc: { manager: '\u001b[2J' } },
    { torch: { procPerNode: random.pick<unknown>([2, 'auto', 'x']) } },
    null,
  ]);
  return { apiVersion: 'muster.dev/v1alpha1', kind: 'HPCPolicy', metadata, spec };
}

export function inputOf(random: Random): Input {
  if (random.chance(25)) return besideGangs(random);
  const verb = random.pick(['review', 'review', 'validate'] as const);
  const formats =
    verb === 'review'
      ? (['text', 'json', 'yaml', 'github', 'sarif', 'diff', 'nonsense'] as const)
      : (['text', 'json', 'github', 'sarif', 'yaml'] as const);
  const flags = [
    ...(random.chance(75) ? ['-o', random.pick(formats as readonly [string, ...string[]])] : []),
    ...(random.chance(20) ? ['--strict'] : []),
    ...(random.chance(15) ? ['-n', random.pick(['web', '', '\u001b[31m', 'kube-system'])] : []),
    ...(random.chance(10) ? ['--color', random.pick(['always', 'never', 'x'])] : []),
    ...(verb === 'review' && random.chance(15)
      ? ['--backend', random.pick(['kai-scheduler', 'volcano', 'x\u001b[2J'])]
      : []),
  ];
  const base64 = (text: Buffer | string): string => Buffer.from(text).toString('base64');
  if (random.chance(20)) {
    // A single sound object, written twice.
    const tree = object(random);
    const text = JSON.stringify(tree);
    if (/\p{Cc}|1e999/u.test(text))
      return { args: [verb, '-f', '-', ...flags], files: { '-': base64(text) } };
    return {
      args: [verb, '-f', '-', '-o', 'json'],
      files: { '-': base64(writtenOnce(tree, random, '1.1')), '-same': base64(text) },
    };
  }
  if (random.chance(60)) return { args: [verb, '-f', '-', ...flags], files: { '-': base64(stream(random)) } };
  const names = [
    'a.yaml',
    'b.json',
    'sub/c.yml',
    'sub/.hidden.yaml',
    'd.txt',
    '\u001b[31mred.yaml',
    'ü.yaml',
  ] as const;
  const files = Object.fromEntries(
    random.list(4, () => [random.pick(names), base64(stream(random))] as const),
  );
  const paths = random.chance(70)
    ? [FOLDER]
    : [FOLDER, `${FOLDER}/${random.pick(names)}`, `${FOLDER}/nowhere.yaml`, '-'].slice(
        0,
        1 + random.below(4),
      );
  return {
    args: [verb, ...paths.flatMap((path) => ['-f', path]), ...flags],
    files: { ...files, '-': base64(stream(random)) },
  };
}

/** Several documents one behind the other, some of them spoilt. */
function stream(random: Random): Buffer {
  const separators = ['\n---\n', '\n--- # x\n', '\n...\n---\n', '\n---\n---\n'] as const;
  const parts = Array.from({ length: 1 + random.below(3) }, () => written(object(random), random));
  return Buffer.concat(
    parts.flatMap((part, index) => (index === 0 ? [part] : [Buffer.from(random.pick(separators)), part])),
  );
}

function object(random: Random): unknown {
  const kind = random.below(10);
  if (kind <= 2) return gangTree(random);
  if (kind === 3) return JSON.parse(randomPodText(random)) as unknown;
  if (kind === 4) return pod(random);
  if (kind === 5) return configuration(random);
  if (kind === 6) return workload(random);
  if (kind === 7) return JSON.parse(reviewText(random).text) as unknown;
  if (kind === 8)
    return {
      apiVersion: 'v1',
      kind: random.pick(['List', 'PodList', 'ConfigMap']),
      items: random.list(3, () => object(random)),
      data: { 'config.yaml': writtenOnce(configuration(random), random), x: 'y' },
    };
  return random.pick<unknown>([
    null,
    [],
    5,
    'x',
    {},
    { kind: 'Pod' },
    { apiVersion: 'scheduler.grove.io/v1beta1', kind: 'PodGang' },
    { apiVersion: 'v1', kind: 'Podgang', metadata: { name: 'x' } },
  ]);
}

const pod = (random: Random): unknown => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: random.pick(['a', '\u001b[31m', 'x'.repeat(300), 5]),
    labels: {
      'grove.io/podgang': random.pick<unknown>(['train', 'A b', true, 5, '\u202e']),
      'grove.io/podclique': random.pick<unknown>(['leader', 'worker', '', 7]),
    },
  },
  spec: {
    containers: [{ name: 'main', image: 'x' }],
    schedulerName: random.pick(['default-scheduler', 'slurm', '']),
  },
});

const workload = (random: Random): unknown => ({
  apiVersion: random.pick([
    'apps/v1',
    'batch/v1',
    'jobset.x-k8s.io/v1alpha2',
    'leaderworkerset.x-k8s.io/v1',
    'kubeflow.org/v1',
  ]),
  kind: random.pick([
    'Deployment',
    'Job',
    'JobSet',
    'LeaderWorkerSet',
    'StatefulSet',
    'CronJob',
    'PyTorchJob',
  ]),
  metadata: { name: random.pick<unknown>(['work', '\u001b]0;x\u0007', null]) },
  spec: {
    replicas: random.pick<unknown>([1, 3, -1, '2', null]),
    template: pod(random),
    jobTemplate: { spec: { template: pod(random) } },
    replicatedJobs: [
      { name: 'a', replicas: 2, template: { spec: { parallelism: 2, template: pod(random) } } },
    ],
    leaderWorkerTemplate: {
      size: random.pick<unknown>([2, -1, 'x']),
      workerTemplate: pod(random),
      leaderTemplate: pod(random),
    },
  },
});
