import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCatalogue } from '../../src/errors.ts';
import { rules } from '../../src/api/rules.ts';
import type { Random } from '../support/random.ts';
import { randomPodText } from '../support/random-pods.ts';
import { muster, type Ran } from '../unit/cli/fake-io.ts';
import { tree as configuration } from './configurations.ts';
import { gangTree, reviewText } from './objects.ts';
import { spoiltText } from './spoil.ts';
import { inTime, must, mustBeClean, mustBeUnpolluted, type Target, type Trial } from './target.ts';
import { written, writtenOnce } from './yaml-text.ts';

/** An input: what follows `muster`, and the files of a folder in base64; `-` is read from standard input. */
interface Input {
  readonly args: readonly string[];
  readonly files: Readonly<Record<string, string>>;
}
const FOLDER = 'FOLDER';

/** YAML for `review`, `validate`, `plan` (with its snapshot) and `hpc render`: exit codes, words for a terminal, never a stack trace. */
export const documents: Target = {
  name: 'documents',
  share: 50,
  reaches: {
    of: 1_500,
    words: [
      'exit 0',
      'exit 1',
      'exit 2',
      'INPUT_UNREADABLE',
      'USAGE',
      'review json',
      'review yaml',
      'review sarif',
      'validate json',
      'validate github',
      'rule FieldType',
      'rule MinReplicasInvalid',
      'rule GangNameInvalid',
      'rule KindUnknown',
      'rule FieldUnknown',
      'same as JSON',
      'plan json',
      'hpc yaml',
      'SNAPSHOT_INVALID',
    ],
  },
  open: () => openDocuments(),
};

export async function openDocuments(run: typeof muster = muster): Promise<Trial> {
  const folder = await mkdtemp(join(tmpdir(), 'muster-fuzz-'));
  let count = 0;
  return {
    width: 1,
    make: (random) => Buffer.from(JSON.stringify(inputOf(random))),
    attempt: async (bytes) => {
      const { args, files } = JSON.parse(bytes.toString()) as Input;
      count += 1;
      const at = join(folder, String(count));
      await mkdir(join(at, 'sub'), { recursive: true });
      try {
        const { '-': stdin = '', ...named } = files;
        for (const [name, text] of Object.entries(named))
          await writeFile(join(at, name), Buffer.from(text, 'base64'));
        const given = args.map((arg) => arg.replace(FOLDER, at));
        const text = Buffer.from(stdin, 'base64').toString();
        const ran = await inTime(() => run(given, { stdin: text, isTerminal: count % 2 === 0, columns: 80 }));
        const words = judge(given, ran);
        mustBeUnpolluted();
        return [...words, ...(await sameAsJson(given, files, ran, run))];
      } finally {
        await rm(at, { recursive: true });
      }
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** What a terminal is told in colours. */
const COLOUR = /\u001b\[[0-9;]*m/g;

function judge(args: readonly string[], { code, out, err }: Ran): string[] {
  // `plan` has a fourth: it fits with preemption.
  must([0, 1, 2, ...(args[0] === 'plan' ? [4] : [])].includes(code), `the exit code ${code}`);
  const plain = out.replaceAll(COLOUR, '');
  const errors = err.replaceAll(COLOUR, '');
  mustBeClean(errors, 'standard error');
  must(
    !/^\s+at .+[:)]\d+|TypeError|RangeError|is not a function|Cannot read prop|\[object Object\]/m.test(
      errors,
    ),
    () => `a raw error: ${errors}`,
  );
  must(!/^error: /m.test(errors), () => `an error without a code: ${errors}`);
  must(errors.length < 1_000_000, 'standard error without end');
  const codes = [...errors.matchAll(/^error\[([A-Z_]+)\]: /gm)].map(([, found]) => found ?? '');
  must(
    codes.every((found) => Object.hasOwn(errorCatalogue, found)),
    `an error of no catalogue: ${codes.join()}`,
  );
  // A snapshot may have several faults, each with its own line.
  must(code !== 2 || new Set(codes).size === 1, () => `exit 2 without its error: ${errors}`);
  must(code !== 0 || codes.length === 0, () => `exit 0 with an error: ${errors}`);
  const found = [...plain.matchAll(/\[([A-Z][A-Za-z]+)\]|"rule(?:Id)?": "([A-Za-z_]+)"/g)].flatMap(
    ([, one, other]) => one ?? other ?? [],
  );
  const format = args[args.indexOf('-o') + 1] ?? '';
  if (codes[0] !== 'USAGE' && code !== 2) judgeOutput(args.includes('-o') ? format : 'text', plain);
  return [
    `exit ${code}`,
    ...codes,
    `${args[0]} ${args.includes('-o') ? format : 'text'}`,
    ...new Set(
      found
        .filter((rule) => Object.hasOwn(rules, rule) || /Unknown|Missing|Invalid/.test(rule))
        .map((rule) => `rule ${rule}`),
    ),
  ];
}

function judgeOutput(format: string, out: string): void {
  if (format === 'json' || format === 'sarif') {
    mustBeClean(out, 'the output');
    if (out !== '') JSON.parse(out);
  } else if (format !== 'yaml') mustBeClean(out, 'the output');
  must(
    !/undefined|\[object Object\]/.test(out.replaceAll(/"[^"\n]*"/g, '')),
    () => `the output: ${out.slice(0, 2_000)}`,
  );
}

/** A single text of one object says the same as the same object in JSON. */
async function sameAsJson(
  args: readonly string[],
  files: Input['files'],
  ran: Ran,
  run: typeof muster,
): Promise<string[]> {
  const same = files['-same'];
  if (same === undefined || ran.code === 2) return [];
  const other = await run(args, {
    stdin: Buffer.from(same, 'base64').toString(),
    isTerminal: false,
    columns: 80,
  });
  const decided = ({ out }: Ran): string => out.replaceAll(/"(line|column)": \d+,?\s*/g, '');
  must(
    other.code === ran.code && decided(other) === decided(ran),
    () => `as JSON: ${other.code} ${other.out}\n as YAML: ${ran.code} ${ran.out}`,
  );
  return ['same as JSON'];
}

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
  const variant = random.chance(40) ? ['--variant', random.pick(['kep', 'kube-1.36', 'x'] as const)] : [];
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

function inputOf(random: Random): Input {
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
