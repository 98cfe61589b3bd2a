/** The bounds of Muster's own account, by the policies alone: what a stolen token is good for. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { GATE_POD_GANG_PENDING as GATE } from '../../src/api/names.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { untilEstablished } from './support/apply.ts';
import { volcanoPodGroups } from './support/crds/volcano.ts';
import {
  gangOf,
  MUSTER,
  podOf,
  refer,
  refused,
  untilRefused,
  withPolicies,
  type Answer,
  type Who,
} from './support/policies-alone.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GANGS = '/apis/scheduler.grove.io/v1alpha1/namespaces/a/podgangs';
const PODS = '/api/v1/namespaces/a/pods';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/muster-system/leases';
const VOLCANO = '/apis/scheduling.volcano.sh/v1beta1/namespaces/a/podgroups';
const ROOT: Who = {};

clusterSuite('Muster’s own account under the policies', () => {
  let plane: ControlPlane;
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' };

  const send = (method: string, path: string, body?: unknown, who: Who = MUSTER) =>
    plane.client.request<Answer>(method, path, body, who);
  const ok = async (method: string, path: string, body: unknown, who: Who = MUSTER): Promise<Answer> => {
    const { status, body: answer } = await send(method, path, body, who);
    expect({ method, path, status, message: answer.message }).toMatchObject({ message: undefined });
    return answer;
  };

  beforeAll(async () => {
    plane = await withPolicies(async ({ client }) => {
      await client.ok('POST', CRDS, volcanoPodGroups);
      await untilEstablished(client, [
        { ...volcanoPodGroups, kind: 'CustomResourceDefinition', apiVersion: 'apiextensions.k8s.io/v1' },
      ]);
    });
    await until('PodGangs are served', () => plane.client.ok('POST', GANGS, gangOf('train')));
    await plane.client.ok('POST', VOLCANO, {
      apiVersion: 'scheduling.volcano.sh/v1beta1',
      kind: 'PodGroup',
      metadata: { name: 'plain' },
      spec: { minMember: 1 },
    });
    await plane.client.ok('POST', PODS, podOf('probe'));
    const lease = { metadata: { name: 'another' }, spec: {} };
    await untilRefused(plane, 'muster-account-leases', ['POST', LEASES, lease, MUSTER]);
    await untilRefused(plane, 'muster-account-gang-objects', [
      'POST',
      '/api/v1/namespaces/a/configmaps',
      { metadata: { name: 'x' } },
      MUSTER,
    ]);
    await untilRefused(plane, 'muster-account-made-podgangs', ['POST', GANGS, gangOf('x'), MUSTER]);
    await untilRefused(plane, 'muster-account-deleted-pods', ['DELETE', `${PODS}/probe`, undefined, MUSTER]);
    const label = { metadata: { labels: { x: 'y' } } };
    for (const [policy, path] of [
      ['objects', `${VOLCANO}/plain`],
      ['pods', `${PODS}/probe`],
      ['podgangs', `${GANGS}/train`],
    ] as const) {
      await untilRefused(plane, `muster-account-${policy}`, ['PATCH', path, label, MUSTER]);
    }
  }, 120_000);
  afterAll(() => plane?.stop(), 30_000);

  const bounds = (text: string): string => `${text} [AccountBounds]`;
  const pod = bounds(
    'spec: Forbidden: of a Pod Muster’s account changes schedulingGates alone; change the rest as somebody else',
  ).replace('’', "'");

  test('takes its gate off a Pod and changes nothing else of it, in any namespace', async () => {
    const spec = { schedulingGates: [{ name: 'example.com/mine' }, { name: GATE }] };
    for (const namespace of ['a', 'kube-system']) {
      const pods = `/api/v1/namespaces/${namespace}/pods`;
      await plane.client.ok('POST', pods, podOf('bound', { spec }));
      for (const change of [
        { metadata: { labels: { x: 'y' } } },
        { metadata: { annotations: { x: 'y' } } },
        { metadata: { finalizers: ['example.com/hold'] } },
        { metadata: { ownerReferences: [owner] } },
        { spec: { activeDeadlineSeconds: 1 } },
        { spec: { nodeSelector: { disk: 'x' } } },
        [{ op: 'add', path: '/spec/tolerations/-', value: { operator: 'Exists' } }],
        [{ op: 'replace', path: '/spec/containers/0/image', value: 'registry.example/evil' }],
        [
          { op: 'remove', path: '/spec/schedulingGates/1' },
          { op: 'replace', path: '/spec/containers/0/image', value: 'registry.example/evil' },
        ],
      ]) {
        refused(await send('PATCH', `${pods}/bound`, change, MUSTER), 'muster-account-pods', pod);
      }
      refused(
        await send('PATCH', `${pods}/bound`, [{ op: 'remove', path: '/spec/schedulingGates/0' }], MUSTER),
        'muster-account-pods',
        bounds(
          `spec.schedulingGates: Forbidden: of the gates Muster's account takes ${GATE} away and no other; leave those to` +
            ' whose they are',
        ),
      );
      const free = await ok(
        'PATCH',
        `${pods}/bound`,
        [{ op: 'remove', path: '/spec/schedulingGates/1' }],
        MUSTER,
      );
      expect(free.spec.schedulingGates).toEqual([{ name: 'example.com/mine' }]);
    }
  });

  test('says in the status of a Pod that it has to go, and for which node it is, and nothing else', async () => {
    const path = `${PODS}/told`;
    await plane.client.ok('POST', PODS, podOf('told'));
    const ready = { type: 'Ready', status: 'False', reason: 'x' };
    await ok('PATCH', `${path}/status`, { status: { conditions: [ready] } }, ROOT);
    const target = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' };
    await ok('PATCH', `${path}/status`, { status: { conditions: [ready, target] } }, MUSTER);
    await ok('PATCH', `${path}/status`, { status: { nominatedNodeName: 'node-1' } }, MUSTER);
    const text = bounds(
      "status: Forbidden: of a Pod's status Muster's account changes the condition DisruptionTarget and nominatedNodeName" +
        ' alone; leave the rest to the scheduler and the kubelet',
    );
    for (const status of [
      { conditions: [{ ...ready, status: 'True' }, target] },
      { conditions: [target] },
      { phase: 'Failed' },
      { message: 'x' },
    ]) {
      refused(await send('PATCH', `${path}/status`, { status }, MUSTER), 'muster-account-pod-status', text);
    }
  });

  test('writes references and its own finalizers into a PodGang, and nothing else', async () => {
    const path = `${GANGS}/train`;
    const text = bounds(
      "spec: Forbidden: of a PodGang Muster's account changes podReferences, its own finalizers and the plan of a preemption" +
        ' alone; change the rest as somebody else',
    );
    const group = { name: 'workers', minReplicas: 2, podReferences: refer('x') };
    const pack = { topologyConstraint: { packConstraint: { required: 'zone' } } };
    for (const change of [
      { metadata: { labels: { 'grove.io/scheduler-name': 'volcano' } } },
      { metadata: { annotations: { x: 'y' } } },
      { metadata: { annotations: { x: 'y', 'muster.dev/preemption-plan': '{}' } } },
      { metadata: { finalizers: ['example.com/hold'] } },
      { spec: { priorityClassName: 'high' } },
      { spec: { podgroups: [{ ...group, minReplicas: 0 }] } },
      { spec: { podgroups: [{ ...group, ...pack }] } },
      { spec: { podgroups: [group, { ...group, name: 'more' }] } },
      { spec: { podgroups: [] } },
    ]) {
      refused(await send('PATCH', path, change, MUSTER), 'muster-account-podgangs', text);
    }
    await ok('PATCH', path, { spec: { podgroups: [group] } }, MUSTER);
    const plan = (text: string | null) => ({
      metadata: { annotations: { 'muster.dev/preemption-plan': text } },
    });
    for (const text of ['{}', '{"x":1}', null]) await ok('PATCH', path, plan(text), MUSTER);
    await ok('PATCH', path, { metadata: { finalizers: ['example.com/hold'] } }, ROOT);
    const both = ['example.com/hold', 'cleanup.muster.dev/volcano'];
    await ok('PATCH', path, { metadata: { finalizers: both } }, MUSTER);
    refused(
      await send('PATCH', path, { metadata: { finalizers: null } }, MUSTER),
      'muster-account-podgangs',
      text,
    );
    await ok('PATCH', path, { metadata: { finalizers: ['example.com/hold'] } }, MUSTER);
  });

  test('makes what gangs mount and find each other by, and touches nothing else of these kinds', async () => {
    const train = await plane.client.ok<Answer>('GET', `${GANGS}/train`);
    const at = (plural: string, namespace = 'a') => `/api/v1/namespaces/${namespace}/${plural}`;
    const { uid } = train.metadata;
    const controller = { apiVersion: 'scheduler.grove.io/v1alpha1', kind: 'PodGang', name: 'train', uid };
    const labels = { 'app.kubernetes.io/managed-by': 'muster' };
    const metadata = (name: string) => ({
      name,
      labels,
      ownerReferences: [{ ...controller, controller: true }],
    });
    const ofGangs = bounds(
      "metadata: Forbidden: of ConfigMaps, Secrets and Services Muster's account makes and changes those of gangs alone" +
        ' (label app.kubernetes.io/managed-by: muster, and a PodGang as controller); do it as somebody else',
    );
    const headless = { clusterIP: 'None', selector: { x: 'y' }, ports: [{ port: 1 }] };
    const parts = {
      configmaps: { data: { x: 'y' } },
      secrets: { type: 'Opaque' },
      services: { spec: headless },
    };
    for (const [plural, body] of Object.entries(parts)) {
      for (const bad of [
        { name: 'free' },
        { name: 'free', labels },
        { ...metadata('free'), labels: {} },
        { ...metadata('free'), ownerReferences: [controller] },
        { ...metadata('free'), ownerReferences: [{ ...controller, kind: 'ConfigMap', controller: true }] },
        { ...metadata('free'), ownerReferences: [{ ...controller, apiVersion: 'x/v1', controller: true }] },
      ]) {
        const answer = await send('POST', at(plural), { metadata: bad, ...body });
        refused(answer, 'muster-account-gang-objects', ofGangs);
      }
      refused(
        await send('POST', at(plural, 'kube-system'), { metadata: metadata('train'), ...body }),
        'muster-account-gang-objects',
        bounds(
          "metadata.namespace: Forbidden: Muster's account makes nothing for gangs in kube-system and muster-system; use" +
            ' another namespace',
        ),
      );
      await ok('POST', at(plural), { metadata: metadata('own'), ...body });
      // What is somebody else's does not become a gang's by being changed into it.
      await ok('POST', at(plural), { metadata: { name: 'others' }, ...body }, ROOT);
      for (const change of [{ metadata: { labels: { x: 'y' } } }, { metadata: metadata('others') }]) {
        const answer = await send('PATCH', `${at(plural)}/others`, change);
        refused(answer, 'muster-account-gang-objects', ofGangs);
      }
      refused(await send('DELETE', `${at(plural)}/others`), 'muster-account-gang-objects', ofGangs);
      const change = { metadata: { annotations: { x: 'y' } } };
      if (plural !== 'secrets') await ok('PATCH', `${at(plural)}/own`, change);
    }
    const text = (field: string, why: string): string => bounds(`${field}: Forbidden: ${why}`);
    for (const type of [
      'kubernetes.io/service-account-token',
      'bootstrap.kubernetes.io/token',
      'example.com/x',
    ]) {
      const annotations = { 'kubernetes.io/service-account.name': 'default' };
      const token = { metadata: { ...metadata('token'), annotations }, type };
      refused(
        await send('POST', at('secrets'), token),
        'muster-account-gang-objects',
        text('type', "Secrets of Muster's account are Opaque; use that type"),
      );
    }
    refused(
      await send('PATCH', `${at('secrets')}/own`, { data: { x: 'eA==' } }),
      'muster-account-gang-objects',
      text('metadata', "Muster's account changes no Secret; do it as somebody else"),
    );
    for (const spec of [
      { ports: [{ port: 1 }] },
      { ...headless, externalIPs: ['192.0.2.1'] },
      { type: 'ExternalName', externalName: 'example.com' },
      { type: 'NodePort', ports: [{ port: 1 }] },
    ]) {
      refused(
        await send('POST', at('services'), { metadata: metadata('train'), spec }),
        'muster-account-gang-objects',
        text('spec', "Services of Muster's account are headless; use clusterIP: None and no externalIPs"),
      );
    }
  });

  test('ends no Pod of the system, and deletes none that it has not told to go', async () => {
    const pods = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`;
    const target = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' };
    const told = { status: { conditions: [target] } };
    const spec = { priorityClassName: 'system-cluster-critical' };
    await ok('POST', pods('kube-system'), podOf('dns'), ROOT);
    await ok('POST', pods('a'), podOf('critical', { spec }), ROOT);
    await ok('POST', pods('a'), podOf('batch'), ROOT);
    const tell = bounds(
      "status.conditions: Forbidden: Muster's account tells no Pod of kube-system or muster-system and none of a system-" +
        ' priority to go; take another victim',
    );
    for (const path of [`${pods('kube-system')}/dns`, `${pods('a')}/critical`])
      refused(await send('PATCH', `${path}/status`, told), 'muster-account-pod-status', tell);
    const eviction = (name: string) => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } });
    refused(
      await send('POST', `${pods('kube-system')}/dns/eviction`, eviction('dns')),
      'muster-account-evictions',
      bounds(
        "metadata.namespace: Forbidden: Muster's account evicts nobody in kube-system and muster-system; take a victim" +
          ' elsewhere',
      ),
    );
    const text = bounds(
      "metadata: Forbidden: Muster's account deletes Pods that it has told to go (condition DisruptionTarget), none of" +
        ' kube-system or muster-system and none of a system- priority; take another victim',
    );
    for (const path of [`${pods('kube-system')}/dns`, `${pods('a')}/critical`, `${pods('a')}/batch`])
      refused(await send('DELETE', path), 'muster-account-deleted-pods', text);
    await ok('PATCH', `${pods('a')}/batch/status`, told);
    expect((await send('DELETE', `${pods('a')}/batch`)).status).toBe(200);
    await ok('POST', pods('a'), podOf('batch'), ROOT);
    expect((await send('POST', `${pods('a')}/batch/eviction`, eviction('batch'))).status).toBe(201);
  });

  test('makes and deletes the PodGangs of workloads alone', async () => {
    const text = bounds(
      "metadata: Forbidden: Muster's account makes and deletes PodGangs of workloads alone (annotation muster.dev/workload," +
        ' and that workload as owner); do it as somebody else',
    );
    const made = (name: string, owners: readonly string[], given: object = {}) => ({
      ...gangOf(name),
      metadata: {
        name,
        annotations: { 'muster.dev/workload': 'job/x', 'muster.dev/workload-uid': 'u1', ...given },
        ownerReferences: owners.map((uid) => ({ apiVersion: 'batch/v1', kind: 'Job', name: 'x', uid })),
      },
    });
    for (const gang of [gangOf('by-hand'), made('job-x', []), made('job-x', ['u2'])])
      refused(await send('POST', GANGS, gang), 'muster-account-made-podgangs', text);
    await ok('POST', GANGS, made('job-x', ['u1']));
    expect((await send('DELETE', `${GANGS}/job-x`)).status).toBe(200);
    await ok('POST', GANGS, gangOf('by-hand'), ROOT);
    refused(await send('DELETE', `${GANGS}/by-hand`), 'muster-account-made-podgangs', text);
  });

  test('changes and deletes no object but those that it keeps, and holds a Lease of its own name alone', async () => {
    const text = bounds(
      "metadata: Forbidden: Muster's account changes and deletes what Muster keeps for a scheduler, and nothing else;" +
        ' change it as somebody else',
    );
    const change = { spec: { minMember: 2 } };
    refused(await send('PATCH', `${VOLCANO}/plain`, change, MUSTER), 'muster-account-objects', text);
    refused(await send('DELETE', `${VOLCANO}/plain`, undefined, MUSTER), 'muster-account-objects', text);
    const lease = (name: string) => ({ metadata: { name }, spec: { holderIdentity: 'x' } });
    const one = bounds(
      "metadata.name: Forbidden: the Lease of Muster's account is muster-leader-election in muster-system, or begins with" +
        ' that name and "-"; use such a name',
    );
    refused(await send('POST', LEASES, lease('kube-scheduler'), MUSTER), 'muster-account-leases', one);
    const elsewhere = LEASES.replace('muster-system', 'kube-system');
    refused(
      await send('POST', elsewhere, lease('muster-leader-election'), MUSTER),
      'muster-account-leases',
      one,
    );
    refused(
      await send('POST', LEASES, lease('muster-leader-elections'), MUSTER),
      'muster-account-leases',
      one,
    );
    await ok('POST', LEASES, lease('muster-leader-election'), MUSTER);
    // Of an installation with a part of the namespaces.
    await ok('POST', LEASES, lease('muster-leader-election-ml'), MUSTER);
  });
});
