import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ANNOTATION_FLEET_QUEUE, LABEL_FLEET_QUEUE, MUSTER_NAMESPACE } from '../src/api/names.ts';
import {
  ANNOTATION_MIN_AVAILABLE,
  ANNOTATION_STRATEGY,
  ANNOTATION_PLACED_COMPONENTS,
} from '../src/fleet/assign/binding-annotations.ts';
import { calledOnLoopback, manifestsIn } from '../test/support/manifests.ts';
import { job, volcanoJob } from './fleet-objects.ts';
import {
  addCluster,
  areQueued,
  areThrough,
  bindingOf,
  finish,
  isHeld,
  isPlaced,
  KARMADA_DEFINITIONS,
  placesOf,
  propagate,
  scheduledOf,
} from './karmada.ts';
import { NAMESPACE, yamlOf } from './objects.ts';
import type { Stage } from './stage.ts';

/** Muster as interpreter, as webhook and as scheduler of gangs. */
export const FLEET_SETTINGS = {
  fleet: { interpreter: true, assigner: { enabled: true }, queues: { enabled: true } },
};
/** The queue of all that name none: its capacity has no limit. */
const EVERYBODY = 'everybody';
const CLUSTERS = 'clusters.cluster.karmada.io';
const DIVIDED = { [ANNOTATION_STRATEGY]: 'gang-divided' };

/** What ships for Karmada's API server, and three clusters that report what they have. */
async function registered(stage: Stage): Promise<void> {
  const { plane, serving, tell } = stage;
  tell.scene(`Muster in Karmada's API server (Kubernetes ${plane.version} with Karmada's definitions)`);
  const apply = (objects: readonly unknown[]) =>
    plane.kubectl(['apply', '--server-side', '-f', '-'], { stdin: objects.map(yamlOf).join('---\n') });
  const folders = ['karmada', 'karmada/assigner', 'karmada/queues'];
  const shipped = calledOnLoopback(
    (await Promise.all(folders.map((folder) => manifestsIn(folder)))).flat(),
    serving.port,
    serving.ca,
  );
  const [definitions, others] = [true, false].map((wanted) =>
    shipped.filter(({ kind }) => (kind === 'CustomResourceDefinition') === wanted),
  );
  const labels = { [LABEL_FLEET_QUEUE]: EVERYBODY };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels } };
  const own = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: MUSTER_NAMESPACE } };
  const made = [await apply([namespace, own, ...KARMADA_DEFINITIONS, ...(definitions ?? [])])];
  await plane.kubectl(['wait', '--for=condition=Established', '--timeout=30s', 'crd', '--all']);
  const everybody = {
    ...{ apiVersion: 'muster.dev/v1alpha1', kind: 'FleetQueue' },
    metadata: { name: EVERYBODY },
  };
  made.push(await apply([...(others ?? []), everybody]));
  for (const folder of folders) tell.command(`kubectl apply -k manifests/${folder}   # as shipped`);
  const words = shipped.map(({ kind }) => kind).filter((kind, at, all) => all.indexOf(kind) === at);
  tell.output(made.map(({ code, stderr }) => (code === 0 ? '' : stderr)).join('') + words.join(', '));
  for (const [name, cpu, gpus] of FLEET)
    await addCluster(stage, name, { cpu, memory: '64Gi', 'nvidia.com/gpu': gpus, pods: '100' });
  await stage.kubectl(['get', CLUSTERS, '-o', CLUSTER_COLUMNS], 'get clusters');
  const probe = bindingOf(job('probe', 1, {}), { replicas: 1 });
  const held = await stage.within(async () => isHeld(await stage.dryRun(probe)));
  tell.check(
    'registered: as interpreter of gangs, as webhook for bindings, as their scheduler',
    held && made.every(({ code }) => code === 0),
  );
  tell.say("Karmada's own programs are not here: bindings are made as its detector makes them.");
}

/** Its CPUs, and its GPUs. */
const FLEET = [
  ['m1', '4', '8'],
  ['m2', '5', '24'],
  ['m3', '1', '8'],
] as const;
const ALLOCATABLE = '.status.resourceSummary.allocatable';
const CLUSTER_COLUMNS = `custom-columns=NAME:.metadata.name,CPU:${ALLOCATABLE}.cpu,MEMORY:${ALLOCATABLE}.memory,GPU:${ALLOCATABLE}.nvidia\\.com/gpu`;
const BINDING_COLUMNS = [
  'custom-columns=NAME:.metadata.name',
  'HELD:.spec.suspension.scheduling',
  'CLUSTERS:.spec.clusters[*].name',
  'REPLICAS:.spec.clusters[*].replicas',
  `BY TEMPLATE:.metadata.annotations.${ANNOTATION_PLACED_COMPONENTS.replaceAll('.', '\\.')}`,
  'SCHEDULED:.status.conditions[?(@.type=="Scheduled")].reason',
].join();

const showBindings = (stage: Stage, names: readonly string[]) =>
  stage.kubectl(
    ['get', 'resourcebindings', ...names, '-o', BINDING_COLUMNS],
    `get resourcebindings ${names.join(' ')}`,
  );

/** Several templates: all of it, or nothing, in one cluster. */
async function wholeGang(stage: Stage): Promise<void> {
  const { tell } = stage;
  tell.scene('A job with several templates goes to the one cluster that can hold it');
  tell.say('A master with 1 GPU and four workers with 4 each: Karmada asks Muster what it consists of.');
  const binding = await propagate(stage, volcanoJob('train'), { policy: DIVIDED });
  const placed = await isPlaced(stage, 'train', { m2: 0 }, '{"m2":{"master":1,"worker":4}}');
  await showBindings(stage, ['train']);
  tell.check('17 GPUs are nowhere but in m2: all five Pods are sent there', placed);
  tell.say('Without a cluster, the same and why:');
  const folder = await mkdtemp(join(tmpdir(), 'muster-demo-fleet-'));
  try {
    const { stdout } = await stage.quietly(['get', CLUSTERS, '-o', 'yaml']);
    await writeFile(join(folder, 'clusters.yaml'), stdout);
    const annotations = { ...DIVIDED, [ANNOTATION_MIN_AVAILABLE]: 'worker=4' };
    const asked = { ...binding, metadata: { ...binding.metadata, annotations } };
    await writeFile(join(folder, 'binding.yaml'), yamlOf(asked));
    const { code } = await stage.muster(['assign', '-f', folder], 'assign -f binding.yaml -f clusters.yaml');
    tell.check('as it was sent', code === 0);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** One template: as many as there is room for, between what it needs and what it wants. */
async function dividedGang(stage: Stage): Promise<void> {
  const { tell } = stage;
  tell.scene('A job with one template is split, between minAvailable and replicas');
  tell.say('It wants 12 Pods of 1 CPU and can run with 8. There are 10 CPUs, and nowhere more than 5.');
  const annotations = { ...DIVIDED, [ANNOTATION_MIN_AVAILABLE]: '8' };
  await propagate(stage, job('sweep', 12, { cpu: '1' }, annotations));
  const placed = await isPlaced(stage, 'sweep', { m1: 4, m2: 5, m3: 1 });
  await showBindings(stage, ['sweep']);
  tell.check('10 of 12 are sent, to three clusters', placed);
  await propagate(stage, job('late', 4, { cpu: '1' }, DIVIDED));
  const waits = await stage.within(async () => (await scheduledOf(stage, 'late'))[0] === 'Unschedulable');
  tell.command('kubectl describe resourcebinding late   # its condition Scheduled');
  tell.output((await scheduledOf(stage, 'late')).join(': '));
  tell.check(
    'what cannot have its least waits whole, and nothing of it is sent',
    waits && (await isUnplaced(stage)),
  );
}

const isUnplaced = async (stage: Stage): Promise<boolean> =>
  Object.keys(await placesOf(stage, 'late')).length === 0;

/** In the order in which they come, with their priorities. */
const WAITING = [
  ['nightly', 0],
  ['normal', 1],
  ['urgent', 9],
] as const;

/** A queue with room for one at a time. */
async function oneByOne(stage: Stage): Promise<void> {
  const { tell } = stage;
  tell.scene('A queue lets gangs through one by one');
  tell.say('Three jobs of 8Gi for a queue of 8Gi; urgent comes last, with the highest priority.');
  await stage.create({
    ...{ apiVersion: 'muster.dev/v1alpha1', kind: 'FleetQueue' },
    metadata: { name: 'research' },
    spec: { capacity: { memory: '8Gi' }, hold: true },
  });
  const names = WAITING.map(([name]) => name);
  for (const [name, priority] of WAITING)
    await propagate(
      stage,
      job(name, 1, { memory: '8Gi' }, { ...DIVIDED, [ANNOTATION_FLEET_QUEUE]: 'research' }),
      { priority },
    );
  await areQueued(stage, names, 'research');
  const open = '{"spec":{"hold":false}}';
  await stage.kubectl(
    ['patch', 'fleetqueue', 'research', '--type=merge', '-p', open],
    `patch fleetqueue research --type=merge -p '${open}'`,
  );
  const urgent = await areThrough(stage, names, ['urgent']);
  await areQueued(stage, ['nightly', 'normal'], 'research');
  await stage.muster(['status', '--fleet']);
  tell.check('urgent goes first, the others wait, and it says why', urgent);
  await finish(stage, 'urgent');
  const normal = await areThrough(stage, names, ['urgent', 'normal']);
  await showBindings(stage, names);
  tell.check('when urgent has come to its end, the next one', normal);
  await finish(stage, 'normal');
  tell.check('then the last', await areThrough(stage, names, names));
}

export const fleetScenes: readonly ((stage: Stage) => Promise<void>)[] = [
  registered,
  wholeGang,
  dividedGang,
  oneByOne,
];
