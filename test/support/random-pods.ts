import type { Json } from '../../src/json/json.ts';
import { BACKEND_CONTRACT_VERSION, type BackendFactory } from '../../src/backends/backend.ts';
import type { Random } from './random.ts';

const OUR_GATE = 'grove.io/podgang-pending-creation';
const KEYS = [
  'app',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'a/b',
  'a~b',
  '~1',
  '~0/~',
  '',
  'ключ',
  '😀',
  'a b',
  '0',
  '-',
  'kai.scheduler/podgang',
  'kai.scheduler/skip-podgrouper',
  'kai.scheduler/subgroup-name',
  'pod-group-name',
  'grove.io/base-podgang',
  'every/thing~ü',
  'every/label',
  'kubernetes.io/config.mirror',
] as const;
type Fields = readonly [key: string, json: string][];
/** As the API server fills them in. */
const PRIORITIES: readonly [Fields, ...Fields[]] = [
  [['priority', '0']],
  [['priorityClassName', 'null']],
  [
    ['priorityClassName', '""'],
    ['preemptionPolicy', '"Never"'],
  ],
  [
    ['priorityClassName', '"low"'],
    ['priority', '10'],
    ['preemptionPolicy', '"PreemptLowerPriority"'],
  ],
  [
    ['priorityClassName', '"high"'],
    ['priority', '1000'],
  ],
  [['priorityClassName', '"gone"']],
];
const VALUES = [
  '',
  'x',
  'train',
  'worker',
  'true',
  'ml.train',
  '__proto__',
  '\u0000\u202e',
  '😀',
  'a/b~c',
] as const;
/** What a reader of brackets might take for some. */
const ODD_TEXTS = ['', 'x', ']', '[', '"],"a', '}],', ',"env":[{"name', '\\', 'ü'] as const;
const SCHEDULERS = [
  'default-scheduler',
  '',
  'kai-scheduler',
  'grove-scheduler',
  'every-scheduler',
  'slurm',
] as const;
const GATES = ['a/b', 'kueue.x-k8s.io/admission', 'every/gate', OUR_GATE] as const;

/** A backend that uses the whole surface, with keys that need escaping. */
export const every: BackendFactory = {
  name: 'every',
  create: () => ({
    contractVersion: BACKEND_CONTRACT_VERSION,
    name: 'every',
    schedulerName: 'every-scheduler',
    patchSurface: {
      schedulerName: true,
      annotations: ['every/thing~ü', 'constructor'],
      labels: ['every/label', 'toString'],
      gates: ['every/gate'],
      schedulingGroup: true,
      workloadRef: true,
    },
    readsWholePods: true,
    init: () => Promise.resolve({ version: 'test' }),
    preparePod: (pod, gang, patch) => {
      patch.setSchedulerName('every-scheduler', 'a');
      // It looks into the containers, though it adds nothing to them.
      const names = pod.list('containers.env', 'second').map(({ name }) => name as string);
      patch.annotate('every/thing~ü', [gang.gang, ...names].join(), 'b');
      patch.annotate('constructor', gang.group, 'c');
      patch.label('every/label', gang.namespace, 'd');
      patch.label('toString', gang.baseGang ?? 'none', 'e');
      patch.addGate('every/gate', 'f');
      patch.setSchedulingGroup(`${gang.gang}-${gang.group}`, 'g');
      patch.setWorkloadRef({ name: gang.gang, podGroup: gang.group }, 'h');
    },
    validatePodGang: () => ({ faults: [], warnings: [] }),
    syncPodGang: () => Promise.resolve(),
    onPodGangDelete: () => Promise.resolve(),
  }),
};

/** Members in the order they are written; a name may come twice, as JSON allows. */
const objectText = (members: readonly (readonly [string, string])[]): string =>
  `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;

/** A map of strings as JSON text, so that `__proto__` becomes a member like any other. */
function mapText(random: Random, extra: readonly (readonly [string, string])[] = []): string {
  const members = [...random.list(5, () => [random.pick(KEYS), random.pick(VALUES)] as const), ...extra];
  return objectText(members.map(([key, value]) => [key, JSON.stringify(value)]));
}

/** A Pod as JSON text: nine in ten are gang Pods, most maps may be absent or null, one in a hundred is nonsense. */
export function randomPodText(random: Random): string {
  const labels: [string, string][] = [];
  if (random.chance(95)) labels.push(['grove.io/podgang', random.chance(97) ? 'train' : random.pick(VALUES)]);
  if (random.chance(97))
    labels.push(['grove.io/podclique', random.chance(90) ? 'worker' : random.pick(VALUES)]);
  if (random.chance(40)) {
    labels.push([
      'grove.io/scheduler-name',
      random.pick(['default-scheduler', 'kai-scheduler', 'grove-scheduler', 'every']),
    ]);
  }
  const metadata: [string, string][] = [
    ['name', '"p-0"'],
    ['labels', mapText(random, labels)],
  ];
  if (random.chance(60)) metadata.push(['annotations', random.chance(30) ? 'null' : mapText(random)]);
  if (random.chance(2))
    metadata.push([random.pick(['labels', 'annotations']), random.pick(['[]', '"x"', '{"a":1}'])]);

  const spec: [string, string][] = [[random.pick(KEYS), mapText(random)]];
  if (random.chance(80)) spec.push(['schedulerName', JSON.stringify(random.pick(SCHEDULERS))]);
  if (random.chance(2)) spec.push(['nodeName', JSON.stringify(random.pick(VALUES))]);
  if (random.chance(60)) spec.push(...random.pick(PRIORITIES));
  if (random.chance(50)) spec.push(['schedulingGates', gatesText(random)]);
  if (random.chance(20))
    spec.push(['schedulingGroup', random.pick(['null', '{}', '{"podGroupName":"train-worker"}'])]);

  if (random.chance(50)) spec.push(['containers', containersText(random)]);

  const members: [string, string][] = [
    [random.pick(KEYS), mapText(random)],
    ['metadata', objectText(metadata)],
  ];
  if (random.chance(97))
    members.push(['spec', random.chance(3) ? random.pick(['null', '[]', '1']) : objectText(spec)]);
  return objectText(members);
}

/** Two containers with an environment, in the order of an API server or not. */
function containersText(random: Random): string {
  const environment = (): string =>
    `[${random.list(4, () => `{"name":${JSON.stringify(random.pick(KEYS))},"value":${JSON.stringify(random.pick(ODD_TEXTS))}}`).join()}]`;
  const containers = ['first', 'second'].map((name) => {
    const fields: [string, string][] = [
      ['name', `"${name}"`],
      ['env', random.chance(5) ? random.pick(['null', '{}', '[1]']) : environment()],
      ['args', JSON.stringify(random.list(3, () => random.pick(ODD_TEXTS)))],
    ];
    return objectText(random.chance(50) ? fields : fields.reverse());
  });
  return `[${containers.join()}]`;
}

function gatesText(random: Random): string {
  if (random.chance(15)) return random.pick(['null', '[]', '{}']);
  const names = [...new Set(random.list(4, () => random.pick(GATES)))];
  return JSON.stringify(names.map((name): Json => ({ name })));
}
