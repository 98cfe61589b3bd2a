import { expect } from '@jest/globals';
import { MASTERS, MUSTER, type Scene } from '../scene.ts';
import { either, open, policy, type Way } from '../way.ts';

const OBJECTS = policy('account-gang-objects', 'AccountBounds');
const core = (scene: Scene, path: string, namespace = scene.namespace): string =>
  `/api/v1/namespaces/${namespace}/${path}`;
const KINDS = [
  ['configmaps', { data: { Corefile: 'x' } }],
  ['services', { spec: { ports: [{ port: 1 }] } }],
] as const;
const TOKEN_OF = { 'kubernetes.io/service-account.name': 'namespace-controller' };
const gangs = (name: string): object => ({
  ...{ name, labels: { 'app.kubernetes.io/managed-by': 'muster' } },
  ownerReferences: [
    { apiVersion: 'scheduler.grove.io/v1alpha1', kind: 'PodGang', name: 'train', uid: 'x', controller: true },
  ],
});
/** Of this moment: Kubernetes takes it off again where it is old. */
const told = (): object => {
  const lastTransitionTime = new Date().toISOString().replace(/\.\d+/, '');
  const target = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' };
  return { status: { conditions: [{ ...target, lastTransitionTime }] } };
};
const eviction = (name: string): object => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name },
});
const plain = (scene: Scene): Promise<unknown> =>
  scene.make(scene.pods(), scene.pod('plain', { labels: {} }), MASTERS);
/** A Pod of `kube-system`, of a name that no other scene gives. */
const ofSystem = ({ namespace }: Scene): string => `dns-${namespace}`;
const system = (scene: Scene): Promise<unknown> =>
  scene.make(core(scene, 'pods', 'kube-system'), scene.pod(ofSystem(scene), { labels: {} }), MASTERS);
const isGone = async (scene: Scene): Promise<void> => {
  expect((await scene.send(MASTERS, 'GET', scene.pods('plain'))).status).toBe(404);
};

/** What the rights of components are good for, beside those of the base. */
export const COMPONENT_WAYS: readonly Way[] = [
  {
    who: 'token',
    component: 'hpc',
    tries:
      'makes a Secret for which Kubernetes writes the token of a controller of `kube-system`, there and elsewhere',
    ends: OBJECTS,
    attempt: (scene) =>
      Promise.all(
        [scene.namespace, 'kube-system'].flatMap((namespace) =>
          [{ name: 'token' }, gangs('token')].map((metadata) =>
            scene.send(MUSTER, 'POST', core(scene, 'secrets', namespace), {
              ...{
                metadata: { ...metadata, annotations: TOKEN_OF },
                type: 'kubernetes.io/service-account-token',
              },
            }),
          ),
        ),
      ),
  },
  {
    who: 'token',
    component: 'hpc',
    tries: 'makes and changes ConfigMaps and Services that are no gang’s, those of `kube-system` among them',
    ends: OBJECTS,
    given: async (scene) => {
      for (const [plural, body] of KINDS)
        await scene.make(core(scene, plural), { metadata: { name: 'theirs' }, ...body }, MASTERS);
    },
    attempt: async (scene) => {
      const answers = KINDS.flatMap(([plural, body]) => [
        scene.send(MUSTER, 'POST', core(scene, plural), { metadata: { name: 'more' }, ...body }),
        scene.send(MUSTER, 'POST', core(scene, plural, 'kube-system'), { metadata: gangs('more'), ...body }),
        scene.send(MUSTER, 'PATCH', core(scene, `${plural}/theirs`), {
          metadata: { annotations: { x: 'y' } },
        }),
        scene.send(MUSTER, 'PATCH', core(scene, `${plural}/theirs`), { metadata: gangs('theirs') }),
      ]);
      return Promise.all(answers);
    },
  },
  {
    who: 'token',
    component: 'hpc',
    tries:
      'takes the traffic of others by a Service: with `externalIPs`, with a cluster IP, for another name',
    ends: OBJECTS,
    attempt: (scene) => {
      const ports = [{ port: 443 }];
      const specs = [
        { clusterIP: 'None', ports, externalIPs: ['192.0.2.1'] },
        { ports },
        { type: 'ExternalName', externalName: 'example.com' },
      ];
      return Promise.all(
        specs.map((spec) =>
          scene.send(MUSTER, 'POST', core(scene, 'services'), { metadata: gangs('train'), spec }),
        ),
      );
    },
  },
  {
    who: 'token',
    component: 'hpc',
    tries:
      'makes ConfigMaps, Opaque Secrets and headless Services in the name of a gang that is there or not',
    ends: open(
      201,
      'that is what the right is for: they change nothing that is there, and what no PodGang controls is collected',
    ),
    attempt: async (scene) => [
      await scene.send(MUSTER, 'POST', core(scene, 'configmaps'), { metadata: gangs('more'), data: {} }),
      await scene.send(MUSTER, 'POST', core(scene, 'secrets'), { metadata: gangs('more'), type: 'Opaque' }),
    ],
  },
  {
    who: 'token',
    component: 'preemption',
    tries: 'tells Pods of `kube-system` to go, and evicts them',
    ends: either(policy('account-pod-status', 'AccountBounds'), policy('account-evictions', 'AccountBounds')),
    given: system,
    attempt: async (scene) => {
      const path = core(scene, `pods/${ofSystem(scene)}`, 'kube-system');
      return [
        await scene.send(MUSTER, 'PATCH', `${path}/status`, told()),
        await scene.send(MUSTER, 'POST', `${path}/eviction`, eviction(ofSystem(scene))),
      ];
    },
  },
  {
    who: 'token',
    component: 'preemption',
    tries: 'writes into the status of a Pod that it runs, is ready, or has failed',
    ends: policy('account-pod-status', 'AccountBounds'),
    given: plain,
    attempt: async (scene) => {
      const path = scene.pods('plain', 'status');
      const ready = [{ type: 'Ready', status: 'True' }];
      return [
        await scene.send(MUSTER, 'PATCH', path, { status: { phase: 'Failed' } }),
        await scene.send(MUSTER, 'PATCH', path, { status: { conditions: ready } }),
      ];
    },
  },
  {
    who: 'token',
    component: 'preemption',
    tries: 'evicts a Pod of a tenant whom no plan names',
    ends: open(
      201,
      'an Eviction shows neither its Pod nor for whom it goes, so no policy can tell a victim: whom no PodDisruptionBudget protects is evicted, outside of `kube-system` and `muster-system`',
    ),
    given: plain,
    attempt: async (scene) => [
      await scene.send(MUSTER, 'POST', scene.pods('plain', 'eviction'), eviction('plain')),
    ],
    then: isGone,
  },
  {
    who: 'token',
    component: 'preemption-past-budgets',
    tries: 'deletes Pods of `kube-system`, and of a tenant one that it has not told to go',
    ends: policy('account-deleted-pods', 'AccountBounds'),
    given: async (scene) => {
      await plain(scene);
      await system(scene);
    },
    attempt: async (scene) => [
      await scene.send(MUSTER, 'DELETE', core(scene, `pods/${ofSystem(scene)}`, 'kube-system')),
      await scene.send(MUSTER, 'DELETE', scene.pods('plain')),
    ],
  },
  {
    who: 'token',
    component: 'preemption-past-budgets',
    tries: 'tells a Pod of a tenant to go, and deletes it whatever a PodDisruptionBudget says',
    ends: open(
      200,
      'that is what the component is for: no policy knows the plan. Leave it out where budgets must hold',
    ),
    given: plain,
    attempt: async (scene) => [
      await scene.send(MUSTER, 'PATCH', scene.pods('plain', 'status'), told()),
      await scene.send(MUSTER, 'DELETE', scene.pods('plain')),
    ],
    then: isGone,
  },
  {
    who: 'token',
    component: 'preemption-preview',
    tries: 'reads Nodes, volumes, claims and PodDisruptionBudgets of all namespaces',
    ends: open(200, 'what a forecast goes by is read; nothing is changed by it'),
    attempt: async (scene) =>
      Promise.all(
        ['/api/v1/nodes', '/api/v1/persistentvolumes', '/apis/policy/v1/poddisruptionbudgets'].map((path) =>
          scene.send(MUSTER, 'GET', path),
        ),
      ),
  },
];
