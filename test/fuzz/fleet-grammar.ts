/** What the API server of a fleet holds and sends, sound or nearly so. */
import type { Json, JsonObject } from '../../src/json/json.ts';
import { operations } from '../../src/fleet/operations.ts';
import type { Random } from '../support/random.ts';

const container = (random: Random): Json => ({
  name: 'main',
  image: 'x',
  resources: {
    requests: { cpu: random.pick(['1', '500m', '2.5', '1e3']), memory: random.pick(['1Gi', '12M', '1']) },
  },
});
const template = (random: Random): Json => ({ spec: { containers: [container(random)] } });

function workload(random: Random): JsonObject {
  const replicas = random.below(5);
  const made = random.pick<object>([
    { apiVersion: 'apps/v1', kind: 'Deployment', spec: { replicas, template: template(random) } },
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      spec: { parallelism: replicas, completions: 4, template: template(random) },
    },
    {
      ...{ apiVersion: 'kubeflow.org/v1', kind: 'PyTorchJob' },
      spec: {
        pytorchReplicaSpecs: {
          Master: { replicas: 1, template: template(random) },
          Worker: { replicas, template: template(random) },
        },
      },
    },
    {
      ...{ apiVersion: 'batch.volcano.sh/v1alpha1', kind: 'Job' },
      spec: {
        minAvailable: 2,
        tasks: [
          { name: 'a', replicas, template: template(random) },
          { name: 'b', replicas: 1, template: template(random) },
        ],
      },
    },
    {
      ...{ apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet' },
      spec: {
        replicatedJobs: [
          {
            name: 'w',
            replicas,
            template: { spec: { parallelism: 2, completions: 2, template: template(random) } },
          },
        ],
      },
    },
    {
      ...{ apiVersion: 'leaderworkerset.x-k8s.io/v1', kind: 'LeaderWorkerSet' },
      spec: { replicas, leaderWorkerTemplate: { size: 3, workerTemplate: template(random) } },
    },
    {
      ...{ apiVersion: 'ray.io/v1', kind: 'RayCluster' },
      spec: {
        headGroupSpec: { template: template(random) },
        workerGroupSpecs: [
          { groupName: 'g', replicas, minReplicas: 1, maxReplicas: 5, template: template(random) },
        ],
      },
    },
  ]);
  return { metadata: { name: 'train', namespace: 'ml', uid: 'u' }, ...made };
}

export const cluster = (name: string, random: Random): Json => ({
  metadata: { name, labels: { zone: random.pick(['a', 'b']) } },
  spec: {
    provider: 'p',
    region: random.pick(['r', 'q']),
    taints: random.chance(20) ? [{ key: 'k', effect: 'NoSchedule' }] : [],
  },
  status: {
    apiEnablements: [{ groupVersion: 'batch/v1', resources: [{ name: 'jobs', kind: 'Job' }] }],
    resourceSummary: { allocatable: { cpu: String(random.below(12)), pods: '50' }, allocated: { cpu: '1' } },
  },
});

export const binding = (name: string, random: Random): Json => ({
  metadata: {
    ...{ name, namespace: 'ml', uid: name, resourceVersion: '1', generation: 2 },
    creationTimestamp: '2026-06-01T12:00:00Z',
    labels: { 'propagationpolicy.karmada.io/permanent-id': 'p' },
    annotations: {
      'muster.dev/fleet-queue': random.pick(['team', 'company', 'nobody']),
      'muster.dev/custom-scheduling-strategy': random.pick(['gang-divided', 'gang-divided', '', 'x']),
      'muster.dev/min-available': random.pick(['2', '9', '', '0', 'worker=2', 'worker=0']),
    },
  },
  spec: {
    schedulerName: 'muster',
    resource: { apiVersion: 'batch/v1', kind: 'Job', namespace: 'ml', name, uid: name },
    ...{ replicas: random.below(9), replicaRequirements: { resourceRequest: { cpu: '1' } } },
    ...(random.chance(40) ? { suspension: { scheduling: true } } : {}),
    ...(random.chance(30) ? { clusters: [{ name: 'm1', replicas: random.below(4) }] } : {}),
    ...(random.chance(25)
      ? { components: [{ name: 'w', replicas: 2, replicaRequirements: { resourceRequest: { cpu: '1' } } }] }
      : {}),
    placement: {
      clusterAffinity: random.chance(70) ? {} : { clusterNames: [random.pick(['m2', 'no-such'])] },
      ...(random.chance(20)
        ? { spreadConstraints: [{ spreadByField: 'region', minGroups: 1, maxGroups: 2 }] }
        : {}),
    },
  },
});

export const queue = (name: string, random: Random): Json => ({
  metadata: { name, uid: name, resourceVersion: '1', generation: 1 },
  spec: {
    ...{ weight: 1 + random.below(3), parent: name === 'team' ? 'company' : '' },
    capacity: { cpu: String(random.below(9)) },
    ...(random.chance(10) ? { hold: true } : {}),
  },
  status: { deficit: random.below(9), releasing: random.list(2, () => random.pick(['ml/b0@b0', 'x', ''])) },
});

export const policy = (random: Random): Json => ({
  metadata: { name: 'p', namespace: 'ml' },
  spec: random.pick<Json>([
    { hpc: { manager: 'flux', settings: { 'tasks-per-node': '2' } } },
    { hpc: { manager: random.pick(['flux', 'x']), settings: { unknown: 'x', 'tasks-per-node': 'y' } } },
    { torch: { procPerNode: random.pick<Json>([2, 'auto', 'x']), container: 'main' } },
    { torch: {}, hpc: {} },
    {},
  ]),
});

/** What Karmada asks an interpreter. */
export const context = (random: Random): Json => ({
  apiVersion: 'config.karmada.io/v1alpha1',
  kind: 'ResourceInterpreterContext',
  request: {
    ...{ uid: 'u', name: 'train', namespace: 'ml' },
    operation: random.pick([...operations.keys(), 'None'] as never),
    ...{ object: workload(random), observedObject: workload(random), replicas: random.below(5) },
    aggregatedStatus: random.list(2, () => ({
      clusterName: 'm1',
      status: { replicas: 1 },
      health: 'Healthy',
    })),
  },
});
