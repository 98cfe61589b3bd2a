import { expect } from '@jest/globals';
import { MUSTER_USER } from '../../../../src/api/names.ts';
import { GATE } from '../../support/registered-muster.ts';
import { gatesOf, MASTERS, MERGE, MUSTER, NOBODY, RBAC, type Identity, type Scene } from '../scene.ts';
import { apiServer, harmless, open, policy, rights, unreachable, type Answer, type Way } from '../way.ts';

const PROTECTED = policy('gang-pod-gate', 'GateProtected');
const given = (scene: Scene): Promise<void> => scene.waiting();
const accountOf = (namespace: string, name: string): Identity => ({
  as: `system:serviceaccount:${namespace}:${name}`,
  asGroups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
});
const eventsOf = ({ namespace }: Scene): string => `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
const lieOf = ({ namespace }: Scene): object => ({
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name: 'lie' },
  eventTime: '2026-01-01T00:00:00.000000Z',
  reportingController: 'muster',
  reportingInstance: 'x',
  action: 'Lie',
  // One of Muster's own: the suite's account of what Muster was heard to say must not learn new words here.
  reason: 'GatesRemoved',
  type: 'Normal',
  regarding: { kind: 'Pod', name: 'w0', namespace },
});
const LEASES = '/apis/coordination.k8s.io/v1/namespaces';
const lease = (name = 'muster-leader-election'): object => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name },
  spec: { holderIdentity: 'me', leaseDurationSeconds: 3600 },
});
const ADMISSION = '/apis/admissionregistration.k8s.io/v1';

/** Rights and names. */
export const ACCOUNT_WAYS: readonly Way[] = [
  {
    who: 'tenant',
    tries: 'impersonates Muster’s account, and `system:masters`',
    ends: rights,
    given,
    attempt: async (scene) => {
      const client = await scene.clientOf(scene.tenant);
      const change = await scene.ungating();
      return [
        await client.request('PATCH', scene.pods('w0'), change, { as: MUSTER_USER }),
        await client.request('PATCH', scene.pods('w0'), change, { as: 'me', asGroups: ['system:masters'] }),
      ];
    },
  },
  {
    who: 'tenant',
    tries: 'asks for a token of Muster’s account',
    ends: rights,
    attempt: async (scene) => [
      await scene.send(
        scene.tenant,
        'POST',
        '/api/v1/namespaces/muster-system/serviceaccounts/muster/token',
        { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: [] } },
      ),
    ],
  },
  {
    who: 'tenant',
    tries: 'makes a service account `muster` in his own namespace, and ungates as it',
    ends: PROTECTED,
    given: async (scene) => {
      await scene.waiting();
      const body = { metadata: { name: 'muster' } };
      await scene.make(`/api/v1/namespaces/${scene.namespace}/serviceaccounts`, body, scene.tenant);
      await scene.make(`${RBAC}/namespaces/${scene.namespace}/rolebindings`, {
        metadata: { name: 'muster' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
        subjects: [{ kind: 'ServiceAccount', name: 'muster', namespace: scene.namespace }],
      });
    },
    attempt: async (scene) => [
      await scene.send(
        accountOf(scene.namespace, 'muster'),
        'PATCH',
        scene.pods('w0'),
        await scene.ungating(),
      ),
    ],
  },
  {
    who: 'namespaces',
    tries: 'makes the namespace `grove-system` and in it `grove-operator`, and ungates as that',
    ends: PROTECTED,
    given: async (scene) => {
      await scene.waiting();
      await scene.make(`${RBAC}/namespaces/${scene.namespace}/rolebindings`, {
        metadata: { name: 'grove' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
        subjects: [{ kind: 'ServiceAccount', name: 'grove-operator', namespace: 'grove-system' }],
      });
    },
    attempt: async (scene) => [
      await scene.send(
        accountOf('grove-system', 'grove-operator'),
        'PATCH',
        scene.pods('w0'),
        await scene.ungating(),
      ),
    ],
  },
  {
    who: 'tenant',
    tries: 'gives himself rights: to the status of PodGangs, to Bindings, to impersonation',
    ends: rights,
    attempt: async (scene) => {
      const rule = { apiGroups: ['scheduler.grove.io'], resources: ['podgangs/status'], verbs: ['*'] };
      return [
        await scene.send(scene.tenant, 'POST', `${RBAC}/namespaces/${scene.namespace}/roles`, {
          metadata: { name: 'more' },
          rules: [rule],
        }),
        await scene.send(scene.tenant, 'POST', `${RBAC}/namespaces/${scene.namespace}/rolebindings`, {
          metadata: { name: 'more' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'muster' },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: scene.tenant.as }],
        }),
      ];
    },
  },
  {
    who: 'tenant',
    tries: 'as `admin` of his namespace gives himself the status of PodGangs',
    ends: apiServer(
      403,
      'is attempting to grant RBAC permissions not currently held',
      'RBAC lets nobody grant what he has not',
    ),
    given: async (scene) =>
      scene.make(`${RBAC}/namespaces/${scene.namespace}/rolebindings`, {
        metadata: { name: 'admin' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: scene.tenant.as }],
      }),
    attempt: async (scene) => [
      await scene.send(scene.tenant, 'POST', `${RBAC}/namespaces/${scene.namespace}/roles`, {
        metadata: { name: 'more' },
        rules: [{ apiGroups: ['scheduler.grove.io'], resources: ['podgangs/status'], verbs: ['patch'] }],
      }),
    ],
  },
  {
    who: 'tenant',
    tries: 'deletes or changes policies, their bindings, webhooks and definitions',
    ends: rights,
    attempt: async (scene) =>
      Promise.all(
        [
          `${ADMISSION}/validatingadmissionpolicies/muster-gang-pod-gate`,
          `${ADMISSION}/validatingadmissionpolicybindings/muster-gang-pod-gate`,
          `${ADMISSION}/mutatingadmissionpolicybindings/muster-add-gang-gate`,
          `${ADMISSION}/validatingwebhookconfigurations/muster`,
          '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/podgangs.scheduler.grove.io',
        ].flatMap((path) => [
          scene.send(scene.tenant, 'DELETE', path),
          scene.send(scene.tenant, 'PATCH', path, { metadata: { labels: { x: 'y' } } }, MERGE),
        ]),
      ),
  },
  {
    who: 'tenant',
    tries:
      'takes his namespace out of the selectors, or another scheduler for it, by its labels and annotations',
    ends: rights,
    attempt: async (scene) =>
      Promise.all(
        [
          { labels: { 'kubernetes.io/metadata.name': 'kube-system' } },
          { annotations: { 'grove.io/scheduler-name': 'mine' } },
        ].map((metadata) =>
          scene.send(scene.tenant, 'PATCH', `/api/v1/namespaces/${scene.namespace}`, { metadata }, MERGE),
        ),
      ),
  },
  {
    who: 'masters',
    tries: 'calls a namespace `kube-system` by its label, to take it out of the selectors',
    ends: harmless(200, 'the API server puts the label `kubernetes.io/metadata.name` back'),
    given,
    attempt: async (scene) => [
      await scene.send(
        MASTERS,
        'PATCH',
        `/api/v1/namespaces/${scene.namespace}`,
        { metadata: { labels: { 'kubernetes.io/metadata.name': 'kube-system' } } },
        MERGE,
      ),
    ],
    then: async (scene) => {
      const { metadata } = await scene.get<{ metadata: { labels: object } }>(
        `/api/v1/namespaces/${scene.namespace}`,
      );
      expect(metadata.labels).toMatchObject({ 'kubernetes.io/metadata.name': scene.namespace });
    },
  },
  {
    who: 'tenant',
    tries: 'takes the Lease of Muster’s leader, or changes what `kubectl get schedulerbackends` shows',
    ends: rights,
    attempt: async (scene) => [
      await scene.send(
        scene.tenant,
        'PATCH',
        `${LEASES}/muster-system/leases/muster-leader-election`,
        lease(),
        MERGE,
      ),
      await scene.send(scene.tenant, 'DELETE', `${LEASES}/muster-system/leases/muster-leader-election`),
      await scene.send(
        scene.tenant,
        'DELETE',
        '/apis/muster.dev/v1alpha1/schedulerbackends/default-scheduler',
      ),
    ],
  },
  {
    who: 'tenant',
    tries: 'makes a Lease of that name in his own namespace',
    ends: {
      up: harmless(201, 'Muster reads the one in its namespace'),
      gone: harmless(201, 'Muster reads the one in its namespace'),
    },
    attempt: async (scene) => [
      await scene.send(scene.tenant, 'POST', `${LEASES}/${scene.namespace}/leases`, lease()),
    ],
    then: (scene) => scene.untilLoopWasBusy(),
  },
  {
    who: 'tenant',
    tries: 'reads, writes, deletes and evicts gangs and Pods of another namespace, and Muster’s own',
    ends: rights,
    given: async (scene) => scene.waiting(scene.other),
    attempt: async (scene) => {
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'w0' } };
      return Promise.all([
        scene.send(scene.tenant, 'GET', scene.gangs('train', '', scene.other)),
        scene.send(
          scene.tenant,
          'PATCH',
          scene.gangs('train', '', scene.other),
          { metadata: { labels: { x: 'y' } } },
          MERGE,
        ),
        scene.send(scene.tenant, 'DELETE', scene.gangs('', '', scene.other)),
        scene.send(scene.tenant, 'DELETE', scene.pods('', '', scene.other)),
        scene.send(scene.tenant, 'POST', scene.pods('w0', 'eviction', scene.other), eviction),
        scene.send(scene.tenant, 'DELETE', scene.pods('', '', 'muster-system')),
      ]);
    },
  },
  {
    who: 'stranger',
    tries: 'asks the API server for gangs without any account',
    ends: rights,
    attempt: async (scene) => [
      await scene.send(NOBODY, 'GET', scene.gangs()),
      await scene.send(NOBODY, 'POST', scene.gangs(), scene.gang()),
    ],
  },
  {
    who: 'token',
    tries: 'changes image, labels, annotations, finalizers and foreign gates of a Pod',
    ends: policy('account-pods', 'AccountBounds'),
    given: async (scene) => {
      const spec = { schedulingGates: [{ name: 'example.com/mine' }] };
      await scene.make(scene.pods(), scene.pod('w0', { labels: {}, spec }));
    },
    attempt: async (scene) => {
      const send = (body: object): Promise<Answer> => scene.send(MUSTER, 'PATCH', scene.pods('w0'), body);
      return [
        await send([{ op: 'replace', path: '/spec/containers/0/image', value: 'example/evil:1' }]),
        await send({ metadata: { labels: { app: 'evil' } } }),
        await send({ metadata: { annotations: { app: 'evil' } } }),
        await send({ metadata: { finalizers: ['example.com/evil'] } }),
        await send([{ op: 'remove', path: '/spec/schedulingGates/0' }]),
      ];
    },
  },
  {
    who: 'token',
    tries: 'changes a Pod of `kube-system`',
    ends: policy('account-pods', 'AccountBounds'),
    given: async (scene) =>
      scene.make(scene.pods('', '', 'kube-system'), scene.pod(scene.namespace, { labels: {} })),
    attempt: async (scene) => [
      await scene.send(MUSTER, 'PATCH', scene.pods(scene.namespace, '', 'kube-system'), [
        { op: 'replace', path: '/spec/containers/0/image', value: 'example/evil:1' },
      ]),
      await scene.send(MUSTER, 'PATCH', scene.pods(scene.namespace, '', 'kube-system'), {
        metadata: { finalizers: ['example.com/evil'] },
      }),
    ],
  },
  {
    who: 'token',
    tries: 'changes groups, minimum, labels of a PodGang',
    ends: policy('account-podgangs', 'AccountBounds'),
    given,
    attempt: async (scene) => [
      await scene.send(MUSTER, 'PATCH', scene.gangs('train'), [
        { op: 'replace', path: '/spec/podgroups/0/minReplicas', value: 1 },
      ]),
      await scene.send(MUSTER, 'PATCH', scene.gangs('train'), { metadata: { labels: { x: 'y' } } }),
    ],
  },
  {
    who: 'token',
    tries: 'makes gangs, and deletes those that people have made',
    ends: {
      up: policy('account-made-podgangs', 'AccountBounds'),
      gone: policy('account-made-podgangs', 'AccountBounds'),
      down: unreachable('podgangs'),
    },
    given,
    attempt: async (scene) => [
      await scene.send(MUSTER, 'POST', scene.gangs(), scene.gang('another')),
      ...(scene.state === 'down' ? [] : [await scene.send(MUSTER, 'DELETE', scene.gangs('train'))]),
    ],
  },
  {
    who: 'token',
    tries: 'makes and binds Pods, reads and changes Secrets, writes Nodes, Namespaces, roles and policies',
    ends: rights,
    given,
    attempt: async (scene) =>
      Promise.all([
        scene.send(MUSTER, 'POST', scene.pods(), scene.pod('w1')),
        scene.send(MUSTER, 'POST', scene.pods('w0', 'binding'), { target: { kind: 'Node', name: 'n1' } }),
        scene.send(MUSTER, 'GET', `/api/v1/namespaces/${scene.namespace}/secrets`),
        scene.send(MUSTER, 'GET', `/api/v1/namespaces/${scene.namespace}/secrets/x`),
        scene.send(MUSTER, 'PATCH', `/api/v1/namespaces/${scene.namespace}/secrets/x`, { data: {} }),
        scene.send(MUSTER, 'DELETE', `/api/v1/namespaces/${scene.namespace}/configmaps/x`),
        scene.send(MUSTER, 'PATCH', '/api/v1/nodes/n1', { spec: { unschedulable: true } }),
        scene.send(MUSTER, 'PATCH', `/api/v1/namespaces/${scene.namespace}`, {
          metadata: { labels: { x: 'y' } },
        }),
        scene.send(MUSTER, 'DELETE', `${ADMISSION}/validatingadmissionpolicies/muster-gang-pod-gate`),
        scene.send(MUSTER, 'POST', `${RBAC}/clusterroles`, { metadata: { name: 'more' }, rules: [] }),
      ]),
  },
  {
    who: 'token',
    tries: 'makes Leases beside the one of its leader',
    ends: policy('account-leases', 'AccountBounds'),
    attempt: async (scene) => [
      await scene.send(MUSTER, 'POST', `${LEASES}/muster-system/leases`, lease(`evil-${scene.state}`)),
    ],
  },
  {
    who: 'token',
    tries: 'takes Leases of others',
    ends: rights,
    attempt: async (scene) => [
      await scene.send(MUSTER, 'POST', `${LEASES}/kube-system/leases`, lease('kube-scheduler')),
      await scene.send(
        MUSTER,
        'PATCH',
        `${LEASES}/kube-system/leases/kube-scheduler`,
        lease('kube-scheduler'),
      ),
      await scene.send(MUSTER, 'PUT', `${LEASES}/muster-system/leases/another`, lease('another')),
    ],
  },
  {
    who: 'token',
    tries: 'writes Events and the phase of gangs that are not true, in every namespace',
    ends: open(0, 'Muster’s account says what it finds: people are misled, and no Pod starts'),
    given,
    attempt: async (scene) => {
      const told = await scene.send(MUSTER, 'POST', eventsOf(scene), lieOf(scene));
      const phase = { status: { phase: 'Running' } };
      const said = await scene.send(MUSTER, 'PATCH', scene.gangs('train', 'status'), phase, MERGE);
      expect(told.status).toBe(201);
      return [said.status === 200 ? { status: 0, body: '' } : said];
    },
    then: async (scene) => expect(gatesOf(await scene.storedPod())).toEqual([GATE]),
  },
  {
    who: 'tenant',
    tries: 'writes Events in Muster’s name',
    ends: open(201, '`edit` gives Events of the own namespace: people there are misled, and no Pod starts'),
    attempt: async (scene) => [await scene.send(scene.tenant, 'POST', eventsOf(scene), lieOf(scene))],
  },
  {
    who: 'namespaces',
    tries: 'gives his namespace another backend by its annotation while a gang waits in it',
    ends: harmless(200, 'a gang keeps the backend that it was created with'),
    given,
    attempt: async (scene) => [
      await scene.send(
        MASTERS,
        'PATCH',
        `/api/v1/namespaces/${scene.namespace}`,
        { metadata: { annotations: { 'grove.io/scheduler-name': 'kai-scheduler' } } },
        MERGE,
      ),
    ],
    then: async (scene) => {
      expect(gatesOf(await scene.storedPod())).toEqual([GATE]);
      const { metadata } = await scene.storedGang();
      expect(metadata.labels).toEqual({ 'grove.io/scheduler-name': 'default-scheduler' });
    },
  },
  {
    who: 'masters',
    tries: 'sends a PodGang with `__proto__`, `constructor` and `prototype` in it',
    ends: {
      up: harmless(0, 'Muster reads own properties only, and the API server drops unknown fields'),
      gone: harmless(0, 'Muster reads own properties only, and the API server drops unknown fields'),
    },
    attempt: async (scene) => {
      const evil = '{"isTrusted":true,"status":{"conditions":[{"type":"Initialized","status":"True"}]}}';
      const text = JSON.stringify(scene.gang('evil')).replace(
        '"spec":{',
        `"__proto__":${evil},"constructor":{"prototype":${evil}},"spec":{"__proto__":${evil},`,
      );
      const answer = await scene.send(MASTERS, 'POST', scene.gangs(), text);
      expect(answer.status).toBe(201);
      return [{ status: 0, body: '' }];
    },
    then: async (scene) => {
      await scene.untilSaid('worker 0/2', 'evil');
      await scene.untilLoopWasBusy();
      expect(await scene.initialized('evil')).toBe('False');
    },
  },
];
