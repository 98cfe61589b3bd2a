import type { Client } from '../control-plane/client.ts';

/** A write as one of Karmada's programs, or one beside them, makes it, by the file that it is made in. */
export interface KarmadaWrite {
  readonly by: string;
  /** What is stored in the end, without what the API server adds; undefined: nothing is. */
  readonly run: (client: Client, namespace: string) => Promise<unknown>;
}

const VERSION = 'work.karmada.io/v1alpha2';
const ROOT = `/apis/${VERSION}`;
const at = (namespace: string, name = ''): string =>
  `${ROOT}/namespaces/${namespace}/resourcebindings/${name}`;
const MERGE = { contentType: 'application/merge-patch+json' };
const JSON_PATCH = { contentType: 'application/json-patch+json' };

const metadata = (namespace: string, name: string): object => ({
  ...{ name, namespace, finalizers: ['karmada.io/binding-controller'] },
  labels: {
    'resourcebinding.karmada.io/permanent-id': '0d2c',
    'propagationpolicy.karmada.io/permanent-id': '77aa',
  },
  annotations: {
    'propagationpolicy.karmada.io/namespace': namespace,
    'propagationpolicy.karmada.io/name': 'train',
  },
});
const requirements = { resourceRequest: { cpu: '1', memory: '1Gi' } };
const placement = {
  clusterAffinity: { clusterNames: ['m1', 'm2'] },
  replicaScheduling: { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Aggregated' },
};
const resource = (namespace: string, name: string): object => ({
  ...{ apiVersion: 'batch/v1', kind: 'Job', namespace, name, uid: '4858ca61', resourceVersion: '812' },
});
/** As `buildResourceBinding` of its detector makes it. */
const binding = (namespace: string, name: string, spec: object = {}): object => ({
  ...{ apiVersion: VERSION, kind: 'ResourceBinding', metadata: metadata(namespace, name) },
  spec: {
    ...{ resource: resource(namespace, name), replicas: 2, replicaRequirements: requirements, placement },
    ...{ schedulerName: 'default-scheduler', ...spec },
  },
});
const create = (client: Client, namespace: string, name: string, spec: object = {}): Promise<unknown> =>
  client.ok('POST', at(namespace), binding(namespace, name, spec));

/**
 * The life of bindings that have no queue. None of it is Muster's business, whether Muster runs or not. In this order: later
 * writes are of bindings that earlier ones made.
 */
export const KARMADA_WRITES: readonly KarmadaWrite[] = [
  {
    by: 'the detector, of a workload with one template (pkg/detector/detector.go)',
    run: (client, namespace) => create(client, namespace, 'one'),
  },
  {
    by: 'the detector, of a workload with several templates',
    run: (client, namespace) =>
      create(client, namespace, 'several', {
        ...{ replicas: 0, replicaRequirements: null },
        components: [
          { name: 'master', replicas: 1, replicaRequirements: requirements },
          { name: 'worker', replicas: 4, replicaRequirements: requirements },
        ],
      }),
  },
  {
    by: 'the detector, of what is no workload',
    run: (client, namespace) =>
      create(client, namespace, 'settings', { replicas: 0, replicaRequirements: null }),
  },
  {
    by: 'the detector, of what has no namespace',
    run: (client, namespace) =>
      client.ok('POST', `${ROOT}/clusterresourcebindings`, {
        ...binding('', `wide-${namespace}`),
        ...{ kind: 'ClusterResourceBinding', metadata: { name: `wide-${namespace}` } },
      }),
  },
  {
    by: 'the dependencies distributor, of what a workload depends on (pkg/dependenciesdistributor)',
    run: (client, namespace) =>
      create(client, namespace, 'dependency', {
        ...{ replicas: 0, replicaRequirements: null, placement: null },
        requiredBy: [{ namespace, name: 'one', clusters: [{ name: 'm1' }] }],
      }),
  },
  {
    by: 'volcano-global, which holds a binding and lets it go (JSON patch of its dispatcher)',
    run: async (client, namespace) => {
      await create(client, namespace, 'held', { suspension: { scheduling: true } });
      const patch = [{ op: 'add', path: '/spec/suspension', value: { scheduling: false } }];
      return client.ok('PATCH', at(namespace, 'held'), patch, JSON_PATCH);
    },
  },
  {
    by: 'the scheduler, with its result (pkg/scheduler/scheduler.go, merge patch)',
    run: async (client, namespace) => {
      const annotations = { 'policy.karmada.io/applied-placement': JSON.stringify(placement) };
      const clusters = [{ name: 'm1', replicas: 2 }];
      await client.ok(
        'PATCH',
        at(namespace, 'one'),
        { metadata: { annotations }, spec: { clusters } },
        MERGE,
      );
      const status = {
        ...{ schedulerObservedGeneration: 2, lastScheduledTime: '2026-08-21T03:10:00Z' },
        conditions: [
          {
            ...{ type: 'Scheduled', status: 'True', reason: 'Success', message: 'scheduled' },
            lastTransitionTime: '2026-08-21T03:10:00Z',
          },
        ],
      };
      return client.ok('PATCH', at(namespace, 'one/status'), { status }, MERGE);
    },
  },
  {
    by: 'the binding-status controller, with what clusters say (pkg/controllers/status)',
    run: (client, namespace) =>
      client.ok(
        'PATCH',
        at(namespace, 'one/status'),
        {
          status: {
            aggregatedStatus: [
              { clusterName: 'm1', applied: true, health: 'Healthy', status: { active: 2 } },
            ],
          },
        },
        MERGE,
      ),
  },
  {
    by: 'the detector, after the workload was scaled and its policy suspended sending (update)',
    run: async (client, namespace) => {
      const found = await client.ok<{ spec: object }>('GET', at(namespace, 'one'));
      const spec = { ...found.spec, replicas: 3, suspension: { dispatching: true } };
      return client.ok('PUT', at(namespace, 'one'), { ...found, spec });
    },
  },
  {
    by: 'the taint manager, which evicts from a cluster (pkg/controllers/cluster/taint_manager.go)',
    run: (client, namespace) =>
      client.ok(
        'PATCH',
        at(namespace, 'one'),
        {
          spec: {
            clusters: [{ name: 'm2', replicas: 3 }],
            gracefulEvictionTasks: [
              { fromCluster: 'm1', reason: 'TaintUntolerated', producer: 'TaintManager' },
            ],
          },
        },
        MERGE,
      ),
  },
  {
    by: 'the descheduler, which takes replicas away (pkg/descheduler)',
    run: (client, namespace) =>
      client.ok('PATCH', at(namespace, 'one'), { spec: { clusters: [{ name: 'm2', replicas: 1 }] } }, MERGE),
  },
  {
    by: 'a person, with kubectl apply --server-side',
    run: (client, namespace) =>
      client.ok(
        'PATCH',
        at(namespace, 'one'),
        {
          ...{ apiVersion: VERSION, kind: 'ResourceBinding' },
          metadata: { name: 'one', annotations: { 'example.com/seen': 'yes' } },
        },
        {
          contentType: 'application/apply-patch+yaml',
          query: { fieldManager: 'person', force: true },
        },
      ),
  },
  {
    by: 'the binding controller, which lets go of what is deleted (pkg/controllers/binding)',
    run: async (client, namespace) => {
      for (const name of ['one', 'several', 'settings', 'dependency', 'held']) {
        await client.ok('DELETE', at(namespace, name));
        await client.ok('PATCH', at(namespace, name), { metadata: { finalizers: null } }, MERGE);
      }
      await client.ok('DELETE', `${ROOT}/clusterresourcebindings/wide-${namespace}`);
      return undefined;
    },
  },
];
